/* Wrong arguments, and buffers that lie over each other: every call answers, and none touches what it must not. */
#define _POSIX_C_SOURCE 200809L /* chmod */
#include <sealwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    /* A batch that is refused leaves no message with the error of an earlier one. */
    sealwright_message two[2] = {{NONCE, NULL, 0, text, 5, message, 0}, {NONCE, NULL, 0, text, 5, message, 0}};
    EXPECT(sealwright_seal_batch(NULL, two, 2), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(two[0].error == SEALWRIGHT_ERROR_ARGUMENT && two[1].error == SEALWRIGHT_ERROR_ARGUMENT, 1);
    two[0].error = two[1].error = 0;
    EXPECT(sealwright_open_batch(NULL, two, 2), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(two[0].error == SEALWRIGHT_ERROR_ARGUMENT && two[1].error == SEALWRIGHT_ERROR_ARGUMENT, 1);
    EXPECT(sealwright_seal_batch(key, NULL, 0), SEALWRIGHT_OK);
    EXPECT(sealwright_seal_batch(key, NULL, 1), SEALWRIGHT_ERROR_ARGUMENT);
    sealwright_key_free(key);
}

/* Associated data longer than any suite takes; their length is refused before they are read, so that none need be there. Nothing of the text
   is left where the message was to be; a text that is already there stays. */
static void refused_lengths(const char *suite, size_t key_len)
{
    if (SIZE_MAX >> 62 == 0)
        return;
    /* Behind all else, so that the output does not lie over them. */
    const uint8_t *ad = (const uint8_t *)(SIZE_MAX >> 16);
    const size_t ad_len = SIZE_MAX >> 2;
    static const uint8_t zeros[56];
    sealwright_key *key = NULL;
    EXPECT(sealwright_key_new(suite, SECRET, key_len, &key), SEALWRIGHT_OK);
    for (size_t way = 0; way < 3; way++) {
        /* Elsewhere, over a part of the text, in place. */
        static const size_t places[] = {60, 7, 0};
        uint8_t room[120], *message = room + places[way];
        sealwright_message one = {NONCE, ad, ad_len, room, 40, message, 0};
        for (int batch = 0; batch < 2; batch++) {
            memset(room, 'x', sizeof room);
            EXPECT(batch ? sealwright_seal_batch(key, &one, 1) : sealwright_seal(key, NONCE, 12, ad, ad_len, room, 40, message),
                   SEALWRIGHT_ERROR_TOO_LONG);
            EXPECT(!batch || one.error == SEALWRIGHT_ERROR_TOO_LONG, 1);
            EXPECT(memcmp(message, zeros, 56) == 0, way != 2);
            EXPECT(message[0] == (way == 2 ? 'x' : 0) && message[56] == 'x', 1);
        }
    }
    sealwright_key_free(key);
}

/* An output over the nonce, which serves as it was; and over the associated data, which is refused before anything is written. */
static void overlaps(const char *suite, size_t key_len)
{
    enum { LEN = 40 };
    sealwright_key *key = NULL;
    EXPECT(sealwright_key_new(suite, SECRET, key_len, &key), SEALWRIGHT_OK);
    uint8_t nonce[12], ad[5] = {7, 8, 9}, text[LEN], message[LEN + 16], room[120];
    for (int i = 0; i < 12; i++)
        nonce[i] = (uint8_t)(i + 1);
    memset(text, 'x', LEN);
    EXPECT(sealwright_seal(key, nonce, 12, ad, 5, text, LEN, message), SEALWRIGHT_OK);
    for (size_t at = 0; at <= 120 - LEN - 16; at++) {
        for (int opening = 0; opening < 2; opening++) {
            size_t len = opening ? LEN : LEN + 16, in = opening ? LEN + 16 : LEN;
            /* The output is at 20; the nonce before it, in it, or behind it. */
            memset(room, 0xee, sizeof room);
            memcpy(room + at, nonce, 12);
            sealwright_message one = {room + at, ad, 5, opening ? message : text, in, room + 20, 99};
            int error = opening ? sealwright_open(key, room + at, 12, ad, 5, message, in, room + 20)
                                : sealwright_seal(key, room + at, 12, ad, 5, text, in, room + 20);
            EXPECT(error, SEALWRIGHT_OK);
            EXPECT(memcmp(room + 20, opening ? text : message, len), 0);
            memcpy(room + at, nonce, 12);
            EXPECT(opening ? sealwright_open_batch(key, &one, 1) : sealwright_seal_batch(key, &one, 1), SEALWRIGHT_OK);
            EXPECT(memcmp(room + 20, opening ? text : message, len), 0);
            /* The associated data likewise. */
            memset(room, 0xee, sizeof room);
            memcpy(room + at, ad, 5);
            int wanted = at + 5 > 20 && at < 20 + len ? SEALWRIGHT_ERROR_ARGUMENT : SEALWRIGHT_OK;
            error = opening ? sealwright_open(key, nonce, 12, room + at, 5, message, in, room + 20)
                            : sealwright_seal(key, nonce, 12, room + at, 5, text, in, room + 20);
            EXPECT(error, wanted);
            EXPECT(memcmp(room + at, ad, 5), 0);
            one.nonce = nonce, one.ad = room + at;
            EXPECT(opening ? sealwright_open_batch(key, &one, 1) : sealwright_seal_batch(key, &one, 1), wanted);
            EXPECT(one.error, wanted);
            /* None of no length is anywhere. */
            EXPECT(sealwright_seal(key, nonce, 12, room + 30, 0, text, LEN, room + 20), SEALWRIGHT_OK);
        }
    }
    sealwright_key_free(key);
}

/* A nonce that comes twice in a batch: nothing is sealed. To open, it may. */
static void batches(const char *suite, size_t key_len)
{
    enum { COUNT = 50 };
    static uint8_t nonces[COUNT][12], rooms[COUNT][20];
    sealwright_message messages[COUNT];
    sealwright_key *key = NULL;
    EXPECT(sealwright_key_new(suite, SECRET, key_len, &key), SEALWRIGHT_OK);
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < COUNT; i++) {
            nonces[i][3] = (uint8_t)(i * 7);
            memset(rooms[i], 'x', 20);
            messages[i] = (sealwright_message){nonces[i], NULL, 0, rooms[i], 4, rooms[i], 99};
        }
        if (way == 1)
            nonces[41][3] = nonces[5][3];
        if (way == 2)
            messages[41].nonce = messages[5].nonce;
        EXPECT(sealwright_seal_batch(key, messages, COUNT), way == 0 ? SEALWRIGHT_OK : SEALWRIGHT_ERROR_ARGUMENT);
        for (int i = 0; i < COUNT; i++) {
            EXPECT(messages[i].error, way == 0 ? SEALWRIGHT_OK : SEALWRIGHT_ERROR_ARGUMENT);
            EXPECT(memcmp(rooms[i], "xxxx", 4) == 0, way != 0);
        }
        if (way > 0)
            EXPECT(strstr(sealwright_last_error(), "same nonce") != NULL, 1);
    }
    /* Nonces that are not there are not the same. */
    messages[5].nonce = messages[41].nonce = NULL;
    EXPECT(sealwright_seal_batch(key, messages, COUNT), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(messages[5].error, SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(messages[6].error, SEALWRIGHT_OK);
    /* Of a batch its first error is told, number and text. */
    messages[0].ad_len = 1;
    EXPECT(sealwright_open_batch(key, messages, COUNT), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(messages[COUNT - 1].error, SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(strstr(sealwright_last_error(), "associated data") != NULL, 1);
    /* An output over the nonce of a later message. */
    nonces[1][3] = 77;
    memset(rooms[0], 'x', 20);
    memset(rooms[2], 'x', 20);
    memcpy(rooms[0] + 8, nonces[1], 12);
    messages[0] = (sealwright_message){nonces[0], NULL, 0, rooms[0], 4, rooms[0], 99};
    messages[1] = (sealwright_message){rooms[0] + 8, NULL, 0, rooms[2], 4, rooms[2], 99};
    EXPECT(sealwright_seal_batch(key, messages, 2), SEALWRIGHT_OK);
    for (int i = 0; i < 2; i++)
        messages[i] = (sealwright_message){nonces[1], NULL, 0, rooms[2], 20, rooms[i + 5], 99};
    EXPECT(sealwright_open_batch(key, messages, 2), SEALWRIGHT_OK);
    EXPECT(memcmp(rooms[5], "xxxx", 4) == 0 && memcmp(rooms[6], "xxxx", 4) == 0, 1);
    sealwright_key_free(key);
}

#include "streams.h"

static void files(void)
{
    sealwright_secret *key = NULL;
    sealwright_reader *reader = NULL;
    EXPECT(sealwright_secret_passphrase(NULL, 0, &key), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_secret_read("/nowhere", &key), SEALWRIGHT_ERROR_IO);
    for (size_t len = 0; len <= 64; len++) {
        static const uint8_t longest[64] = {1};
        int right = len == 16 || len == 32;
        EXPECT(sealwright_secret_raw(longest, len, &key), right ? SEALWRIGHT_OK : SEALWRIGHT_ERROR_KEY_LENGTH);
        EXPECT((key != NULL) == right && (right || strstr(sealwright_last_error(), "16 or 32") != NULL), 1);
        sealwright_secret_free(key);
    }
    EXPECT(sealwright_secret_raw(NULL, 0, &key), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(sealwright_secret_raw(SECRET, 32, &key), SEALWRIGHT_OK);
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
    sealwright_secret_free(key);
}

/* The library and the header are of one version. */
static void versions(void)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", SEALWRIGHT_VERSION_MAJOR, SEALWRIGHT_VERSION_MINOR, SEALWRIGHT_VERSION_PATCH);
    EXPECT(strcmp(sealwright_version(), text), 0);
}

/* A call that fails leaves no object, whatever was in its place. */
static void no_objects(void)
{
    uint8_t other[8];
    sealwright_key *key = (void *)other;
    sealwright_sealer *sealer = (void *)other;
    sealwright_opener *opener = (void *)other;
    sealwright_reader *reader = (void *)other;
    sealwright_secret *keys[3] = {(void *)other, (void *)other, (void *)other};
    EXPECT(sealwright_key_new("rot-13", SECRET, 32, &key), SEALWRIGHT_ERROR_SUITE);
    EXPECT(sealwright_sealer_new("rot-13", SECRET, 32, NULL, 0, fails, NULL, &sealer), SEALWRIGHT_ERROR_SUITE);
    EXPECT(sealwright_opener_new("rot-13", SECRET, 32, NULL, 0, ends, NULL, &opener), SEALWRIGHT_ERROR_SUITE);
    EXPECT(sealwright_reader_new("/dev/null", NULL, NULL, 0, &reader), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_secret_raw(NULL, 32, &keys[0]), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_secret_passphrase(NULL, 0, &keys[1]), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_secret_read("/nowhere", &keys[2]), SEALWRIGHT_ERROR_IO);
    EXPECT(key == NULL && sealer == NULL && opener == NULL && reader == NULL, 1);
    EXPECT(keys[0] == NULL && keys[1] == NULL && keys[2] == NULL, 1);
}

/* Puts a byte to a place of a file; returns the one that was there. */
static int put(const char *path, long at, int byte)
{
    FILE *file = fopen(path, "r+b");
    int was = fseek(file, at, SEEK_SET) == 0 ? fgetc(file) : EOF;
    fseek(file, at, SEEK_SET), fputc(byte, file), fclose(file);
    return was;
}

/* The bytes of a path are the system's, and need be no UTF-8. */
static void paths(const char *scratch)
{
    char path[4096];
    sealwright_secret *key = NULL;
    sealwright_reader *reader = NULL;
    snprintf(path, sizeof path, "%s/caf\xe9.seal", scratch);
    EXPECT(sealwright_secret_raw(SECRET, 32, &key), SEALWRIGHT_OK);
    EXPECT(sealwright_file_seal("/dev/null", path, "aes-256-gcm", key, NULL, 0, 0), SEALWRIGHT_OK);
    EXPECT(sealwright_reader_new(path, key, NULL, 0, &reader), SEALWRIGHT_OK);
    EXPECT(sealwright_file_open(path, path, key, NULL, 0, 0), SEALWRIGHT_ERROR_EXISTS);
    EXPECT(strstr(sealwright_last_error(), "(hint: SEALWRIGHT_FORCE replaces it)") != NULL, 1);
    EXPECT(sealwright_file_open(path, "/dev/null", key, NULL, 0, 0), SEALWRIGHT_OK);
    size_t got = 77;
    EXPECT(sealwright_reader_read(reader, 0, NULL, 5, &got) == SEALWRIGHT_ERROR_ARGUMENT && got == 0, 1);
    sealwright_reader_free(reader);
    /* A version, suites, a key source, a content and a signature that this library lacks: such a file may be genuine. */
    static const unsigned char lacks[][2] = {{8, 99}, {9, 29}, {9, 200}, {10, 99}, {11, 0x3f}, {11, 0x40}, {0, 'x'}};
    for (size_t at = 0; at < sizeof lacks / sizeof *lacks; at++) {
        int wanted = lacks[at][0] == 0 ? SEALWRIGHT_ERROR_NOT_AUTHENTIC : SEALWRIGHT_ERROR_UNSUPPORTED;
        int was = put(path, lacks[at][0], lacks[at][1]);
        EXPECT(sealwright_file_open(path, "/dev/null", key, NULL, 0, 0), wanted);
        EXPECT(sealwright_reader_new(path, key, NULL, 0, &reader), wanted);
        EXPECT((strstr(sealwright_last_error(), "not authentic: ") != NULL) == (lacks[at][0] == 0), 1);
        EXPECT(strstr(sealwright_last_error(), "(hint: ") != NULL, 1);
        put(path, lacks[at][0], was);
    }
    EXPECT(remove(path), 0);
    /* An armored file is opened in order only. */
    EXPECT(sealwright_file_seal("/dev/null", path, "aes-256-gcm", key, NULL, 0, SEALWRIGHT_ARMOR), SEALWRIGHT_OK);
    EXPECT(sealwright_file_open(path, "/dev/null", key, NULL, 0, 0), SEALWRIGHT_OK);
    EXPECT(sealwright_reader_new(path, key, NULL, 0, &reader), SEALWRIGHT_ERROR_UNSUPPORTED);
    sealwright_secret_free(key);
    /* What is no key file has another length; a document that others may read is none either. */
    EXPECT(sealwright_secret_read(path, &key), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(remove(path), 0);
    static const size_t lengths[] = {0, 15, 17, 33, 63};
    for (size_t at = 0; at < sizeof lengths / sizeof *lengths; at++) {
        FILE *file = fopen(path, "wb");
        for (size_t done = 0; done < lengths[at]; done++)
            fputc(0x80, file);
        fclose(file);
        EXPECT(sealwright_secret_read(path, &key), SEALWRIGHT_ERROR_KEY_LENGTH);
        EXPECT(remove(path), 0);
    }
}

#include "named.h"
#include "random.h"

int main(int count, char **words)
{
    sealwright_key *key = NULL;
    if (count != 2) {
        printf("arguments FOLDER\n");
        return 2;
    }
    versions();
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
    sealwright_secret_free(NULL);
    sealwright_random_nonce_key_free(NULL);
    sealwright_reader_free(NULL);
    messages("aes-256-gcm", 32);
    messages("aes-128-ocb", 16);
    refused_lengths("aes-256-gcm", 32);
    refused_lengths("serpent-256-ocb", 32);
    random_nonces();
    overlaps("aes-256-gcm", 32);
    overlaps("aes-128-ocb", 16);
    batches("aes-256-gcm", 32);
    batches("serpent-256-ocb", 32);
    streams();
    ends_that_fail();
    used_from_within();
    files();
    no_objects();
    paths(words[1]);
    named(words[1]);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
