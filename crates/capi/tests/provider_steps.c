/* Steps of EVP in any order, on a context of ours and on one of OpenSSL's default provider, and values in every shape: provider_steps FOLDER */
#include "provider.h"

static unsigned number_state;

/* A number below `bound`, the same in every run. */
static int number(int bound)
{
    number_state = number_state * 1103515245u + 12345u;
    return (int)((number_state >> 16) % (unsigned)bound);
}

enum step { KEY_AND_IV, KEY, IV, NOTHING, IV_LEN, TAG_LEN, WRONG_TAG, AD, TEXT, FINAL, TAG, COPY, STEPS };

/* What a walk has reached: what is known of the message, and what both contexts gave out. */
struct walk {
    EVP_CIPHER *cipher[2];
    EVP_CIPHER_CTX *ctx[2];
    unsigned char key[32], iv[16], ad[512], out[2][1024], tag[2][16];
    int gcm, sealing, iv_len, tag_len, ad_len, done;
};

/* Seals `text` as the message that is on its way should be, with OpenSSL, so that there is something genuine to open. */
static int reference(const struct walk *walk, const unsigned char *text, int len, unsigned char *out, unsigned char *tag)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, m = 0;
    int ok = EVP_EncryptInit_ex2(ctx, walk->cipher[1], NULL, NULL, NULL) &&
             EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, walk->iv_len, NULL) > 0 &&
             (walk->gcm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, walk->tag_len, NULL) > 0) &&
             EVP_EncryptInit_ex2(ctx, NULL, walk->key, walk->iv, NULL) &&
             EVP_EncryptUpdate(ctx, NULL, &n, walk->ad, walk->ad_len) && EVP_EncryptUpdate(ctx, out, &n, text, len) &&
             EVP_EncryptFinal_ex(ctx, out + n, &m) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, walk->tag_len, tag) > 0;
    EVP_CIPHER_CTX_free(ctx);
    return ok;
}

static int opened_messages, sealed_messages;

/* One step on both. Returns whether both can go on: ours may refuse what OpenSSL takes, but never do another thing. */
static int go(struct walk *walk, enum step step)
{
    unsigned char bytes[64], cipher[80], tag[16] = {0};
    int len = number(40) + 1, ok[2], n[2] = {0, 0}, turn = number(8) == 0, genuine = 0;
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)number(256);
    /* OpenSSL's OCB makes a key for one direction, and then uses it in the other. */
    if (turn && (step <= KEY || (step <= NOTHING && walk->gcm)))
        walk->sealing ^= 1;
    if (step == IV_LEN)
        len = (int[]){1, 8, 12, 15, 16, 0}[number(6)];
    if (step == TAG_LEN)
        len = (int[]){8, 12, 16}[number(3)];
    if (step == TEXT && !walk->sealing && (genuine = reference(walk, bytes, len, cipher, tag)))
        memcpy(bytes, cipher, (size_t)len);
    for (int who = 0; who < 2; who++) {
        EVP_CIPHER_CTX *ctx = walk->ctx[who], *copy;
        unsigned char *out = walk->out[who] + walk->done;
        switch (step) {
        case KEY_AND_IV:
        case KEY:
        case IV:
        case NOTHING:
            ok[who] = EVP_CipherInit_ex2(ctx, NULL, step == KEY_AND_IV || step == KEY ? bytes : NULL,
                                         step == KEY_AND_IV || step == IV ? bytes + 32 : NULL, walk->sealing, NULL);
            break;
        case IV_LEN:
            ok[who] = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, len, NULL);
            break;
        case TAG_LEN:
            ok[who] = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, len, NULL);
            break;
        case WRONG_TAG:
            ok[who] = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, walk->tag_len, bytes);
            break;
        case AD:
            ok[who] = EVP_CipherUpdate(ctx, NULL, &n[who], bytes, len);
            break;
        case TEXT:
            ok[who] = (!genuine || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, walk->tag_len, tag) > 0) &&
                      EVP_CipherUpdate(ctx, out, &n[who], bytes, len);
            break;
        case FINAL:
            ok[who] = EVP_CipherFinal_ex(ctx, out, &n[who]);
            break;
        case TAG:
            ok[who] = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, walk->tag_len, walk->tag[who]);
            break;
        default:
            copy = EVP_CIPHER_CTX_new();
            ok[who] = EVP_CIPHER_CTX_copy(copy, ctx);
            EVP_CIPHER_CTX_free(ctx);
            walk->ctx[who] = copy;
        }
        ok[who] = ok[who] > 0;
    }
    if (ok[0] != ok[1]) {
        if (ok[0])
            printf("%s: we take step %d, OpenSSL does not\n", EVP_CIPHER_get0_name(walk->cipher[0]), step), wrong++;
        return 0;
    }
    right++;
    if (!ok[0])
        /* OpenSSL's GCM loses the tag that it made when it refuses another. */
        return step != TEXT && step != FINAL && step != WRONG_TAG;
    if (step <= NOTHING) {
        walk->ad_len = walk->done = 0;
        if (step == KEY_AND_IV || step == KEY)
            memcpy(walk->key, bytes, 32);
        if (step == KEY_AND_IV || step == IV)
            memcpy(walk->iv, bytes + 32, 16);
    }
    if (step == IV_LEN)
        walk->iv_len = len;
    if (step == TAG_LEN)
        walk->tag_len = len;
    if (step == AD) {
        memcpy(walk->ad + walk->ad_len, bytes, (size_t)len);
        walk->ad_len += len;
    }
    CHECK(n[0] == n[1] || step == AD);
    walk->done += step == TEXT || step == FINAL ? n[1] : 0;
    if (walk->sealing || step == FINAL)
        CHECK(!memcmp(walk->out[0], walk->out[1], (size_t)walk->done));
    if (step == TAG) {
        CHECK(!memcmp(walk->tag[0], walk->tag[1], (size_t)walk->tag_len));
        sealed_messages++;
    }
    opened_messages += step == FINAL && !walk->sealing && walk->done > 0;
    return 1;
}

