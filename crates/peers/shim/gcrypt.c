/* libgcrypt. */
#include "peer.h"
#include <gcrypt.h>

static struct {
    __typeof__(gcry_check_version) *check_version;
    __typeof__(gcry_cipher_open) *open;
    __typeof__(gcry_cipher_close) *close;
    __typeof__(gcry_cipher_setkey) *setkey;
    __typeof__(gcry_cipher_setiv) *setiv;
    __typeof__(gcry_cipher_setctr) *setctr;
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
                (lib.setiv = dlsym(library, "gcry_cipher_setiv")) && (lib.setctr = dlsym(library, "gcry_cipher_setctr")) &&
                (lib.authenticate = dlsym(library, "gcry_cipher_authenticate")) &&
                (lib.ctl = dlsym(library, "gcry_cipher_ctl")) && (lib.encrypt = dlsym(library, "gcry_cipher_encrypt")) &&
                (lib.decrypt = dlsym(library, "gcry_cipher_decrypt")) && (lib.gettag = dlsym(library, "gcry_cipher_gettag")) &&
                (lib.checktag = dlsym(library, "gcry_cipher_checktag"));
    return whole ? lib.check_version(NULL) : NULL;
}

static const struct {
    int cipher, mode;
    size_t key_len;
} known[] = {
    [AES_128_GCM] = {GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_GCM, 16},
    [AES_256_GCM] = {GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 32},
    [AES_128_OCB] = {GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_OCB, 16},
    [AES_256_OCB] = {GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_OCB, 32},
    [SERPENT_256_GCM] = {GCRY_CIPHER_SERPENT256, GCRY_CIPHER_MODE_GCM, 32},
    [SERPENT_256_OCB] = {GCRY_CIPHER_SERPENT256, GCRY_CIPHER_MODE_OCB, 32},
    [AES_128_GCM_SIV] = {GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_GCM_SIV, 16},
    [AES_256_GCM_SIV] = {GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM_SIV, 32},
    [AES_128_CBC] = {GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_CBC, 16},
    [AES_256_CBC] = {GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_CBC, 32},
    [SERPENT_256_CTR] = {GCRY_CIPHER_SERPENT256, GCRY_CIPHER_MODE_CTR, 32},
    [CHACHA20_POLY1305] = {GCRY_CIPHER_CHACHA20, GCRY_CIPHER_MODE_POLY1305, 32},
};

struct key {
    gcry_cipher_hd_t handle;
    size_t key_len;
    int mode;
};

static void *create(int algorithm)
{
    if ((size_t)algorithm >= sizeof known / sizeof known[0])
        return NULL;
    struct key *key = malloc(sizeof *key);
    if (!key)
        return NULL;
    key->mode = known[algorithm].mode;
    key->key_len = known[algorithm].key_len;
    if (lib.open(&key->handle, known[algorithm].cipher, key->mode, 0)) {
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

/* Whether the mode has neither tag nor associated data. */
static int plain(const struct key *key)
{
    return key->mode == GCRY_CIPHER_MODE_CBC || key->mode == GCRY_CIPHER_MODE_CTR;
}

static int begin(struct key *key, const uint8_t *nonce, const uint8_t *ad, size_t ad_len)
{
    if (key->mode == GCRY_CIPHER_MODE_CTR)
        return lib.setctr(key->handle, nonce, 16) != 0;
    if (plain(key))
        return lib.setiv(key->handle, nonce, 16) != 0;
    /* Without a reset, libgcrypt refuses the nonce of the second message. */
    if (key->mode == GCRY_CIPHER_MODE_GCM_SIV && lib.ctl(key->handle, GCRYCTL_RESET, NULL, 0))
        return 1;
    if (lib.setiv(key->handle, nonce, 12) || lib.authenticate(key->handle, ad, ad_len))
        return 1;
    return key->mode == GCRY_CIPHER_MODE_OCB && lib.ctl(key->handle, GCRYCTL_FINALIZE, NULL, 0);
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (begin(key, nonce, ad, ad_len) || lib.encrypt(key->handle, message, text_len, NULL, 0))
        return 1;
    return !plain(key) && lib.gettag(key->handle, message + text_len, 16);
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (begin(key, nonce, ad, ad_len))
        return 1;
    /* GCM-SIV derives the counter block from the tag, so decryption needs the tag first. */
    if (key->mode == GCRY_CIPHER_MODE_GCM_SIV && lib.ctl(key->handle, GCRYCTL_SET_DECRYPTION_TAG, message + text_len, 16))
        return 1;
    if (lib.decrypt(key->handle, message, text_len, NULL, 0))
        return 1;
    return !plain(key) && lib.checktag(key->handle, message + text_len, 16);
}

static void destroy(void *self)
{
    struct key *key = self;
    lib.close(key->handle);
    free(key);
}

const struct peer PEER = {version, create, set_key, seal, open_, destroy, NULL};
