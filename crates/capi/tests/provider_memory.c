/* What is left in memory of texts and keys once their contexts are freed: nothing may be. And where there is not enough memory, a step fails,
 * and the program goes on. argv: the folder of the provider. */
#include "provider.h"
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

/* What is searched for is kept xored with this, so that it is not found here. */
enum { MASK = 0x5a, TEXT = 2100, PART = 8, KEYS = 64, IV = 12, KEY = 32 };

static unsigned char texts[TEXT], keys[KEYS][16], ivs[IV], raw_key[KEY];
static int key_count, found_ivs;

static void look_for(const unsigned char *block)
{
    for (int i = 0; i < 16; i++)
        keys[key_count][i] = block[i] ^ MASK;
    key_count++;
}

/* Times x in GF(2^128), the first bit highest: L_*, L_$, L_0 and so on of OCB. */
static void doubled(unsigned char *block)
{
    int carry = block[0] >> 7;
    for (int i = 0; i < 15; i++)
        block[i] = (unsigned char)(block[i] << 1 | block[i + 1] >> 7);
    block[15] = (unsigned char)(block[15] << 1 ^ (carry ? 0x87 : 0));
}

/* A block, backwards too. Of H this is also how the library keeps it, but for a shift. */
static void both_ways(const unsigned char *block)
{
    unsigned char back[16];
    for (int i = 0; i < 16; i++)
        back[i] = block[15 - i];
    look_for(block);
    look_for(back);
    OPENSSL_cleanse(back, sizeof back);
}

/* The raw key; who takes it cleanses it. */
static void unmask(unsigned char *key)
{
    for (int i = 0; i < KEY; i++)
        key[i] = raw_key[i] ^ MASK;
}

/* The key, of which round keys hold parts too; E_K(0), which is H of GCM and L_* of OCB, and what OCB makes of it. */
static void secrets_of(int key_len)
{
    EVP_CIPHER *ecb = EVP_CIPHER_fetch(NULL, key_len == 16 ? "AES-128-ECB" : key_len == 24 ? "AES-192-ECB" : "AES-256-ECB",
                                       "provider=default");
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    unsigned char zero[16] = {0}, block[16], key[KEY];
    int n;
    key_count = 0;
    unmask(key);
    for (int at = 0; at + 16 <= key_len; at += 8)
        look_for(key + at);
    CHECK(EVP_EncryptInit_ex2(ctx, ecb, key, NULL, NULL) && EVP_EncryptUpdate(ctx, block, &n, zero, 16));
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(ecb);
    for (int i = 0; i < 10; i++, doubled(block))
        both_ways(block);
    OPENSSL_cleanse(block, sizeof block);
    OPENSSL_cleanse(key, sizeof key);
}

/* Clears what this program itself left on the stack, before anything of ours is used. It is linked with `-z now`: what resolves a
 * function at its first call saves all registers there. */
__attribute__((noinline)) static void clear_stack(void)
{
    volatile unsigned char stack[1 << 16];
    for (size_t i = 0; i < sizeof stack; i++)
        stack[i] = 0;
}

static int is(const unsigned char *here, const unsigned char *masked, int len)
{
    int i = 0;
    while (i < len && (here[i] ^ MASK) == masked[i])
        i++;
    return i == len;
}

/* How often a secret is in memory that can be written: keys, parts of texts that begin at a multiple of 8, and, in `found_ivs`, nonces but
 * for their first byte, which differs. TLS 1.3 makes them of one that is secret. A part of a text is shorter than a block, of which OCB
 * holds back what is not whole. */