/* The IV that both tell: ours none where none is set, or where it was taken back, also where OpenSSL's OCB tells of zeros. */
static void same_iv(const struct walk *walk)
{
    unsigned char told[2][16] = {{0}};
    int ok[2];
    for (int who = 0; who < 2; who++)
        ok[who] = EVP_CIPHER_CTX_get_original_iv(walk->ctx[who], told[who], 16) > 0;
    CHECK(!ok[0] || (ok[1] && !memcmp(told[0], told[1], 16)));
}

static void walks(const char *name, int count)
{
    /* Steps as often as messages need them. */
    static const enum step often[] = {KEY_AND_IV, KEY_AND_IV, KEY_AND_IV, IV,   IV, AD,    AD,    AD,  TEXT, TEXT,  TEXT,  TEXT,
                                      FINAL,      FINAL,      FINAL,      TAG,  TAG, COPY, TAG_LEN, KEY, IV,   IV_LEN, NOTHING, WRONG_TAG};
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    for (int at = 0; at < count; at++) {
        struct walk walk = {{ours, theirs}, {NULL, NULL}, {0}, {0}, {0}, {{0}}, {{0}}, 0, number(2), 12, 16, 0, 0};
        walk.gcm = EVP_CIPHER_get_mode(ours) == EVP_CIPH_GCM_MODE;
        for (int who = 0; who < 2; who++) {
            walk.ctx[who] = EVP_CIPHER_CTX_new();
            CHECK(EVP_CipherInit_ex2(walk.ctx[who], walk.cipher[who], NULL, NULL, walk.sealing, NULL));
        }
        int on = number(4) == 0 || go(&walk, KEY_AND_IV);
        for (int step = 0; on && step < 12; step++) {
            same_iv(&walk);
            on = go(&walk, often[number((int)(sizeof often / sizeof *often))]);
        }
        EVP_CIPHER_CTX_free(walk.ctx[0]);
        EVP_CIPHER_CTX_free(walk.ctx[1]);
    }
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* One value asked of a context; returns whether it was told, and how long it is. */
static int ask(EVP_CIPHER_CTX *ctx, const char *key, unsigned type, void *data, size_t size, size_t *told)
{
    OSSL_PARAM params[] = {{key, type, data, size, OSSL_PARAM_UNMODIFIED}, OSSL_PARAM_construct_end()};
    int ok = EVP_CIPHER_CTX_get_params(ctx, params);
    *told = params[0].return_size;
    return ok;
}

static int tell(EVP_CIPHER_CTX *ctx, const char *key, unsigned type, void *data, size_t size)
{
    OSSL_PARAM params[] = {{key, type, data, size, 0}, OSSL_PARAM_construct_end()};
    return EVP_CIPHER_CTX_set_params(ctx, params);
}

/* Values without a place to put them ask for a length; places that are too small, and values of another type, are refused. */
static void values(const char *name)
{
    static const char *const numbers[] = {"keylen", "ivlen", "taglen", "tlsaadpad"};
    static const unsigned types[] = {OSSL_PARAM_INTEGER, OSSL_PARAM_UNSIGNED_INTEGER};
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    unsigned char key[32] = {1}, iv[12] = {2, 3, 4}, text[20] = {5}, out[64], *tight;
    const unsigned char *pointer = NULL;
    size_t told, size;
    int n, gcm = EVP_CIPHER_get_mode(ours) == EVP_CIPH_GCM_MODE;
    CHECK(EVP_EncryptInit_ex2(ctx, ours, key, iv, NULL));
    const int wanted[] = {EVP_CIPHER_get_key_length(ours), 12, 16, 16};
    for (int i = 0; i < 4; i++) {
        for (int type = 0; type < 2; type++) {
            long long wide = -1;
            int narrow = -1;
            CHECK(ask(ctx, numbers[i], types[type], NULL, 0, &told) && told == sizeof(size_t));
            CHECK(ask(ctx, numbers[i], types[type], NULL, sizeof(size_t), &told) && told == sizeof(size_t));
            CHECK(ask(ctx, numbers[i], types[type], &wide, 8, &told) && told == 8 && wide == wanted[i]);
            CHECK(ask(ctx, numbers[i], types[type], &narrow, 4, &told) && told == 4 && narrow == wanted[i]);
        }
        for (size = 0; size < 4; size++) {
            tight = malloc(size);
            CHECK(!tight || ask(ctx, numbers[i], OSSL_PARAM_UNSIGNED_INTEGER, tight, size, &told) == (size > 0));
            free(tight);
        }
        double real = 0.5;
        CHECK(!ask(ctx, numbers[i], OSSL_PARAM_REAL, &real, sizeof real, &told) && real == 0.5);
        CHECK(!ask(ctx, numbers[i], OSSL_PARAM_OCTET_STRING, out, sizeof out, &told));
    }
    for (size = 0; size <= 16; size++) {
        tight = malloc(size ? size : 1);
        CHECK(ask(ctx, "iv", OSSL_PARAM_OCTET_STRING, tight, size, &told) == (size >= 12));
        CHECK(size < 12 || (told == 12 && !memcmp(tight, iv, 12)));
        CHECK(ask(ctx, "tag", OSSL_PARAM_OCTET_STRING, tight, size, &told) <= 0);
        free(tight);
    }
    CHECK(ask(ctx, "iv", OSSL_PARAM_OCTET_STRING, NULL, 0, &told) && told == 12);
    CHECK(ask(ctx, "iv", OSSL_PARAM_OCTET_STRING, NULL, 64, &told) && told == 12);
    /* EVP_CIPHER_CTX_iv asks where it is; 16 bytes there are the length of the array, not room. */
    CHECK(ask(ctx, "iv", OSSL_PARAM_OCTET_PTR, &pointer, 16, &told) && told == 12 && pointer && !memcmp(pointer, iv, 12));
    CHECK(ask(ctx, "updated-iv", OSSL_PARAM_OCTET_PTR, NULL, 0, &told) && told == 12);
    CHECK(!ask(ctx, "iv", OSSL_PARAM_UTF8_STRING, out, sizeof out, &told));
    CHECK(EVP_EncryptUpdate(ctx, out, &n, text, 20) && EVP_EncryptFinal_ex(ctx, out + n, &n));
    CHECK(ask(ctx, "tag", OSSL_PARAM_OCTET_STRING, NULL, 0, &told) && told == 16);
    for (size = 0; size <= 20; size++) {
        tight = malloc(size ? size : 1);
        /* The front of a tag is a tag under GCM only, and not if it is so short that it opens nothing. */
        CHECK(ask(ctx, "tag", OSSL_PARAM_OCTET_STRING, tight, size, &told) == (gcm ? size >= 12 && size <= 16 : size == 16));
        free(tight);
    }
    CHECK(EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL));
    CHECK(!tell(ctx, "ivlen", OSSL_PARAM_UNSIGNED_INTEGER, NULL, 8) && !tell(ctx, "ivlen", OSSL_PARAM_OCTET_STRING, out, 8));
    CHECK(!tell(ctx, "keylen", OSSL_PARAM_UNSIGNED_INTEGER, NULL, 0) && !tell(ctx, "tag", OSSL_PARAM_UTF8_STRING, out, 16));
    CHECK(!tell(ctx, "tag", OSSL_PARAM_OCTET_STRING, out, (size_t)-1) && !tell(ctx, "tag", OSSL_PARAM_OCTET_STRING, NULL, (size_t)-1));
    CHECK(!tell(ctx, "tlsaad", OSSL_PARAM_OCTET_STRING, NULL, 13) && !tell(ctx, "tlsivfixed", OSSL_PARAM_OCTET_STRING, NULL, 4));
    CHECK(!tell(ctx, "tlsivfixed", OSSL_PARAM_OCTET_STRING, NULL, (size_t)-1) && !tell(ctx, "tlsivinv", OSSL_PARAM_OCTET_STRING, NULL, 8));
    CHECK(!ask(ctx, "tlsivgen", OSSL_PARAM_OCTET_STRING, NULL, 8, &told));
    /* Bytes that are not there. */
    CHECK(EVP_EncryptInit_ex2(ctx, NULL, key, iv, NULL));
    CHECK(EVP_EncryptUpdate(ctx, NULL, &n, NULL, 5) <= 0 && EVP_EncryptUpdate(ctx, NULL, &n, NULL, 0) > 0);
    CHECK(EVP_EncryptUpdate(ctx, out, &n, NULL, 5) <= 0 && EVP_EncryptUpdate(ctx, out, &n, NULL, 0) > 0);
    CHECK(EVP_EncryptUpdate(ctx, out, &n, text, 20) > 0);
    EVP_CIPHER_CTX_free(ctx);
    /* Without a key nothing comes out, not even the text; and no IV where none was set, or the one that was is gone. */
    ctx = EVP_CIPHER_CTX_new();
    CHECK(EVP_EncryptInit_ex2(ctx, ours, key, NULL, NULL) && !ask(ctx, "iv", OSSL_PARAM_OCTET_STRING, out, 16, &told));
    CHECK(!ask(ctx, "updated-iv", OSSL_PARAM_OCTET_PTR, &pointer, 16, &told));
    CHECK(EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL) && ask(ctx, "iv", OSSL_PARAM_OCTET_STRING, out, 16, &told));
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, 15, NULL) > 0 && !ask(ctx, "iv", OSSL_PARAM_OCTET_STRING, out, 16, &told));
    EVP_CIPHER_CTX_free(ctx);
    ctx = EVP_CIPHER_CTX_new();
    memset(out, 0, sizeof out);
    CHECK(EVP_EncryptInit_ex2(ctx, ours, NULL, iv, NULL) && EVP_EncryptUpdate(ctx, out, &n, text, 16) <= 0 && out[0] == 0);
    CHECK(EVP_EncryptInit_ex2(ctx, NULL, key, NULL, NULL) && EVP_EncryptUpdate(ctx, out, &n, text, 16) > 0 && out[0] != 0);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* What the provider says of itself. */
