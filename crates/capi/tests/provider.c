/* The provider through EVP, against OpenSSL's default provider: provider FOLDER */
#include "provider.h"

/* Seals with one call of EVP_EncryptUpdate for each `piece` bytes; the tag goes behind. Returns the length, or -1. */
static int seal(EVP_CIPHER *cipher, const unsigned char *key, const unsigned char *iv, int iv_len, int tag_len,
                const unsigned char *ad, int ad_len, const unsigned char *text, int len, int piece, unsigned char *out)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n, done = 0, gcm = EVP_CIPHER_get_mode(cipher) == EVP_CIPH_GCM_MODE;
    int ok = EVP_EncryptInit_ex2(ctx, cipher, NULL, NULL, NULL) &&
             EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, iv_len, NULL) > 0 &&
             (gcm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_len, NULL) > 0) &&
             EVP_EncryptInit_ex2(ctx, NULL, key, iv, NULL);
    if (ok && ad_len)
        ok = EVP_EncryptUpdate(ctx, NULL, &n, ad, ad_len);
    for (int at = 0; ok && at < len; at += piece) {
        int more = len - at < piece ? len - at : piece;
        ok = EVP_EncryptUpdate(ctx, out + done, &n, text + at, more);
        done += n;
    }
    if (ok)
        ok = EVP_EncryptFinal_ex(ctx, out + done, &n);
    if (ok)
        ok = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, tag_len, out + done + n) > 0;
    EVP_CIPHER_CTX_free(ctx);
    return ok ? done + n + tag_len : -1;
}

static int opened(EVP_CIPHER *cipher, const unsigned char *key, const unsigned char *iv, int iv_len, int tag_len,
                  const unsigned char *ad, int ad_len, const unsigned char *message, int len, unsigned char *out)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, last = 0, gcm = EVP_CIPHER_get_mode(cipher) == EVP_CIPH_GCM_MODE;
    int ok = EVP_DecryptInit_ex2(ctx, cipher, NULL, NULL, NULL) &&
             EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, iv_len, NULL) > 0 &&
             (gcm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_len, NULL) > 0) &&
             EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_len, (void *)(message + len - tag_len)) > 0 &&
             EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL);
    if (ok && ad_len)
        ok = EVP_DecryptUpdate(ctx, NULL, &n, ad, ad_len);
    n = 0;
    if (ok && len > tag_len)
        ok = EVP_DecryptUpdate(ctx, out, &n, message, len - tag_len);
    if (ok)
        ok = EVP_DecryptFinal_ex(ctx, out + n, &last) > 0;
    EVP_CIPHER_CTX_free(ctx);
    return ok ? n + last : -1;
}

