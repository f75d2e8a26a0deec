/* Intel's multi-buffer library: AES-GCM through its direct calls, AES-CBC as bursts of jobs. Two releases can be loaded at once: all
 * but four functions are called through the manager, so their symbols do not collide. */
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
    /* Use the same instruction-set level as Sealwright, if that is lowered. */
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
    /* Round keys of CBC, for both directions. */
    uint32_t encrypts[4 * 15] __attribute__((aligned(16))), decrypts[4 * 15] __attribute__((aligned(16)));
    IMB_JOB jobs[SIDE_BY_SIDE];
    size_t key_len;
    int plain;
};

static void *create(int algorithm)
{
    int gcm = algorithm == AES_128_GCM || algorithm == AES_256_GCM, cbc = algorithm == AES_128_CBC || algorithm == AES_256_CBC;
    if (!manager || (!gcm && !cbc))
        return NULL;
    size_t size = (sizeof(struct key) + 63) / 64 * 64;
    struct key *key = aligned_alloc(64, size);
    if (!key)
        return NULL;
    memset(key, 0, size);
    key->key_len = algorithm == AES_128_GCM || algorithm == AES_128_CBC ? 16 : 32;
    key->plain = cbc;
    return key;
}

static int set_key(void *self, const uint8_t *bytes)
{
    struct key *key = self;
    if (key->plain)
        (key->key_len == 16 ? manager->keyexp_128 : manager->keyexp_256)(bytes, key->encrypts, key->decrypts);
    else
        (key->key_len == 16 ? manager->gcm128_pre : manager->gcm256_pre)(bytes, &key->keys);
    return 0;
}

/* The maximum number of bytes in a job. */
enum { LONGEST = 65520 };

/* CBC of messages of the same length, in one direction; long messages take several jobs. */
static int chains(struct key *key, IMB_CIPHER_DIRECTION direction, const uint8_t *const *ivs, uint8_t *const *messages, size_t len,
                  int count)
{
    uint8_t now[SIDE_BY_SIDE][16], next[16];
    for (size_t at = 0; at < len; at += LONGEST) {
        size_t bytes = len - at < LONGEST ? len - at : LONGEST;
        for (int i = 0; i < count; i++) {
            IMB_JOB *job = &key->jobs[i];
            uint8_t *message = messages[i] + at;
            job->cipher_mode = IMB_CIPHER_CBC;
            job->cipher_direction = direction;
            job->chain_order = IMB_ORDER_CIPHER_HASH;
            job->hash_alg = IMB_AUTH_NULL;
            job->enc_keys = key->encrypts;
            job->dec_keys = key->decrypts;
            job->key_len_in_bytes = key->key_len;
            job->iv = at ? now[i] : ivs[i];
            job->iv_len_in_bytes = 16;
            job->src = job->dst = message;
            job->cipher_start_src_offset_in_bytes = 0;
            job->msg_len_to_cipher_in_bytes = bytes;
        }
        if (bytes < len && direction == IMB_DIR_DECRYPT)
            memcpy(next, messages[0] + at + bytes - 16, 16);
        uint32_t done = IMB_SUBMIT_CIPHER_BURST_NOCHECK(manager, key->jobs, (uint32_t)count, IMB_CIPHER_CBC, direction,
                                                        (IMB_KEY_SIZE_BYTES)key->key_len);
        if (done != (uint32_t)count)
            return 1;
        for (int i = 0; bytes < len && i < count; i++)
            memcpy(now[i], direction == IMB_DIR_DECRYPT ? next : messages[i] + at + bytes - 16, 16);
    }
    return 0;
}

static int seal(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    if (key->plain)
        return chains(key, IMB_DIR_ENCRYPT, &nonce, &message, text_len, 1);
    (key->key_len == 16 ? manager->gcm128_enc : manager->gcm256_enc)(&key->keys, &key->context, message, message, text_len, nonce, ad,
                                                                     ad_len, message + text_len, 16);
    return 0;
}

static int open_(void *self, const uint8_t *nonce, const uint8_t *ad, size_t ad_len, uint8_t *message, size_t text_len)
{
    struct key *key = self;
    uint8_t tag[16];
    if (key->plain)
        return chains(key, IMB_DIR_DECRYPT, &nonce, &message, text_len, 1);
    (key->key_len == 16 ? manager->gcm128_dec : manager->gcm256_dec)(&key->keys, &key->context, message, message, text_len, nonce, ad,
                                                                     ad_len, tag, 16);
    return differ(tag, message + text_len);
}

static int encrypt_many(void *self, const uint8_t *const *ivs, uint8_t *const *messages, size_t len, int count)
{
    struct key *key = self;
    return !key->plain || count > SIDE_BY_SIDE || chains(key, IMB_DIR_ENCRYPT, ivs, messages, len, count);
}

const struct peer PEER = {version, create, set_key, seal, open_, free, encrypt_many};