static void about(void)
{
    OSSL_PROVIDER *ours = OSSL_PROVIDER_load(NULL, "sealwright");
    char *pointer = NULL, text[11] = "..........";
    int status = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr("name", &pointer, 0), OSSL_PARAM_construct_utf8_string("name", text, 11),
                           OSSL_PARAM_construct_int("status", &status), OSSL_PARAM_construct_end()};
    CHECK(OSSL_PROVIDER_get_params(ours, params) && !strcmp(pointer, "Sealwright") && !strcmp(text, "Sealwright") && status == 1);
    CHECK(params[0].return_size == 10 && params[1].return_size == 10);
    OSSL_PARAM queries[] = {{"name", OSSL_PARAM_UTF8_PTR, NULL, 0, 0}, {"name", OSSL_PARAM_UTF8_STRING, NULL, 0, 0},
                            {"status", OSSL_PARAM_INTEGER, NULL, 0, 0}, OSSL_PARAM_construct_end()};
    CHECK(OSSL_PROVIDER_get_params(ours, queries) && queries[0].return_size == 10 && queries[1].return_size == 10);
    params[1].data_size = 10;
    memset(text, '.', 10);
    CHECK(!OSSL_PROVIDER_get_params(ours, params) && text[0] == '.');
    OSSL_PROVIDER_unload(ours);
}