static void compare(const char *name, int iv_len, int tag_len)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    CHECK(EVP_CIPHER_get_mode(ours) == EVP_CIPHER_get_mode(theirs));
    CHECK(EVP_CIPHER_get_flags(ours) == EVP_CIPHER_get_flags(theirs));
    CHECK(EVP_CIPHER_get_key_length(ours) == EVP_CIPHER_get_key_length(theirs));
    CHECK(EVP_CIPHER_get_iv_length(ours) == EVP_CIPHER_get_iv_length(theirs));
    CHECK(EVP_CIPHER_get_block_size(ours) == EVP_CIPHER_get_block_size(theirs));
    static unsigned char key[32], iv[16], ad[40], text[40000], a[40100], b[40100], c[40100];
    for (int len = 0; len < (int)sizeof text; len = len < 70 ? len + 1 : len * 3) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (unsigned char)(i * 5 + (size_t)len);
        for (size_t i = 0; i < sizeof key; i++)
            key[i] = (unsigned char)(i + (size_t)len), iv[i % 16] = (unsigned char)(7 * i + 1);
        int ad_len = len % 41;
        int ours_len = seal(ours, key, iv, iv_len, tag_len, ad, ad_len, text, len, 1 << 20, a);
        int theirs_len = seal(theirs, key, iv, iv_len, tag_len, ad, ad_len, text, len, 1 << 20, b);
        CHECK(ours_len == theirs_len && ours_len == len + tag_len && !memcmp(a, b, (size_t)(len + tag_len)));
        /* In pieces that are no whole blocks. */
        CHECK(seal(ours, key, iv, iv_len, tag_len, ad, ad_len, text, len, len < 3000 ? 37 : 4999, c) == theirs_len &&
              !memcmp(c, b, (size_t)theirs_len));
        CHECK(opened(ours, key, iv, iv_len, tag_len, ad, ad_len, b, theirs_len, c) == len &&
              !memcmp(c, text, (size_t)len));
        b[(size_t)(len * 7) % (size_t)theirs_len] ^= 0x10;
        memset(c, 0xee, sizeof c);
        CHECK(opened(ours, key, iv, iv_len, tag_len, ad, ad_len, b, theirs_len, c) == -1);
        /* OCB gives nothing of a last block that is not whole. */
        for (int i = 0; i < (EVP_CIPHER_get_mode(ours) == EVP_CIPH_GCM_MODE ? len : len / 16 * 16); i++)
            if (c[i] != 0) {
                CHECK(c[i] == 0);
                break;
            }
    }
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* One key, many messages; a nonce serves once; a context is copied; no text leaves before its tag is known. */
static void contexts(void)
{
    EVP_CIPHER *ours = EVP_CIPHER_fetch(NULL, "AES-256-GCM", "provider=sealwright");
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new(), *copy = EVP_CIPHER_CTX_new();
    unsigned char key[32] = {1}, iv[12] = {2}, text[64] = {3}, a[80], b[80], tag[16], other[16];
    int n, m;
    CHECK(EVP_EncryptInit_ex2(ctx, ours, key, NULL, NULL));
    CHECK(EVP_EncryptUpdate(ctx, a, &n, text, 64) <= 0);
    for (int i = 0; i < 3; i++) {
        iv[11] = (unsigned char)i;
        CHECK(EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL));
        CHECK(EVP_CIPHER_CTX_copy(copy, ctx));
        CHECK(EVP_EncryptUpdate(ctx, a, &n, text, 64) && n == 64);
        CHECK(EVP_EncryptFinal_ex(ctx, a, &m) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
        CHECK(EVP_EncryptUpdate(copy, b, &n, text, 64) && n == 64 && !memcmp(a, b, 64));
        CHECK(EVP_EncryptFinal_ex(copy, b, &m) && EVP_CIPHER_CTX_ctrl(copy, EVP_CTRL_AEAD_GET_TAG, 16, other) > 0);
        CHECK(!memcmp(tag, other, 16));
        CHECK(EVP_EncryptUpdate(ctx, a, &n, text, 64) <= 0);
    }
    CHECK(EVP_DecryptInit_ex2(ctx, ours, key, iv, NULL));
    CHECK(EVP_DecryptUpdate(ctx, b, &n, a, 64) <= 0);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_CTX_free(copy);
    EVP_CIPHER_free(ours);
}

/* A text in pieces, in place: what is given out begins where its piece does. Ours seals a short first piece at once. */
static void long_pieces(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    enum { LARGE = 20 << 20 };
    static const int firsts[] = {1, 15, 16, 2032, 2047, 2048, 2049, 5000, 1 << 20}, others[] = {13, 700, 4096, 65536, 3 << 20};
    unsigned char key[32] = {1}, iv[16] = {2}, tags[2][16], *texts[2] = {malloc(LARGE), malloc(LARGE)}, *plain = malloc(LARGE);
    /* Once: byte by byte under the sanitizers it takes longer than all ciphers. */
    for (int at = 0; at < LARGE; at++)
        plain[at] = (unsigned char)(at * 7 + at / 256);
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        for (size_t j = 0; j < sizeof others / sizeof *others; j++) {
            int len = others[j] < 4096 ? 5011 : others[j] < 1 << 20 ? 400007 : LARGE;
            for (int k = 0; k < 2; k++) {
                EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
                CHECK(EVP_EncryptInit_ex2(ctx, k ? theirs : ours, key, iv, NULL));
                memcpy(texts[k], plain, (size_t)len);
                int done = 0, n = 0;
                for (int at = 0, more = firsts[i]; at < len; at += more, more = others[j]) {
                    more = len - at < more ? len - at : more;
                    CHECK(EVP_EncryptUpdate(ctx, texts[k] + done, &n, texts[k] + at, more));
                    done += n;
                }
                CHECK(EVP_EncryptFinal_ex(ctx, texts[k] + done, &n) && done + n == len);
                CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tags[k]) > 0);
                EVP_CIPHER_CTX_free(ctx);
            }
            CHECK(!memcmp(texts[0], texts[1], (size_t)len) && !memcmp(tags[0], tags[1], 16));
        }
    free(texts[0]);
    free(texts[1]);
    free(plain);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* A message of which a step failed gets no tag and no text, also from a program that goes on; the next one is as any. */
