/* OpenSSL 3.0 or newer, through EVP: a context keeps the key and gets a new nonce for each message. */
#include "peer.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>

#define FUNCTIONS(each)                                                                                                        \
    each(OpenSSL_version) each(EVP_CIPHER_fetch) each(EVP_CIPHER_free) each(EVP_CIPHER_CTX_new) each(EVP_CIPHER_CTX_free)      \
    each(EVP_CIPHER_CTX_set_padding) each(EVP_CIPHER_CTX_ctrl) each(EVP_EncryptInit_ex2) each(EVP_EncryptUpdate)               \
    each(EVP_EncryptFinal_ex) each(EVP_DecryptInit_ex2) each(EVP_DecryptUpdate) each(EVP_DecryptFinal_ex)
#define POINTER(name) __typeof__(name) *name;
#define FOUND(name) && (lib.name = dlsym(library, #name))

static struct {
    FUNCTIONS(POINTER)
} lib;

static const char *version(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    int whole = 1 FUNCTIONS(FOUND);
    return whole ? lib.OpenSSL_version(OPENSSL_VERSION_STRING) : NULL;
}

static const struct {
    const char *name;
    size_t key_len;
} known[] = {
    [AES_128_GCM] = {"AES-128-GCM", 16}, [AES_256_GCM] = {"AES-256-GCM", 32},
    [AES_128_OCB] = {"AES-128-OCB", 16}, [AES_256_OCB] = {"AES-256-OCB", 32},
    [AES_128_CBC] = {"AES-128-CBC", 16}, [AES_256_CBC] = {"AES-256-CBC", 32},
    [CHACHA20_POLY1305] = {"ChaCha20-Poly1305", 32},
};

struct key {
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *seals, *opens;
    size_t key_len;
    uint8_t bytes[32];
    int plain;
    /* Whether a context has its cipher. Setting the cipher again would free and reallocate all its memory. */
    int seals_begun, opens_begun;
    /* The key for opening is set at its first use, because many keys only seal. */
    int opens_is_set;
};

static void destroy(void *self)
{
    struct key *key = self;
    lib.EVP_CIPHER_CTX_free(key->seals);
    lib.EVP_CIPHER_CTX_free(key->opens);
    lib.EVP_CIPHER_free(key->cipher);
    free(key);
}

static void *create(int algorithm)
{
    if ((size_t)algorithm >= sizeof known / sizeof known[0] || !known[algorithm].name)
        return NULL;
    struct key *key = calloc(1, sizeof *key);
    if (!key)
        return NULL;
    key->key_len = known[algorithm].key_len;
    key->plain = algorithm == AES_128_CBC || algorithm == AES_256_CBC;
    key->cipher = lib.EVP_CIPHER_fetch(NULL, known[algorithm].name, NULL);
    key->seals = lib.EVP_CIPHER_CTX_new();
    key->opens = lib.EVP_CIPHER_CTX_new();
    if (!key->cipher || !key->seals || !key->opens) {
        destroy(key);
        return NULL;
    }
    return key;
}

static int set_key(void *self, const uint8_t *bytes)
{
    struct key *key = self;
    memcpy(key->bytes, bytes, key->key_len);
    key->opens_is_set = 0;
    if (!lib.EVP_EncryptInit_ex2(key->seals, key->seals_begun ? NULL : key->cipher, bytes, NULL, NULL) ||
        (key->plain && !key->seals_begun && !lib.EVP_CIPHER_CTX_set_padding(key->seals, 0)))
        return 1;
    key->seals_begun = 1;
    return 0;
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    EVP_CIPHER_CTX *context = key->seals;
    int n = 0, end = 0;
    if (!lib.EVP_EncryptInit_ex2(context, NULL, NULL, nonce, NULL))
        return 1;
    if (!key->plain && ad_len && !lib.EVP_EncryptUpdate(context, NULL, &n, ad, (int)ad_len))
        return 1;
    n = 0;
    if ((text_len && !lib.EVP_EncryptUpdate(context, message, &n, message, (int)text_len)) ||
        !lib.EVP_EncryptFinal_ex(context, message + n, &end))
        return 1;
    return !key->plain && lib.EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, message + text_len) <= 0;
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    EVP_CIPHER_CTX *context = key->opens;
    int n = 0, end = 0;
    if (!key->opens_is_set) {
        if (!lib.EVP_DecryptInit_ex2(context, key->opens_begun ? NULL : key->cipher, key->bytes, NULL, NULL) ||
            (key->plain && !key->opens_begun && !lib.EVP_CIPHER_CTX_set_padding(context, 0)))
            return 1;
        key->opens_begun = key->opens_is_set = 1;
    }
    if (!lib.EVP_DecryptInit_ex2(context, NULL, NULL, nonce, NULL))
        return 1;
    if (!key->plain && lib.EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, message + text_len) <= 0)
        return 1;
    if (!key->plain && ad_len && !lib.EVP_DecryptUpdate(context, NULL, &n, ad, (int)ad_len))
        return 1;
    n = 0;
    return (text_len && !lib.EVP_DecryptUpdate(context, message, &n, message, (int)text_len)) ||
           lib.EVP_DecryptFinal_ex(context, message + n, &end) <= 0;
}

const struct peer PEER = {version, create, set_key, seal, open_, destroy, NULL};
