/* Steps that the provider refuses: what is left in the output, and of the message: provider_refusals FOLDER */
#include "provider.h"

/* A record of TLS 1.2 that is refused leaves nothing of its text in the output. */
static void refused_records(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    static const unsigned char zeros[44];
    unsigned char key[32] = {4}, iv[12] = {5}, ad[13] = {0}, record[44], out[44];
    ad[12] = 28;
    memset(record, 'r', sizeof record);
    for (int sealing = 0; sealing < 2; sealing++)
        for (int with_key = 0; with_key < 2; with_key++) {
            EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
            /* With a key it is too short for nonce and tag. */
            unsigned len = with_key ? 23 : 44;
            CHECK(EVP_CipherInit_ex2(ctx, ours, with_key ? key : NULL, NULL, sealing, NULL));
            CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv) > 0);
            CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, ad) == 16);
            memset(out, 0xee, sizeof out);
            CHECK(EVP_Cipher(ctx, out, record, len) <= 0 && !memcmp(out, zeros, len));
            CHECK(len == 44 || out[len] == 0xee);
            EVP_CIPHER_CTX_free(ctx);
        }
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* Counted nonces: what opened under one, or a record that was refused, gives none to seal under; and what is set in one call with an IV
 * is no record. */
static void nonces_serve_once(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    unsigned char key[32] = {7}, iv[12] = {8}, ad[13] = {0}, longer[13] = {0}, nonce[8], record[44] = {0}, forged[44], out[44], more[20];
    int n;
    ad[12] = 28, longer[12] = 44;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    CHECK(EVP_EncryptInit_ex2(ctx, ours, key, NULL, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv) > 0);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, ad) == 16 && EVP_Cipher(ctx, record, record, 44) == 44);
    /* The peer names the nonce of the record that was sealed, and of another that it likes. */
    for (int way = 0; way < 3; way++) {
        memcpy(nonce, record, 8);
        nonce[0] ^= (unsigned char)way;
        CHECK(EVP_DecryptInit_ex2(ctx, NULL, NULL, NULL, NULL));
        if (way == 2)
            CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_INV, 8, nonce) > 0);
        memset(forged, 'f', sizeof forged);
        memcpy(forged, nonce, 8);
        CHECK(way == 2 || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, longer) == 16);
        CHECK(way == 2 || EVP_Cipher(ctx, out, forged, 44) <= 0);
        CHECK(EVP_EncryptInit_ex2(ctx, NULL, NULL, NULL, NULL));
        memset(out, 0, sizeof out);
        CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, ad) <= 0 && EVP_Cipher(ctx, out, out, 44) <= 0);
        CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_IV_GEN, 8, nonce) <= 0 && EVP_EncryptUpdate(ctx, more, &n, out, 20) <= 0);
        /* With nonces of its own it seals again. Turned to where it was turned already, it keeps them. */
        iv[11]++;
        CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv) > 0 && EVP_EncryptInit_ex2(ctx, NULL, NULL, NULL, NULL));
        CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, ad) == 16 && EVP_Cipher(ctx, out, out, 44) == 44);
        CHECK(!memcmp(out, iv + 4, 8));
    }
    /* A record, and then a text, under the same IV. */
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string("tlsaad", ad, 13), OSSL_PARAM_construct_end()};
    memset(record, 0, sizeof record);
    if (EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, params) && EVP_Cipher(ctx, out, record, 44) == 44)
        CHECK(EVP_EncryptUpdate(ctx, more, &n, record, 20) <= 0 || memcmp(out + 8, more, 20));
    /* A record ends what was under way, as an IV does. */
    iv[11]++;
    CHECK(EVP_EncryptInit_ex2(ctx, NULL, NULL, NULL, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv) > 0);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_IV_GEN, 8, nonce) > 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, ad) == 16);
    CHECK(EVP_Cipher(ctx, record, record, 44) == 44 && EVP_EncryptUpdate(ctx, more, &n, out, 20) <= 0);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* Associated data too early or too late, and text that is not there: the message has no end and no tag, and needs a new IV. */