static void failures(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    int n, m;
    unsigned char key[32] = {1}, iv[12] = {2}, text[48] = {3}, a[64], b[64], tag[16], zeros[16] = {0};
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    /* Nothing comes behind the end. */
    CHECK(EVP_EncryptInit_ex2(ctx, ours, key, iv, NULL) && EVP_EncryptUpdate(ctx, a, &n, text, 47));
    CHECK(EVP_EncryptFinal_ex(ctx, b, &m) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
    CHECK(EVP_EncryptUpdate(ctx, a, &m, text, 16) <= 0 && EVP_EncryptUpdate(ctx, NULL, &m, text, 16) <= 0);
    CHECK(EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL) && EVP_EncryptUpdate(ctx, a, &n, text, 48));
    CHECK(EVP_EncryptFinal_ex(ctx, a + n, &m) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
    CHECK(EVP_EncryptFinal_ex(ctx, b, &m) <= 0);
    for (int way = 0; way < 3; way++) {
        CHECK(EVP_DecryptInit_ex2(ctx, NULL, NULL, iv, NULL));
        /* The tag of a message holds for it alone. */
        CHECK(EVP_DecryptUpdate(ctx, b, &n, a, 48) <= 0);
        CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0);
        CHECK(EVP_DecryptUpdate(ctx, b, &n, a, 48) > 0 && !memcmp(b, text, 48));
        CHECK(way != 0 || EVP_DecryptFinal_ex(ctx, b, &m) > 0);
        /* More text, or another tag: the text that was opened is not the message. More of it gives zeros, and the end fails. */
        memset(b, 0xee, sizeof b);
        CHECK(way != 1 || (EVP_DecryptUpdate(ctx, b, &m, a, 16) > 0 && m == 16 && !memcmp(b, zeros, 16)));
        CHECK(way != 1 || EVP_DecryptFinal_ex(ctx, b, &m) <= 0);
        CHECK(way != 2 || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) <= 0);
        if (way > 0)
            CHECK(EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_DecryptFinal_ex(ctx, b, &m) <= 0);
    }
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* Seals with the length of the IV beside key and IV, in one call. Returns the length, or -1. */
static int seal_at_once(EVP_CIPHER *cipher, const unsigned char *key, const unsigned char *iv, size_t iv_len, size_t key_len,
                        const unsigned char *text, int len, unsigned char *out)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &iv_len),
                           OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_KEYLEN, &key_len), OSSL_PARAM_construct_end()};
    int n, m, ok = EVP_EncryptInit_ex2(ctx, cipher, key, iv, params) && EVP_EncryptUpdate(ctx, out, &n, text, len) &&
                   EVP_EncryptFinal_ex(ctx, out + n, &m) &&
                   EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, out + len) > 0;
    EVP_CIPHER_CTX_free(ctx);
    return ok ? len + 16 : -1;
}

