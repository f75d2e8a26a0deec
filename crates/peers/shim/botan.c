/* Botan 2, through its C interface. */
#include "peer.h"
#include <botan/ffi.h>

static struct {
    __typeof__(botan_version_string) *version_string;
    __typeof__(botan_cipher_init) *init;
    __typeof__(botan_cipher_destroy) *destroy;
    __typeof__(botan_cipher_reset) *reset;
    __typeof__(botan_cipher_set_key) *set_key;
    __typeof__(botan_cipher_set_associated_data) *set_ad;
    __typeof__(botan_cipher_start) *start;
    __typeof__(botan_cipher_update) *update;
} lib;

static const char *version(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    int whole = (lib.version_string = dlsym(library, "botan_version_string")) &&
                (lib.init = dlsym(library, "botan_cipher_init")) && (lib.destroy = dlsym(library, "botan_cipher_destroy")) &&
                (lib.reset = dlsym(library, "botan_cipher_reset")) && (lib.set_key = dlsym(library, "botan_cipher_set_key")) &&
                (lib.set_ad = dlsym(library, "botan_cipher_set_associated_data")) &&
                (lib.start = dlsym(library, "botan_cipher_start")) && (lib.update = dlsym(library, "botan_cipher_update"));
    return whole ? lib.version_string() : NULL;
}

static const struct {
    const char *name;
    size_t key_len;
} known[] = {
    [AES_128_GCM] = {"AES-128/GCM", 16},
    [AES_256_GCM] = {"AES-256/GCM", 32},
    [AES_128_OCB] = {"AES-128/OCB", 16},
    [AES_256_OCB] = {"AES-256/OCB", 32},
    [SERPENT_256_GCM] = {"Serpent/GCM", 32},
    [SERPENT_256_OCB] = {"Serpent/OCB", 32},
    [AES_128_CBC] = {"AES-128/CBC/NoPadding", 16},
    [AES_256_CBC] = {"AES-256/CBC/NoPadding", 32},
    [SERPENT_256_CTR] = {"Serpent/CTR-BE", 32},
    [CHACHA20_POLY1305] = {"ChaCha20Poly1305", 32},
};

struct key {
    botan_cipher_t seals, opens;
    size_t key_len, nonce_len, tag_len;
    uint8_t bytes[32];
    /* The key for opening is set at its first use, because many keys only seal. */
    int opens_is_set;
    int ocb;
};

/* Without a reset, OCB keeps state that it derived from a nonce under the previous key. */
static int replace(const struct key *key, botan_cipher_t cipher, const uint8_t *bytes)
{
    return (key->ocb && lib.reset(cipher)) || lib.set_key(cipher, bytes, key->key_len);
}

static void *create(int algorithm)
{
    if ((size_t)algorithm >= sizeof known / sizeof known[0] || !known[algorithm].name)
        return NULL;
    const char *name = known[algorithm].name;
    struct key *key = calloc(1, sizeof *key);
    if (!key)
        return NULL;
    key->key_len = known[algorithm].key_len;
    int plain = algorithm == AES_128_CBC || algorithm == AES_256_CBC || algorithm == SERPENT_256_CTR;
    key->nonce_len = plain ? 16 : 12;
    key->tag_len = plain ? 0 : 16;
    key->ocb = algorithm == AES_128_OCB || algorithm == AES_256_OCB || algorithm == SERPENT_256_OCB;
    if (lib.init(&key->seals, name, BOTAN_CIPHER_INIT_FLAG_ENCRYPT)) {
        free(key);
        return NULL;
    }
    if (lib.init(&key->opens, name, BOTAN_CIPHER_INIT_FLAG_DECRYPT)) {
        lib.destroy(key->seals);
        free(key);
        return NULL;
    }
    return key;
}

static int set_key(void *self, const uint8_t *bytes)
{
    struct key *key = self;
    memcpy(key->bytes, bytes, key->key_len);
    key->opens_is_set = 0;
    return replace(key, key->seals, bytes);
}

static int run(const struct key *key, botan_cipher_t cipher, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message,
               size_t in, size_t out)
{
    size_t written, consumed;
    if ((key->tag_len && lib.set_ad(cipher, ad, ad_len)) || lib.start(cipher, nonce, key->nonce_len))
        return 1;
    int failed = lib.update(cipher, BOTAN_CIPHER_UPDATE_FLAG_FINAL, message, out, &written, message, in, &consumed);
    return failed || written != out;
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    return run(key, key->seals, nonce, ad, ad_len, message, text_len, text_len + key->tag_len);
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (!key->opens_is_set && replace(key, key->opens, key->bytes))
        return 1;
    key->opens_is_set = 1;
    return run(key, key->opens, nonce, ad, ad_len, message, text_len + key->tag_len, text_len);
}

static void destroy(void *self)
{
    struct key *key = self;
    lib.destroy(key->seals);
    lib.destroy(key->opens);
    free(key);
}

const struct peer PEER = {version, create, set_key, seal, open_, destroy, NULL};