static void out_of_place(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    unsigned char key[32] = {6}, iv[12] = {7}, text[20] = {8}, sealed[48], out[48], tag[16];
    int n, m, written, whole;
    for (int way = 0; way < 3; way++) {
        EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
        if (way == 0) {
            CHECK(EVP_EncryptInit_ex2(ctx, ours, NULL, iv, NULL) && EVP_EncryptUpdate(ctx, NULL, &n, text, 20) <= 0);
            CHECK(EVP_EncryptInit_ex2(ctx, NULL, key, NULL, NULL) && EVP_EncryptUpdate(ctx, sealed, &n, text, 20) <= 0);
        } else {
            CHECK(EVP_EncryptInit_ex2(ctx, ours, key, iv, NULL) && EVP_EncryptUpdate(ctx, sealed, &n, text, 20) > 0);
            CHECK(EVP_EncryptUpdate(ctx, way == 1 ? NULL : sealed, &n, way == 1 ? text : NULL, 20) <= 0);
        }
        CHECK(EVP_EncryptFinal_ex(ctx, out, &m) <= 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) <= 0);
        CHECK(EVP_EncryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_EncryptUpdate(ctx, sealed, &n, text, 20) > 0);
        CHECK(EVP_EncryptFinal_ex(ctx, sealed + n, &m) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
        /* Behind the end of a message they change nothing of it. */
        CHECK(EVP_EncryptUpdate(ctx, NULL, &n, text, 20) <= 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
        for (whole = 0; whole < 2; whole++) {
            CHECK(EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0);
            CHECK(EVP_DecryptUpdate(ctx, out, &written, sealed, 20) > 0);
            CHECK(whole || EVP_DecryptUpdate(ctx, NULL, &n, text, 20) <= 0);
            CHECK((EVP_DecryptFinal_ex(ctx, out + written, &m) > 0) == whole);
        }
        EVP_CIPHER_CTX_free(ctx);
    }
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* Whether what was refused left this reason, and no other, before it. */
static int reason(const char *part)
{
    unsigned long error = ERR_get_error();
    const char *text = ERR_reason_error_string(error), *from = ERR_lib_error_string(error);
    ERR_clear_error();
    if (part == NULL)
        return error == 0;
    return text != NULL && strstr(text, part) != NULL && from != NULL && !strcmp(from, "sealwright");
}

/* A program that takes steps in a way that is refused is told why; that a text is not authentic is told by the end of it alone. */
static void reasons(const char *name)
{
    EVP_CIPHER *ours, *theirs;
    if (!fetch(name, &ours, &theirs))
        return;
    unsigned char key[32] = {8}, iv[12] = {9}, text[48] = {1}, sealed[64], out[64], tag[16];
    int n, m;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    ERR_clear_error();
    CHECK(EVP_EncryptInit_ex2(ctx, ours, NULL, iv, NULL) && EVP_EncryptUpdate(ctx, out, &n, text, 48) <= 0 && reason("no key"));
    CHECK(EVP_EncryptUpdate(ctx, NULL, &n, text, 48) <= 0 && reason("associated data"));
    CHECK(EVP_EncryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_EncryptUpdate(ctx, sealed, &n, text, 48) > 0);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) <= 0 && reason("no tag before"));
    CHECK(EVP_EncryptFinal_ex(ctx, out, &m) > 0 && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 4, out) <= 0 && reason("12 to 16"));
    CHECK(EVP_EncryptUpdate(ctx, out, &n, text, 48) <= 0 && reason("already used"));
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, 24, NULL) <= 0 && reason("IVs of GCM"));
    CHECK(EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_DecryptUpdate(ctx, out, &n, sealed, 48) <= 0 && reason("the tag must"));
    CHECK(EVP_DecryptFinal_ex(ctx, out, &n) <= 0 && reason("the tag must"));
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 4, tag) <= 0 && reason("12 to 16"));
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0 && EVP_DecryptUpdate(ctx, out, &n, sealed, 32) > 0);
    CHECK(EVP_DecryptUpdate(ctx, out, &n, sealed + 32, 16) > 0 && reason(NULL));
    CHECK(EVP_DecryptFinal_ex(ctx, out, &n) <= 0 && reason("several pieces"));
    sealed[3] ^= 1;
    CHECK(EVP_DecryptInit_ex2(ctx, NULL, key, iv, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0);
    CHECK(EVP_DecryptUpdate(ctx, out, &n, sealed, 48) > 0 && EVP_DecryptFinal_ex(ctx, out, &n) <= 0 && reason(NULL));
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* One value set in both, or asked of both; returns what ours answered if theirs is the same, or -1. */
static int both(EVP_CIPHER_CTX *const ctx[2], int asks, const char *key, unsigned type, const unsigned char *bytes, size_t len,
                unsigned char *told)
{
    int answers[2];
    size_t sizes[2];
    unsigned char *copies[2];
    for (int who = 0; who < 2; who++) {
        copies[who] = malloc(len);
        memcpy(copies[who], bytes, len);
        OSSL_PARAM params[] = {{key, type, copies[who], len, OSSL_PARAM_UNMODIFIED}, OSSL_PARAM_construct_end()};
        answers[who] = asks ? EVP_CIPHER_CTX_get_params(ctx[who], params) : EVP_CIPHER_CTX_set_params(ctx[who], params);
        sizes[who] = params[0].return_size;
    }
    int same = answers[0] == answers[1] && !memcmp(copies[0], copies[1], len) && sizes[0] == sizes[1];
    if (told)
        memcpy(told, copies[0], len);
    free(copies[0]);
    free(copies[1]);
    return same ? answers[0] : -1;
}

/* Numbers have as many bytes as a program likes, if their value fits; what is none is told, and not that it is too large or too small. */
static void widths(const char *name)
{
    static const char *const numbers[] = {"keylen", "ivlen", "taglen"};
    static const unsigned types[] = {OSSL_PARAM_INTEGER, OSSL_PARAM_UNSIGNED_INTEGER};
    EVP_CIPHER *cipher[2];
    if (!fetch(name, &cipher[0], &cipher[1]))
        return;
    EVP_CIPHER_CTX *ctx[2];
    unsigned char key[32] = {8}, iv[12] = {9}, bytes[24], told[24];
    for (int who = 0; who < 2; who++) {
        ctx[who] = EVP_CIPHER_CTX_new();
        CHECK(EVP_EncryptInit_ex2(ctx[who], cipher[who], key, iv, NULL));
    }
    const int wanted[] = {EVP_CIPHER_get_key_length(cipher[0]), 12, 16};
    ERR_clear_error();
    for (size_t len = 1; len <= sizeof bytes; len++)
        for (int type = 0; type < 2; type++) {
            for (int i = 0; i < 3; i++) {
                memset(bytes, 0xee, sizeof bytes);
                CHECK(both(ctx, 1, numbers[i], types[type], bytes, len, told) == 1 && told[0] == wanted[i]);
            }
            memset(bytes, 0, sizeof bytes);
            for (int more = 1; more <= 15; more++) {
                bytes[0] = (unsigned char)((11 + more) % 15 + 1);
                CHECK(both(ctx, 0, "ivlen", types[type], bytes, len, NULL) == 1 && EVP_CIPHER_CTX_get_iv_length(ctx[0]) == bytes[0]);
            }
            bytes[0] = (unsigned char)wanted[0];
            CHECK(both(ctx, 0, "keylen", types[type], bytes, len, NULL) == 1 && reason(NULL));
            bytes[0] = 17;
            OSSL_PARAM params[] = {{"ivlen", types[type], bytes, len, 0}, OSSL_PARAM_construct_end()};
            CHECK(!EVP_CIPHER_CTX_set_params(ctx[0], params) && reason("IVs of GCM"));
            params[0].key = "keylen";
            CHECK(!EVP_CIPHER_CTX_set_params(ctx[0], params) && reason("another cipher"));
            /* Less than zero, or larger than any length. */
            memset(bytes, 0xff, sizeof bytes);
            if (type == 0 || len > sizeof(size_t))
                for (int i = 0; i < 2; i++) {
                    params[0].key = numbers[i];
                    CHECK(!EVP_CIPHER_CTX_set_params(ctx[0], params) && reason("integers"));
                }
        }
    double real = 12;
    OSSL_PARAM other[] = {OSSL_PARAM_construct_double("ivlen", &real), OSSL_PARAM_construct_end()};
    CHECK(!EVP_CIPHER_CTX_set_params(ctx[0], other) && reason("integers"));
    CHECK(!EVP_CIPHER_CTX_get_params(ctx[0], other) && reason("integers"));
    CHECK(EVP_CIPHER_CTX_set_key_length(ctx[0], 17) <= 0 && reason("another cipher"));
    EVP_CIPHER_CTX_free(ctx[0]);
    EVP_CIPHER_CTX_free(ctx[1]);
    EVP_CIPHER_free(cipher[0]);
    EVP_CIPHER_free(cipher[1]);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!load(argv[1]))
        return 1;
    for (int i = 0; i < 6; i++) {
        out_of_place(SUITES[i]);
        reasons(SUITES[i]);
        widths(SUITES[i]);
        if (i < 3)
            refused_records(SUITES[i]), nonces_serve_once(SUITES[i]);
    }
    return verdict(100);
}