static void search(int *found_keys, int *found_texts)
{
    static unsigned char chunk[4096 + 15];
    static unsigned char starts[256];
    char line[512], flags[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    int memory = open("/proc/self/mem", O_RDONLY);
    *found_keys = *found_texts = found_ivs = 0;
    memset(starts, 0, sizeof starts);
    starts[ivs[1] ^ MASK] |= 4;
    for (int i = 0; i < key_count; i++)
        starts[keys[i][0] ^ MASK] |= 1;
    for (int at = 0; at + PART <= TEXT; at += 8)
        starts[texts[at] ^ MASK] |= 2;
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s", &from, &to, flags) != 3 || flags[0] != 'r' || flags[1] != 'w')
            continue;
        for (; from < to; from += 4096) {
            uintptr_t own = (uintptr_t)chunk;
            if (own < from + sizeof chunk && own + sizeof chunk > from)
                continue;
            unsigned long len = to - from < sizeof chunk ? to - from : sizeof chunk;
            ssize_t got = pread(memory, chunk, len, (off_t)from);
            for (ssize_t i = 0; i + 16 <= got; i++) {
                if (starts[chunk[i]] & 1)
                    for (int k = 0; k < key_count; k++)
                        *found_keys += is(chunk + i, keys[k], 16);
                if (starts[chunk[i]] & 4)
                    found_ivs += is(chunk + i, ivs + 1, IV - 1);
                if (starts[chunk[i]] & 2)
                    for (int at = 0; at + PART <= TEXT; at += 8)
                        *found_texts += is(chunk + i, texts + at, PART);
            }
        }
    }
    fclose(maps);
    close(memory);
}

/* The front of the text. The caller encrypts or cleanses it. */
static void clear_text(unsigned char *out, int len)
{
    for (int at = 0; at < len; at++)
        out[at] = texts[at] ^ MASK;
}

/* Begins to open a message in place, in one piece; `forged` is what is wrong with its tag. */
static int begin_opening(EVP_CIPHER_CTX *opening, const unsigned char *iv, unsigned char *tag, int forged, unsigned char *out, int len)
{
    int n;
    tag[3] ^= (unsigned char)forged;
    CHECK(EVP_DecryptInit_ex2(opening, NULL, NULL, iv, NULL));
    CHECK(EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0 && EVP_DecryptUpdate(opening, out, &n, out, len) > 0);
    tag[3] ^= (unsigned char)forged;
    return n;
}

/* Messages that grow are opened, each first with a forged tag. OCB holds back their ends, and so it does of the last ones, which have no
 * end: one is opened, one sealed. */
static void open_messages(EVP_CIPHER_CTX *sealing, EVP_CIPHER_CTX *opening, unsigned char *iv, unsigned char *out)
{
    static const int lengths[] = {90, 300, 911, 1999, 2048, TEXT - 5};
    unsigned char tag[16], sealed[TEXT];
    int len = 0, n, m;
    for (int way = 0; way < 6; way++) {
        len = lengths[way];
        iv[0]++;
        clear_text(out, len);
        CHECK(EVP_EncryptInit_ex2(sealing, NULL, NULL, iv, NULL) && EVP_EncryptUpdate(sealing, out, &n, out, len) > 0);
        CHECK(EVP_EncryptFinal_ex(sealing, out + n, &m) > 0 && n + m == len);
        CHECK(EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
        memcpy(sealed, out, (size_t)len);
        for (int forged = 1; forged >= 0; forged--) {
            memcpy(out, sealed, (size_t)len);
            n = begin_opening(opening, iv, tag, forged, out, len);
            CHECK((EVP_DecryptFinal_ex(opening, out + n, &m) > 0) == !forged);
            CHECK(is(out, texts, n) == !forged && (forged || (n + m == len && is(out, texts, len))));
            OPENSSL_cleanse(out, (size_t)len);
        }
    }
    memcpy(out, sealed, (size_t)len);
    CHECK(is(out, texts, begin_opening(opening, iv, tag, 0, out, len)));
    OPENSSL_cleanse(out, (size_t)len);
    iv[0]++;
    clear_text(out, len);
    CHECK(EVP_EncryptInit_ex2(sealing, NULL, NULL, iv, NULL) && EVP_EncryptUpdate(sealing, out, &n, out, len) > 0);
    OPENSSL_cleanse(out, (size_t)len);
}

/* Two contexts, in turn: whole messages that grow, and one in pieces that is copied on its way. Then what others open. */
static void use(const EVP_CIPHER *cipher)
{
    static const int lengths[] = {100, 300, 900, 2000, TEXT};
    unsigned char iv[IV], key[KEY], *out = malloc(TEXT + 32);
    EVP_CIPHER_CTX *contexts[3], *opening = EVP_CIPHER_CTX_new();
    int n;
    for (int i = 0; i < IV; i++)
        iv[i] = ivs[i] ^ MASK;
    unmask(key);
    for (int i = 0; i < 3; i++)
        CHECK((contexts[i] = EVP_CIPHER_CTX_new()) && EVP_EncryptInit_ex2(contexts[i], cipher, key, NULL, NULL));
    CHECK(EVP_DecryptInit_ex2(opening, cipher, key, NULL, NULL));
    OPENSSL_cleanse(key, sizeof key);
    for (int way = 0; way < 5; way++)
        for (int i = 0; i < 2; i++) {
            iv[0]++;
            CHECK(EVP_EncryptInit_ex2(contexts[i], NULL, NULL, iv, NULL));
            clear_text(out, lengths[way]);
            /* The last copy is of whole blocks, which it keeps as they came, as more may follow. */
            int first = way < 4 ? lengths[way] : i == 0 ? 333 : 336;
            CHECK(EVP_EncryptUpdate(contexts[i], out, &n, out, first));
            if (way == 4) {
                CHECK(EVP_CIPHER_CTX_copy(contexts[2], contexts[i]));
                CHECK(EVP_EncryptUpdate(contexts[i], out + n, &n, out + first, TEXT - first));
            }
            CHECK(EVP_EncryptFinal_ex(contexts[i], out, &n));
        }
    int in_use, in_texts;
    search(&in_use, &in_texts);
    /* Bit slices have round keys only, and a search that finds nothing where there is something proves nothing. */
    CHECK(in_use > 0 && in_texts >= 336 / 8 && found_ivs > 0);
    open_messages(contexts[0], opening, iv, out);
    EVP_CIPHER_CTX_free(opening);
    for (int i = 0; i < 3; i++)
        EVP_CIPHER_CTX_free(contexts[i]);
    OPENSSL_cleanse(out, TEXT + 32);
    OPENSSL_cleanse(iv, sizeof iv);
    free(out);
}

/* Megabytes that the program may have beyond what it has, from now on. */
static void leave(unsigned megabytes)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1 && !fclose(file));
    struct rlimit limit;
    CHECK(!getrlimit(RLIMIT_AS, &limit));
    limit.rlim_cur = megabytes ? pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)megabytes << 20) : limit.rlim_max;
    CHECK(!setrlimit(RLIMIT_AS, &limit));
}

