/* Intel's multi-buffer library: AES-GCM by its direct calls. Two releases can be loaded at once: all but four functions are reached
 * through the manager, so no two symbols meet. */
#include "peer.h"
#include <intel-ipsec-mb.h>

static IMB_MGR *manager;

static const char *version(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    __typeof__(alloc_mb_mgr) *alloc = dlsym(library, "alloc_mb_mgr");
    __typeof__(imb_get_version_str) *name = dlsym(library, "imb_get_version_str");
    /* The level that ours is lowered to. */
    const char *level = getenv("SEALWRIGHT_ISA"), *init_name = "init_mb_mgr_avx512";
    if (level && !strcmp(level, "avx2"))
        init_name = "init_mb_mgr_avx2";
    if (level && !strcmp(level, "sse"))
        init_name = "init_mb_mgr_sse";
    int lowered = level && (!strcmp(level, "avx2") || !strcmp(level, "sse"));
    void (*init)(IMB_MGR *) = dlsym(library, init_name);
    void (*init_best)(IMB_MGR *, IMB_ARCH *) = dlsym(library, "init_mb_mgr_auto");
    if (!alloc || !name || !init || !init_best)
        return NULL;
    if (!manager && !(manager = alloc(0)))
        return NULL;
    if (lowered)
        init(manager);
    else
        init_best(manager, NULL);
    return manager->gcm128_enc ? name() : NULL;
}

struct key {
    struct gcm_key_data keys;
    struct gcm_context_data context;
    aes_gcm_pre_t expand;
    aes_gcm_enc_dec_t seal, open;
};

static void *create(int algorithm)
{
    if (!manager || (algorithm != AES_128_GCM && algorithm != AES_256_GCM))
        return NULL;
    struct key *key = aligned_alloc(64, (sizeof *key + 63) / 64 * 64);
    if (!key)
        return NULL;
    key->expand = algorithm == AES_128_GCM ? manager->gcm128_pre : manager->gcm256_pre;
    key->seal = algorithm == AES_128_GCM ? manager->gcm128_enc : manager->gcm256_enc;
    key->open = algorithm == AES_128_GCM ? manager->gcm128_dec : manager->gcm256_dec;
    return key;
}

static int set_key(void *self, const uint8_t *bytes)
{
    struct key *key = self;
    key->expand(bytes, &key->keys);
    return 0;
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    key->seal(&key->keys, &key->context, message, message, text_len, nonce, ad, ad_len, message + text_len, 16);
    return 0;
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    uint8_t tag[16];
    key->open(&key->keys, &key->context, message, message, text_len, nonce, ad, ad_len, tag, 16);
    return differ(tag, message + text_len);
}

const struct peer PEER = {version, create, set_key, seal, open_, free};