/* Packets in the way of OpenSSH: a whole nonce is fixed, and counted for each packet; text and end come through EVP_Cipher. */
static int packet(EVP_CIPHER_CTX *ctx, int sealing, unsigned char *bytes, unsigned char *tag, unsigned char *nonce)
{
    return EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_IV_GEN, 8, nonce) > 0 &&
           (sealing || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0) &&
           EVP_Cipher(ctx, NULL, (const unsigned char *)"head", 4) >= 0 && EVP_Cipher(ctx, bytes, bytes, 52) >= 0 &&
           EVP_Cipher(ctx, NULL, NULL, 0) >= 0 && (!sealing || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
}

static void packets(const char *name)
{
    EVP_CIPHER *cipher[2];
    if (!fetch(name, &cipher[0], &cipher[1]))
        return;
    /* The last bytes carry. */
    unsigned char key[32] = {3}, iv[12] = {1, 2, 3, 4, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xfe}, bytes[2][52], tag[2][16], nonce[3][8];
    EVP_CIPHER_CTX *ctx[3];
    for (int who = 0; who < 3; who++) {
        ctx[who] = EVP_CIPHER_CTX_new();
        CHECK(EVP_CipherInit_ex2(ctx[who], cipher[who % 2], key, iv, who < 2, NULL));
        CHECK(EVP_CIPHER_CTX_ctrl(ctx[who], EVP_CTRL_GCM_IV_GEN, 8, nonce[who]) <= 0);
        CHECK(EVP_CIPHER_CTX_ctrl(ctx[who], EVP_CTRL_GCM_SET_IV_FIXED, -1, iv) > 0);
    }
    for (int count = 0; count < 5; count++) {
        for (int who = 0; who < 2; who++) {
            memset(bytes[who], 'a' + count, 52);
            CHECK(packet(ctx[who], 1, bytes[who], tag[who], nonce[who]));
        }
        CHECK(!memcmp(bytes[0], bytes[1], 52) && !memcmp(tag[0], tag[1], 16) && !memcmp(nonce[0], nonce[1], 8));
        tag[1][3] ^= count == 2;
        CHECK(packet(ctx[2], 0, bytes[1], tag[1], nonce[2]) == (count != 2) && !memcmp(nonce[1], nonce[2], 8));
        CHECK(bytes[1][51] == (count == 2 ? 0 : 'a' + count));
    }
    /* A whole nonce is asked for by the length 0 or -1. */
    for (int len = -1; len <= 0; len++) {
        unsigned char whole[2][13];
        memset(whole, 0xee, sizeof whole);
        for (int who = 0; who < 2; who++)
            CHECK(EVP_CIPHER_CTX_ctrl(ctx[who], EVP_CTRL_GCM_IV_GEN, len, whole[who]) > 0);
        CHECK(!memcmp(whole[0], whole[1], 13) && !memcmp(whole[0], iv, 4) && whole[0][12] == 0xee);
    }
    /* A nonce that was sent: what opens behind the fixed part. Who seals counts, and cannot be told one. */
    CHECK(EVP_CIPHER_CTX_ctrl(ctx[0], EVP_CTRL_GCM_SET_IV_INV, 8, nonce[1]) <= 0);
    unsigned char text[52], ad[13] = {0};
    int n;
    memset(text, 'e', 52);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx[2], EVP_CTRL_GCM_SET_IV_INV, 8, nonce[0]) > 0);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx[2], EVP_CTRL_AEAD_SET_TAG, 16, tag[0]) > 0);
    CHECK(EVP_DecryptUpdate(ctx[2], NULL, &n, (const unsigned char *)"head", 4) && EVP_DecryptUpdate(ctx[2], bytes[0], &n, bytes[0], 52));
    CHECK(EVP_DecryptFinal_ex(ctx[2], bytes[0], &n) > 0 && !memcmp(bytes[0], text, 52));
    /* No record of TLS before its nonces are fixed; none after another nonce was set. */
    for (int who = 0; who < 2; who++) {
        unsigned char record[44] = {0};
        ad[12] = 28;
        CHECK(EVP_CIPHER_CTX_ctrl(ctx[who], EVP_CTRL_AEAD_TLS1_AAD, 13, ad) == 16);
        CHECK(EVP_Cipher(ctx[who], record, record, 44) == 44);
        CHECK(who || (EVP_EncryptInit_ex2(ctx[who], NULL, NULL, iv, NULL) &&
                      (EVP_CIPHER_CTX_ctrl(ctx[who], EVP_CTRL_AEAD_TLS1_AAD, 13, ad) <= 0 || EVP_Cipher(ctx[who], record, record, 44) <= 0)));
    }
    for (int who = 0; who < 3; who++)
        EVP_CIPHER_CTX_free(ctx[who]);
    EVP_CIPHER_free(cipher[0]);
    EVP_CIPHER_free(cipher[1]);
}

