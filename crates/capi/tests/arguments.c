/* Wrong arguments, and buffers that lie over each other: every call answers, and none touches what it must not. */
#include <sealwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

#define EXPECT(what, wanted)                                                                                           \
    do {                                                                                                               \
        int got_ = (what);                                                                                             \
        if (got_ != (wanted)) {                                                                                        \
            printf("line %d: %d (%s), not %d\n", __LINE__, got_, sealwright_error_text(got_), (wanted));               \
            wrong++;                                                                                                   \
        }                                                                                                              \
    } while (0)

static const uint8_t SECRET[32] = {1, 2, 3}, NONCE[12] = {9};

static void messages(const char *suite, size_t key_len)
{
    sealwright_key *key = NULL;
    EXPECT(sealwright_key_new(suite, SECRET, key_len, &key), SEALWRIGHT_OK);
    static uint8_t text[40000], room[40100], message[40100];
    for (size_t len = 0; len <= sizeof text; len = len < 300 ? len + 1 : len * 3) {
        for (size_t i = 0; i < len; i++)
            text[i] = (uint8_t)(i * 7 + len);
        memset(message, 0xee, sizeof message);
        EXPECT(sealwright_seal(key, NONCE, 12, NULL, 0, text, len, message), SEALWRIGHT_OK);
        EXPECT(message[len + 16], 0xee);
        /* In place, and shifted over itself by a few bytes in both directions. */
        for (int shift = -5; shift <= 5; shift += 5) {
            memcpy(room + 10, text, len);
            EXPECT(sealwright_seal(key, NONCE, 12, NULL, 0, room + 10, len, room + 10 + shift), SEALWRIGHT_OK);
            EXPECT(memcmp(room + 10 + shift, message, len + 16), 0);
            memcpy(room + 10, message, len + 16);
            EXPECT(sealwright_open(key, NONCE, 12, NULL, 0, room + 10, len + 16, room + 10 + shift), SEALWRIGHT_OK);
            EXPECT(memcmp(room + 10 + shift, text, len), 0);
        }
        /* What is forged leaves zeros. */
        memcpy(room, message, len + 16);
        room[len + 15] ^= 1;
        EXPECT(sealwright_open(key, NONCE, 12, NULL, 0, room, len + 16, room), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
        for (size_t i = 0; i < len; i++)
            if (room[i] != 0) {
                EXPECT(room[i], 0);
                break;
            }
    }
    EXPECT(sealwright_open(key, NONCE, 12, NULL, 0, message, 15, room), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(sealwright_open(key, NONCE, 12, NULL, 0, NULL, 0, NULL), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(sealwright_seal(key, NONCE, 11, NULL, 0, text, 5, message), SEALWRIGHT_ERROR_NONCE_LENGTH);
    /* A nonce of a wrong length is no forgery, and writes nothing. */
    memset(room, 0xee, sizeof room);
    static const uint8_t longest[64] = {9};
    for (size_t len = 0; len <= sizeof longest; len++)
        if (len != SEALWRIGHT_NONCE_LEN) {
            EXPECT(sealwright_open(key, longest, len, NULL, 0, message, 40, room), SEALWRIGHT_ERROR_NONCE_LENGTH);
            EXPECT(room[0], 0xee);
        }
    EXPECT(sealwright_open(key, NULL, 0, NULL, 0, message, 40, room), SEALWRIGHT_ERROR_NONCE_LENGTH);
    EXPECT(sealwright_seal(key, NULL, 12, NULL, 0, text, 5, message), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal(key, NONCE, 12, NULL, 3, text, 5, message), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal(key, NONCE, 12, NULL, 0, NULL, 5, message), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal(key, NONCE, 12, NULL, 0, text, SIZE_MAX, message), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal(key, NONCE, 12, NULL, 0, text, SIZE_MAX - 16, message), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal(NULL, NONCE, 12, NULL, 0, text, 5, message), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal_batch(key, NULL, 0), SEALWRIGHT_OK);
    EXPECT(sealwright_seal_batch(key, NULL, 1), SEALWRIGHT_ERROR_ARGUMENT);
    sealwright_key_free(key);
}

static int fails(void *state, const uint8_t *bytes, size_t len)
{
    (void)state, (void)bytes, (void)len;
    return 5;
}

static int fails_once(void *state, const uint8_t *bytes, size_t len)
{
    (void)bytes, (void)len;
    return ++*(int *)state == 2;
}

static int lies(void *state, uint8_t *bytes, size_t len, size_t *got)
{
    (void)state, (void)bytes;
    *got = len + 1;
    return 0;
}

static int ends(void *state, uint8_t *bytes, size_t len, size_t *got)
{
    (void)state, (void)bytes, (void)len;
    *got = 0;
    return 0;
}

static void streams(void)
{
    sealwright_sealer *sealer = NULL;
    sealwright_opener *opener = NULL;
    const char *suite = "aes-256-gcm";
    EXPECT(sealwright_sealer_new(suite, SECRET, 31, NULL, 0, fails, NULL, &sealer), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, NULL, NULL, &sealer), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, fails, NULL, &sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, SECRET, 32), SEALWRIGHT_ERROR_IO);
    EXPECT(strstr(sealwright_last_error(), "returned 5") != NULL, 1);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_ERROR_ENDED);
    sealwright_sealer_free(sealer);
    /* A function that fails once: the text went in part, and must not come twice, nor count as whole. */
    static uint8_t text[200000];
    int calls = 0;
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, fails_once, &calls, &sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, text, sizeof text), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_sealer_write(sealer, text, sizeof text), SEALWRIGHT_ERROR_ENDED);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_ERROR_ENDED);
    sealwright_sealer_free(sealer);
    /* Nothing is lost where only the end failed. */
    calls = 0;
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, fails_once, &calls, &sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, text, 5), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_OK);
    sealwright_sealer_free(sealer);
    EXPECT(sealwright_opener_new(suite, SECRET, 31, NULL, 0, ends, NULL, &opener), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, ends, NULL, &opener), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, lies, NULL, &opener), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_sealer_write(NULL, SECRET, 32), SEALWRIGHT_ERROR_ARGUMENT);
}