/* CVE-2023-5363: an IV is never cut or filled up, whenever its length comes. */
static void lengths(void)
{
    EVP_CIPHER *ours = EVP_CIPHER_fetch(NULL, "AES-256-GCM", "provider=sealwright");
    EVP_CIPHER *theirs = EVP_CIPHER_fetch(NULL, "AES-256-GCM", "provider=default");
    unsigned char key[32] = {1}, iv[16] = {2, 3, 5, 7, 11}, text[40] = {3}, a[80], b[80], c[80];
    iv[15] = 9;
    for (size_t iv_len = 1; iv_len <= 16; iv_len++) {
        CHECK(seal(ours, key, iv, (int)iv_len, 16, NULL, 0, text, 40, 40, a) == 56);
        int ours_len = seal_at_once(ours, key, iv, iv_len, 32, text, 40, b);
        /* Releases of OpenSSL before 3.0.12 hand over another length than was asked for. */
        CHECK(ours_len == 56 || (ours_len == -1 && OpenSSL_version_num() < 0x300000c0L));
        CHECK(ours_len == -1 || !memcmp(a, b, 56));
        CHECK(iv_len == 16 || seal(ours, key, iv, (int)iv_len + 1, 16, NULL, 0, text, 40, 40, c) == 56);
        CHECK(iv_len == 16 || memcmp(a, c, 40));
        if (ours_len == 56)
            CHECK(seal_at_once(theirs, key, iv, iv_len, 32, text, 40, c) == 56 && !memcmp(b, c, 56));
    }
    CHECK(seal_at_once(ours, key, iv, 12, 16, text, 40, a) == -1);
    CHECK(seal_at_once(ours, key, iv, 12, 24, text, 40, a) == -1);
    CHECK(seal_at_once(ours, key, iv, 0, 32, text, 40, a) == -1);
    CHECK(seal_at_once(ours, key, iv, 17, 32, text, 40, a) == -1);
    /* A length that comes behind the IV takes the IV back. */
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n;
    CHECK(EVP_EncryptInit_ex2(ctx, ours, key, iv, NULL));
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, 16, NULL) > 0);
    CHECK(EVP_EncryptUpdate(ctx, a, &n, text, 40) <= 0);
    CHECK(EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL) && EVP_EncryptUpdate(ctx, a, &n, text, 40) && n == 40);
    CHECK(seal(theirs, key, iv, 16, 16, NULL, 0, text, 40, 40, b) == 56 && !memcmp(a, b, 40));
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* How a message is cut, and before which step its context is copied. */
struct way {
    int tag_len, ad_cut, first, second, copy_at;
};

/* Seals `len` bytes of text or opens them, step by step; `given` gets how many bytes each step gave out. Where the context is copied, the
   copy goes on with the message, and the original another way. Returns whether every step succeeded; otherwise `given` ends with -1. */
static int stepped(EVP_CIPHER *cipher, int sealing, struct way way, const unsigned char *text, int len, unsigned char *tag,
                   unsigned char *out, int given[4])
{
    static const unsigned char key[32] = {9, 8, 7}, iv[12] = {1, 2, 3}, ad[21] = {4, 5, 6};
    const int ends[] = {0, way.first, way.second, len};
    unsigned char junk[64];
    int gcm = EVP_CIPHER_get_mode(cipher) == EVP_CIPH_GCM_MODE, done = 0, ok = 1, n;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    for (int step = 0; ok && step < 9; step++) {
        if (step == way.copy_at) {
            EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new();
            ok = EVP_CIPHER_CTX_copy(copy, ctx);
            EVP_CipherUpdate(ctx, junk, &n, (const unsigned char *)"another text, of 31 bytes in all", 31);
            EVP_CipherFinal_ex(ctx, junk, &n);
            EVP_CIPHER_CTX_free(ctx);
            ctx = copy;
        }
        switch (step) {
        case 0:
            ok = EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, sealing, NULL) &&
                 (gcm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, way.tag_len, NULL) > 0);
            break;
        case 1:
            ok = EVP_CipherInit_ex2(ctx, NULL, key, iv, sealing, NULL) &&
                 (sealing || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, way.tag_len, tag) > 0);
            break;
        case 2:
            ok = EVP_CipherUpdate(ctx, NULL, &n, ad, way.ad_cut);
            break;
        case 3:
            ok = EVP_CipherUpdate(ctx, NULL, &n, ad + way.ad_cut, 21 - way.ad_cut);
            break;
        case 7:
            ok = EVP_CipherFinal_ex(ctx, out + done, &n) > 0;
            given[3] = ok ? n : -1;
            break;
        case 8:
            ok = !sealing || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, way.tag_len, tag) > 0;
            break;
        default:
            ok = EVP_CipherUpdate(ctx, out + done, &n, text + ends[step - 4], ends[step - 3] - ends[step - 4]);
            given[step - 4] = n;
            done += ok ? n : 0;
        }
    }
    EVP_CIPHER_CTX_free(ctx);
    return ok;
}

