/* libgcrypt. */
#include "peer.h"
#include <gcrypt.h>

static struct {
    __typeof__(gcry_check_version) *check_version;
    __typeof__(gcry_cipher_open) *open;
    __typeof__(gcry_cipher_close) *close;
    __typeof__(gcry_cipher_setkey) *setkey;
    __typeof__(gcry_cipher_setiv) *setiv;
    __typeof__(gcry_cipher_authenticate) *authenticate;
    __typeof__(gcry_cipher_ctl) *ctl;
    __typeof__(gcry_cipher_encrypt) *encrypt;
    __typeof__(gcry_cipher_decrypt) *decrypt;
    __typeof__(gcry_cipher_gettag) *gettag;
    __typeof__(gcry_cipher_checktag) *checktag;
} lib;

static const char *version(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    int whole = (lib.check_version = dlsym(library, "gcry_check_version")) && (lib.open = dlsym(library, "gcry_cipher_open")) &&
                (lib.close = dlsym(library, "gcry_cipher_close")) && (lib.setkey = dlsym(library, "gcry_cipher_setkey")) &&
                (lib.setiv = dlsym(library, "gcry_cipher_setiv")) &&
                (lib.authenticate = dlsym(library, "gcry_cipher_authenticate")) &&
                (lib.ctl = dlsym(library, "gcry_cipher_ctl")) && (lib.encrypt = dlsym(library, "gcry_cipher_encrypt")) &&
                (lib.decrypt = dlsym(library, "gcry_cipher_decrypt")) && (lib.gettag = dlsym(library, "gcry_cipher_gettag")) &&
                (lib.checktag = dlsym(library, "gcry_cipher_checktag"));
    return whole ? lib.check_version(NULL) : NULL;
}

struct key {
    gcry_cipher_hd_t handle;
    size_t key_len;
    int ocb;
};

static void *create(int algorithm)
{
    static const int ciphers[] = {GCRY_CIPHER_AES128,     GCRY_CIPHER_AES256,     GCRY_CIPHER_AES128,
                                  GCRY_CIPHER_AES256,     GCRY_CIPHER_SERPENT256, GCRY_CIPHER_SERPENT256};
    int ocb = algorithm == AES_128_OCB || algorithm == AES_256_OCB || algorithm == SERPENT_256_OCB;
    struct key *key = malloc(sizeof *key);
    if (!key)
        return NULL;
    key->ocb = ocb;
    key->key_len = algorithm == AES_128_GCM || algorithm == AES_128_OCB ? 16 : 32;
    if (lib.open(&key->handle, ciphers[algorithm], ocb ? GCRY_CIPHER_MODE_OCB : GCRY_CIPHER_MODE_GCM, 0)) {
        free(key);
        return NULL;
    }
    return key;
}

static int set_key(void *self, const uint8_t *bytes)
{
    struct key *key = self;
    return lib.setkey(key->handle, bytes, key->key_len) != 0;
}

static int begin(struct key *key, const uint8_t *nonce, const uint8_t *ad, size_t ad_len)
{
    if (lib.setiv(key->handle, nonce, 12) || lib.authenticate(key->handle, ad, ad_len))
        return 1;
    return key->ocb && lib.ctl(key->handle, GCRYCTL_FINALIZE, NULL, 0);
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    return begin(key, nonce, ad, ad_len) || lib.encrypt(key->handle, message, text_len, NULL, 0) ||
           lib.gettag(key->handle, message + text_len, 16);
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    return begin(key, nonce, ad, ad_len) || lib.decrypt(key->handle, message, text_len, NULL, 0) ||
           lib.checktag(key->handle, message + text_len, 16);
}

static void destroy(void *self)
{
    struct key *key = self;
    lib.close(key->handle);
    free(key);
}

const struct peer PEER = {version, create, set_key, seal, open_, destroy};