static int lacked_memory(void)
{
    const char *text = ERR_reason_error_string(ERR_get_error());
    ERR_clear_error();
    return text && strstr(text, "memory");
}

enum { MIB = 1 << 20 };

/* Associated data that come a MiB at a time; returns how many of them were taken, at most `most`. */
static int associated(EVP_CIPHER_CTX *ctx, const unsigned char *mib, int most)
{
    int taken = 0, n;
    while (taken < most && EVP_CipherUpdate(ctx, NULL, &n, mib, MIB) > 0)
        taken++;
    return taken;
}

static void short_of_memory(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    enum { LARGE = 100 * MIB + 5 };
    int gcm = EVP_CIPHER_get_mode(ours) == EVP_CIPH_GCM_MODE, tag_len = gcm ? 13 : 16, n, m;
    unsigned char key[32] = {7}, iv[12] = {8}, tag[16], again[16], out[32], *text = malloc(LARGE), *sealed = malloc(LARGE);
    memset(text, 'm', LARGE);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new(), *copy = EVP_CIPHER_CTX_new();
    CHECK(EVP_EncryptInit_ex2(ctx, ours, key, iv, NULL) && EVP_EncryptUpdate(ctx, sealed, &n, text, LARGE) > 0);
    CHECK(EVP_EncryptFinal_ex(ctx, sealed + n, &m) > 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, tag_len, tag) > 0);
    leave(64);
    ERR_clear_error();
    for (int turn = 0; turn < 3; turn++) {
        /* What a message took is free for the next. */
        CHECK(EVP_EncryptInit_ex2(ctx, ours, key, iv, NULL) && associated(ctx, text, 20) == 20);
        /* A copy shares them, until it goes another way; without memory for that it fails alone. */
        CHECK(EVP_CIPHER_CTX_copy(copy, ctx) > 0 && associated(copy, text, 100) < 50 && lacked_memory());
        CHECK(EVP_EncryptFinal_ex(copy, out, &n) <= 0);
        ERR_clear_error();
        CHECK(associated(ctx, text, 100) < 70 && lacked_memory());
        CHECK(EVP_EncryptUpdate(ctx, out, &n, text, 16) <= 0);
        CHECK(EVP_EncryptFinal_ex(ctx, out, &n) <= 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, again) <= 0);
        CHECK(EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL) && EVP_EncryptUpdate(ctx, out, &n, text, 16) > 0);
        ERR_clear_error();
    }
    /* OCB opens a copy of a text whose last block is not whole. */
    CHECK(EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_len, tag) > 0);
    memset(text, 0xee, LARGE);
    CHECK((EVP_DecryptUpdate(ctx, text, &n, sealed, LARGE) > 0) == gcm && (gcm || (lacked_memory() && text[77] == 0)));
    CHECK((EVP_DecryptFinal_ex(ctx, text + n, &m) > 0) == gcm && text[LARGE - 6] == (gcm ? 'm' : 0));
    leave(0);
    EVP_CIPHER_CTX_free(copy);
    EVP_CIPHER_CTX_free(ctx);
    free(text);
    free(sealed);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* GMAC takes its cipher from us if it is told to; all of its text is associated data. Returns the steps that succeeded, and their tag. */
