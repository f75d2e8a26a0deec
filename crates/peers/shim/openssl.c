/* OpenSSL's libcrypto through EVP: a referee, which nothing measures (`bench` runs the program `openssl speed`). */
#include "peer.h"
#include <openssl/evp.h>

static struct {
    __typeof__(OpenSSL_version) *version;
    __typeof__(EVP_aes_128_gcm) *ciphers[4];
    __typeof__(EVP_CIPHER_CTX_new) *new_context;
    __typeof__(EVP_CIPHER_CTX_free) *free_context;
    __typeof__(EVP_CIPHER_CTX_ctrl) *ctrl;
    __typeof__(EVP_CipherInit_ex) *init;
    __typeof__(EVP_CipherUpdate) *update;
    __typeof__(EVP_CipherFinal_ex) *final;
} lib;

static const char *version(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    int whole = (lib.version = dlsym(library, "OpenSSL_version")) &&
                (lib.ciphers[AES_128_GCM] = dlsym(library, "EVP_aes_128_gcm")) &&
                (lib.ciphers[AES_256_GCM] = dlsym(library, "EVP_aes_256_gcm")) &&
                (lib.ciphers[AES_128_OCB] = dlsym(library, "EVP_aes_128_ocb")) &&
                (lib.ciphers[AES_256_OCB] = dlsym(library, "EVP_aes_256_ocb")) &&
                (lib.new_context = dlsym(library, "EVP_CIPHER_CTX_new")) &&
                (lib.free_context = dlsym(library, "EVP_CIPHER_CTX_free")) &&
                (lib.ctrl = dlsym(library, "EVP_CIPHER_CTX_ctrl")) && (lib.init = dlsym(library, "EVP_CipherInit_ex")) &&
                (lib.update = dlsym(library, "EVP_CipherUpdate")) && (lib.final = dlsym(library, "EVP_CipherFinal_ex"));
    return whole ? lib.version(OPENSSL_VERSION) : NULL;
}

struct key {
    EVP_CIPHER_CTX *context;
    const EVP_CIPHER *cipher;
};

static void *create(int algorithm)
{
    if (algorithm > AES_256_OCB)
        return NULL;
    struct key *key = malloc(sizeof *key);
    if (!key)
        return NULL;
    key->cipher = lib.ciphers[algorithm]();
    key->context = lib.new_context();
    if (!key->cipher || !key->context) {
        lib.free_context(key->context);
        free(key);
        return NULL;
    }
    return key;
}

static int set_key(void *self, const uint8_t *bytes)
{
    struct key *key = self;
    return lib.init(key->context, key->cipher, NULL, bytes, NULL, -1) != 1;
}

/* OCB gives whole blocks as it goes, and the rest at the end. */
static int run(struct key *key, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    int written = 0, rest = 0;
    if (ad_len && lib.update(key->context, NULL, &written, ad, (int)ad_len) != 1)
        return 1;
    written = 0;
    if (text_len && lib.update(key->context, message, &written, message, (int)text_len) != 1)
        return 1;
    return lib.final(key->context, message + written, &rest) != 1 || (size_t)written + (size_t)rest != text_len;
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (lib.init(key->context, NULL, NULL, NULL, nonce, 1) != 1 || run(key, ad, ad_len, message, text_len))
        return 1;
    return lib.ctrl(key->context, EVP_CTRL_AEAD_GET_TAG, 16, message + text_len) != 1;
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (lib.init(key->context, NULL, NULL, NULL, nonce, 0) != 1 ||
        lib.ctrl(key->context, EVP_CTRL_AEAD_SET_TAG, 16, message + text_len) != 1)
        return 1;
    return run(key, ad, ad_len, message, text_len);
}

static void destroy(void *self)
{
    struct key *key = self;
    lib.free_context(key->context);
    free(key);
}

const struct peer PEER = {version, create, set_key, seal, open_, destroy};