/* EVP_Cipher gives out all of its text, also under OCB, and then takes no more if that was not whole blocks. */
static void at_once(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    unsigned char key[32] = {6}, iv[12] = {7}, text[70], wanted[70], out[70], tag[16], got[16];
    int n, m, gcm = EVP_CIPHER_get_mode(ours) == EVP_CIPH_GCM_MODE;
    memset(text, 'x', sizeof text);
    for (int len = 1; len <= 70; len++)
        for (int again = 0; again < 2; again++) {
            EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
            CHECK(EVP_EncryptInit_ex2(ctx, theirs, key, iv, NULL) && EVP_EncryptUpdate(ctx, wanted, &n, text, len) &&
                  EVP_EncryptFinal_ex(ctx, wanted + n, &m) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
            CHECK(EVP_EncryptInit_ex2(ctx, ours, key, iv, NULL) && EVP_Cipher(ctx, out, text, (unsigned)len) == len);
            CHECK(!again || (EVP_Cipher(ctx, got, text, 1) == 1) == (gcm || len % 16 == 0));
            if (!again) {
                CHECK(EVP_Cipher(ctx, NULL, NULL, 0) == 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, got) > 0);
                CHECK(!memcmp(out, wanted, (size_t)len) && !memcmp(got, tag, 16));
            }
            CHECK(EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0);
            CHECK(EVP_Cipher(ctx, out, wanted, (unsigned)len) == len && EVP_Cipher(ctx, NULL, NULL, 0) == 0);
            CHECK(!memcmp(out, text, (size_t)len));
            EVP_CIPHER_CTX_free(ctx);
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
    for (int i = 0; i < 6; i++) {
        values(SUITES[i]);
        at_once(SUITES[i]);
        if (i < 3)
            packets(SUITES[i]);
        walks(SUITES[i], 20000);
    }
    about();
    /* Walks that end nowhere show nothing. */
    CHECK(sealed_messages > 2000 && opened_messages > 2000);
    return verdict(1000);
}