static int gmac(const char *properties, const unsigned char *mib, int steps, unsigned char *tag)
{
    unsigned char key[32] = {9}, iv[12] = {10};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "GMAC", "provider=default");
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("cipher", (char *)"AES-256-GCM", 0),
                           OSSL_PARAM_construct_utf8_string("properties", (char *)(uintptr_t)properties, 0),
                           OSSL_PARAM_construct_octet_string("iv", iv, sizeof iv), OSSL_PARAM_construct_end()};
    size_t len = 0;
    int step = 0;
    CHECK(EVP_MAC_init(ctx, key, sizeof key, params));
    while (step < steps && EVP_MAC_update(ctx, mib, MIB - (size_t)step))
        step++;
    CHECK((EVP_MAC_final(ctx, tag, &len, 16) && len == 16) == (step == steps));
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    return step;
}

static void gmacs(void)
{
    unsigned char tags[2][16], *mib = calloc(1, MIB);
    CHECK(gmac("provider=sealwright", mib, 5, tags[0]) == 5 && gmac("provider=default", mib, 5, tags[1]) == 5);
    CHECK(!memcmp(tags[0], tags[1], 16));
    leave(64);
    ERR_clear_error();
    CHECK(gmac("provider=sealwright", mib, 100, tags[0]) < 70 && lacked_memory());
    CHECK(gmac("provider=default", mib, 100, tags[1]) == 100);
    leave(0);
    free(mib);
}

int main(int argc, char **argv)
{
    if (argc != 2 || !load(argv[1]))
        return 2;
    for (uint64_t i = 0, state = 7; i < TEXT; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        texts[i] = (unsigned char)(state >> 56);
        ivs[i % IV] = (unsigned char)(state >> 48);
    }
    for (size_t suite = 0; suite < sizeof SUITES / sizeof *SUITES; suite++) {
        EVP_CIPHER *ours, *theirs;
        int left_keys, left_texts;
        for (int i = 0; i < KEY; i++)
            raw_key[i] = (unsigned char)(i * 77 + 13 + (int)suite) ^ MASK;
        if (!fetch(SUITES[suite], &ours, &theirs))
            continue;
        secrets_of(EVP_CIPHER_get_key_length(ours));
        clear_stack();
        search(&left_keys, &left_texts);
        CHECK(left_keys == 0 && left_texts == 0 && found_ivs == 0);
        use(ours);
        search(&left_keys, &left_texts);
        if (left_keys || left_texts || found_ivs)
            printf("%s: %d keys, %d parts of texts and %d nonces are left\n", SUITES[suite], left_keys, left_texts, found_ivs);
        CHECK(left_keys == 0 && left_texts == 0 && found_ivs == 0);
        EVP_CIPHER_free(ours);
        EVP_CIPHER_free(theirs);
    }
    for (size_t suite = 0; suite < sizeof SUITES / sizeof *SUITES; suite++)
        short_of_memory(SUITES[suite]);
    gmacs();
    return verdict(100);
}