/* OpenSSL #2273, CVE-2025-69418: a text in pieces of any lengths is the same as in one, and each step gives out as much as OpenSSL's. */
static void pieces(const char *name, int tag_len)
{
    static const int lengths[] = {0, 1, 15, 16, 17, 31, 32, 33, 40, 48, 63, 70};
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    unsigned char text[70], whole[70], out[70], other[70], tag[16], got[16];
    int given[4], wanted[4];
    for (int i = 0; i < 70; i++)
        text[i] = (unsigned char)(11 * i + 5);
    for (size_t at = 0; at < sizeof lengths / sizeof *lengths; at++) {
        int len = lengths[at];
        CHECK(stepped(theirs, 1, (struct way){tag_len, 21, len, len, -1}, text, len, tag, whole, given));
        for (int first = 0; first <= len; first++)
            for (int second = first; second <= len; second++) {
                struct way way = {tag_len, (first + second) % 22, first, second, -1};
                CHECK(stepped(theirs, 1, way, text, len, got, other, wanted));
                memset(got, 0, sizeof got);
                CHECK(stepped(ours, 1, way, text, len, got, out, given));
                CHECK(!memcmp(out, whole, (size_t)len) && !memcmp(got, tag, (size_t)tag_len));
                CHECK(!memcmp(given, wanted, sizeof given));
                /* To open, the text comes whole: then as much is given out as by OpenSSL. Nothing is given out before the tag holds. */
                int one = (first == 0 || first == len) && (second == 0 || second == len);
                memset(out, 0, sizeof out);
                CHECK(stepped(theirs, 0, way, whole, len, tag, other, wanted) && !memcmp(other, text, (size_t)len));
                CHECK(stepped(ours, 0, way, whole, len, tag, out, given) == one);
                CHECK(one ? !memcmp(given, wanted, sizeof given) && !memcmp(out, text, (size_t)len) : 1);
                /* A failure behind the first piece would be taken for the end of the text: only the last step may fail. */
                CHECK(one || (given[3] == -1 && !memcmp(given, wanted, 3 * sizeof *given)));
                for (int i = 0; !one && i < len; i++)
                    if (out[i])
                        CHECK(!"text before its tag");
            }
    }
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* A context is copied before each step, and the message goes on in the copy. */
static void copies(const char *name, int tag_len)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    unsigned char text[57], whole[57], out[57], tag[16], got[16];
    int given[4];
    for (int i = 0; i < 57; i++)
        text[i] = (unsigned char)(13 * i + 1);
    CHECK(stepped(theirs, 1, (struct way){tag_len, 5, 57, 57, -1}, text, 57, tag, whole, given));
    for (int copy_at = 1; copy_at < 9; copy_at++) {
        memset(got, 0, sizeof got);
        CHECK(stepped(ours, 1, (struct way){tag_len, 5, 20, 37, copy_at}, text, 57, got, out, given));
        CHECK(!memcmp(out, whole, 57) && !memcmp(got, tag, (size_t)tag_len));
        memset(out, 0, sizeof out);
        CHECK(stepped(ours, 0, (struct way){tag_len, 5, 57, 57, copy_at}, whole, 57, tag, out, given));
        CHECK(!memcmp(out, text, 57));
        tag[copy_at % tag_len] ^= 2;
        memset(out, 0, sizeof out);
        CHECK(!stepped(ours, 0, (struct way){tag_len, 5, 57, 57, copy_at}, whole, 57, tag, out, given));
        CHECK(memcmp(out, text, 16));
        tag[copy_at % tag_len] ^= 2;
    }
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!load(argv[1]))
        return 1;
    for (int i = 0; i < 3; i++) {
        compare(SUITES[i], 12, 16);
        compare(SUITES[i], 16, 16);
        compare(SUITES[i], 12, 12);
        compare(SUITES[3 + i], 12, 16);
        compare(SUITES[3 + i], 15, 12);
        compare(SUITES[3 + i], 1, 8);
        for (int tag_len = 12; tag_len <= 16; tag_len++)
            copies(SUITES[i], tag_len);
        pieces(SUITES[i], 16);
        pieces(SUITES[i], 13);
        for (int tag_len = 8; tag_len <= 16; tag_len += 4) {
            copies(SUITES[3 + i], tag_len);
            pieces(SUITES[3 + i], tag_len);
        }
    }
    contexts();
    for (size_t i = 0; i < sizeof SUITES / sizeof *SUITES; i++)
        long_pieces(SUITES[i]);
    failures("AES-256-GCM");
    failures("AES-128-OCB");
    lengths();
    return verdict(1000);
}
