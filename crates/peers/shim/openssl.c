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

/* A context for each way: OCB keeps the way for which its key was set. */
struct key {
    EVP_CIPHER_CTX *seals, *opens;
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
    key->seals = lib.new_context();
    key->opens = lib.new_context();
    if (!key->cipher || !key->seals || !key->opens) {
        lib.free_context(key->seals);
        lib.free_context(key->opens);
        free(key);
        return NULL;
    }
    return key;
}

static int set_key(void *self, const uint8_t *bytes)
{
    struct key *key = self;
    return lib.init(key->seals, key->cipher, NULL, bytes, NULL, 1) != 1 ||
           lib.init(key->opens, key->cipher, NULL, bytes, NULL, 0) != 1;
}

/* OCB gives whole blocks as it goes, and the rest at the end. */
static int run(EVP_CIPHER_CTX *context, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    int written = 0, rest = 0;
    if (ad_len && lib.update(context, NULL, &written, ad, (int)ad_len) != 1)
        return 1;
    written = 0;
    if (text_len && lib.update(context, message, &written, message, (int)text_len) != 1)
        return 1;
    return lib.final(context, message + written, &rest) != 1 || (size_t)written + (size_t)rest != text_len;
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (lib.init(key->seals, NULL, NULL, NULL, nonce, 1) != 1 || run(key->seals, ad, ad_len, message, text_len))
        return 1;
    return lib.ctrl(key->seals, EVP_CTRL_AEAD_GET_TAG, 16, message + text_len) != 1;
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (lib.init(key->opens, NULL, NULL, NULL, nonce, 0) != 1 ||
        lib.ctrl(key->opens, EVP_CTRL_AEAD_SET_TAG, 16, message + text_len) != 1)
        return 1;
    return run(key->opens, ad, ad_len, message, text_len);
}

static void destroy(void *self)
{
    struct key *key = self;
    lib.free_context(key->seals);
    lib.free_context(key->opens);
    free(key);
}

const struct peer PEER = {version, create, set_key, seal, open_, destroy};