static void files(void)
{
    sealwright_file_key *key = NULL;
    sealwright_reader *reader = NULL;
    EXPECT(sealwright_file_key_passphrase(NULL, 0, &key), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_file_key_read("/nowhere", &key), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_file_key_raw(SECRET, 32, &key), SEALWRIGHT_OK);
    EXPECT(sealwright_file_open("/nowhere", "/tmp/never", key, NULL, 0, 0), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_file_open(NULL, "/tmp/never", key, NULL, 0, 0), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_file_seal("/dev/null", "/tmp", "aes-256-gcm", key, NULL, 0, 0), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_file_seal("/dev/null", "/tmp/never", "rot-13", key, NULL, 0, 0), SEALWRIGHT_ERROR_SUITE);
    /* Flags that no call knows, and armor, which opening recognises. */
    for (int bit = 0; bit < 32; bit++) {
        uint32_t flag = (uint32_t)1 << bit;
        if (flag != SEALWRIGHT_FORCE)
            EXPECT(sealwright_file_open("/nowhere", "/tmp/never", key, NULL, 0, flag | SEALWRIGHT_FORCE),
                   SEALWRIGHT_ERROR_ARGUMENT);
        if (flag != SEALWRIGHT_FORCE && flag != SEALWRIGHT_ARMOR)
            EXPECT(sealwright_file_seal("/nowhere", "/tmp/never", "aes-256-gcm", key, NULL, 0, flag),
                   SEALWRIGHT_ERROR_ARGUMENT);
    }
    EXPECT(sealwright_file_open("/nowhere", "/tmp/never", key, NULL, 0, SEALWRIGHT_FORCE), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_file_seal("/nowhere", "/tmp/never", "aes-256-gcm", key, NULL, 0, 3), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_reader_new("/dev/null", key, NULL, 0, &reader), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(sealwright_reader_new("/dev/null", NULL, NULL, 0, &reader), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT((int)sealwright_reader_size(NULL), 0);
    sealwright_file_key_free(key);
}

int main(void)
{
    sealwright_key *key = NULL;
    EXPECT(sealwright_last_error() == NULL, 1);
    EXPECT(sealwright_key_new("rot-13", SECRET, 32, &key), SEALWRIGHT_ERROR_SUITE);
    EXPECT(strstr(sealwright_last_error(), "aes-256-gcm") != NULL, 1);
    EXPECT(sealwright_key_new("aes-256-gcm", SECRET, 31, &key), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(sealwright_key_new("aes-256-gcm", NULL, 32, &key), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_key_new(NULL, SECRET, 32, &key), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_key_new("\xff", SECRET, 32, &key), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_key_new("aes-256-gcm", SECRET, 32, NULL), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(key == NULL, 1);
    EXPECT(strcmp(sealwright_error_text(12345), "unknown error"), 0);
    sealwright_key_free(NULL);
    sealwright_sealer_free(NULL);
    sealwright_opener_free(NULL);
    sealwright_file_key_free(NULL);
    sealwright_reader_free(NULL);
    messages("aes-256-gcm", 32);
    messages("aes-128-ocb", 16);
    streams();
    files();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
