/* The functions of a shim. `struct peer` must have the layout of `Table` in src/lib.rs. Nonces have 12 bytes and tags 16; the tag follows
 * the text. CBC and counter mode have neither tag nor associated data; their IVs and counters have 16 bytes. Functions return 0 on success. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    AES_128_GCM,
    AES_256_GCM,
    AES_128_OCB,
    AES_256_OCB,
    SERPENT_256_GCM,
    SERPENT_256_OCB,
    AES_128_GCM_SIV,
    AES_256_GCM_SIV,
    AES_128_CBC,
    AES_256_CBC,
    SERPENT_256_CTR,
    CHACHA20_POLY1305
};

/* The maximum number of messages for `encrypt_many`. */
enum { SIDE_BY_SIDE = 16 };

struct peer {
    /* Loads the library. Returns its version, or NULL if it cannot be loaded. */
    const char *(*version)(void);
    /* Allocates a key, which must then be set. Returns NULL if the library lacks the algorithm. */
    void *(*create)(int algorithm);
    int (*set_key)(void *self, const uint8_t *key);
    int (*seal)(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len);
    int (*open)(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len);
    void (*destroy)(void *self);
    /* CBC of several messages of the same length (whole blocks) under one key, each with its IV. NULL if the library lacks this. */
    int (*encrypt_many)(void *self, const uint8_t *const *ivs, uint8_t *const *messages, size_t len, int count);
};

/* Whether two tags differ. */
static inline int differ(const uint8_t *a, const uint8_t *b)
{
    uint64_t x[2], y[2];
    memcpy(x, a, 16);
    memcpy(y, b, 16);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) != 0;
}
