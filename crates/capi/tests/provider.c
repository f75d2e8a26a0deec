/* The provider through EVP, against OpenSSL's default provider: provider FOLDER */
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, right;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (what)                                                                                                      \
            right++;                                                                                                   \
        else                                                                                                           \
            printf("line %d: " #what "\n", __LINE__), wrong++;                                                         \
    } while (0)

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
    EVP_CIPHER *ours = EVP_CIPHER_fetch(NULL, name, "provider=sealwright");
    EVP_CIPHER *theirs = EVP_CIPHER_fetch(NULL, name, "provider=default");
    CHECK(ours != NULL && theirs != NULL);
    if (!ours || !theirs)
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
        if (len < 3000 && EVP_CIPHER_get_mode(ours) == EVP_CIPH_GCM_MODE)
            CHECK(seal(ours, key, iv, iv_len, tag_len, ad, ad_len, text, len, 37, c) == theirs_len &&
                  !memcmp(c, b, (size_t)theirs_len));
        CHECK(opened(ours, key, iv, iv_len, tag_len, ad, ad_len, b, theirs_len, c) == len &&
              !memcmp(c, text, (size_t)len));
        b[(size_t)(len * 7) % (size_t)theirs_len] ^= 0x10;
        memset(c, 0xee, sizeof c);
        CHECK(opened(ours, key, iv, iv_len, tag_len, ad, ad_len, b, theirs_len, c) == -1);
        for (int i = 0; i < len; i++)
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

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    OSSL_PROVIDER_set_default_search_path(NULL, argv[1]);
    OSSL_PROVIDER *ours = OSSL_PROVIDER_load(NULL, "sealwright"), *theirs = OSSL_PROVIDER_load(NULL, "default");
    if (!ours || !theirs) {
        ERR_print_errors_fp(stdout);
        return 1;
    }
    const char *gcm[] = {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"}, *ocb[] = {"AES-128-OCB", "AES-192-OCB", "AES-256-OCB"};
    for (int i = 0; i < 3; i++) {
        compare(gcm[i], 12, 16);
        compare(gcm[i], 16, 16);
        compare(gcm[i], 12, 12);
        compare(ocb[i], 12, 16);
        compare(ocb[i], 15, 12);
    }
    contexts();
    lengths();
    OSSL_PROVIDER_unload(theirs);
    OSSL_PROVIDER_unload(ours);
    printf("%d wrong of %s\n", wrong, right > 1000 ? "more than 1000" : "too few");
    return wrong != 0;
}
