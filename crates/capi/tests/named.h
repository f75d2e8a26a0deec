/* Errors of `arguments.c` that the header names for each function, as far as the other parts do not make them. */

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, len, file);
    fclose(file);
}

static void named_for_messages(void)
{
    sealwright_key *key = NULL;
    uint8_t room[64];
    EXPECT(sealwright_key_new("aes-128-gcm", SECRET, 16, &key), SEALWRIGHT_OK);
    for (size_t len = 0; len <= SEALWRIGHT_TAG_LEN; len++) {
        memset(room, 'x', sizeof room);
        EXPECT(sealwright_open(key, NONCE, 12, NULL, 0, SECRET, len, room), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
        EXPECT(room[0], 'x');
    }
    sealwright_key_free(key);
    EXPECT(sealwright_key_new("aes-128-gcm", SECRET, 32, &key), SEALWRIGHT_ERROR_KEY_LENGTH);
}

static void named_for_key_files(const char *path)
{
    sealwright_secret *key = NULL;
    write_file(path, SECRET, 32);
    EXPECT(chmod(path, 0644), 0);
    EXPECT(sealwright_secret_read(path, &key), SEALWRIGHT_ERROR_OTHER);
    EXPECT(chmod(path, 0600), 0);
    EXPECT(sealwright_secret_read(path, &key), SEALWRIGHT_OK);
    sealwright_secret_free(key);
    EXPECT(remove(path), 0);
    /* A key where its path belongs. */
    EXPECT(sealwright_secret_read("000102030405060708090a0b0c0d0e0f", &key), SEALWRIGHT_ERROR_ARGUMENT);
}

/* The first 16 KiB of the text and what follows are in two chunks, of which the second is changed. */
static void named_for_files(const char *path, const char *other)
{
    static uint8_t text[40000], room[40000];
    sealwright_secret *key = NULL, *wrong_key = NULL, *short_key = NULL, *passphrase = NULL;
    sealwright_reader *reader = NULL;
    size_t got = 0;
    const char *suite = "aes-256-gcm";
    EXPECT(sealwright_secret_raw(SECRET, 32, &key), SEALWRIGHT_OK);
    EXPECT(sealwright_secret_raw(text, 32, &wrong_key), SEALWRIGHT_OK);
    EXPECT(sealwright_secret_raw(SECRET, 16, &short_key), SEALWRIGHT_OK);
    write_file(other, text, sizeof text);
    EXPECT(sealwright_file_seal(other, path, suite, short_key, NULL, 0, 0), SEALWRIGHT_ERROR_KEY_LENGTH);
    EXPECT(sealwright_file_seal(other, other, suite, key, NULL, 0, SEALWRIGHT_FORCE), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_file_seal(other, path, suite, key, SECRET, 5, 0), SEALWRIGHT_OK);
    EXPECT(sealwright_file_seal(other, path, suite, key, SECRET, 5, 0), SEALWRIGHT_ERROR_EXISTS);
    EXPECT(sealwright_file_open(path, path, key, SECRET, 5, SEALWRIGHT_FORCE), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_file_open(path, "/dev/null", wrong_key, SECRET, 5, 0), SEALWRIGHT_ERROR_WRONG_KEY);
    EXPECT(sealwright_file_open(path, "/dev/null", short_key, SECRET, 5, 0), SEALWRIGHT_ERROR_WRONG_KEY);
    EXPECT(sealwright_file_open(path, "/dev/null", key, SECRET, 4, 0), SEALWRIGHT_ERROR_WRONG_KEY);
    EXPECT(sealwright_secret_passphrase(SECRET, 5, &passphrase), SEALWRIGHT_OK);
    EXPECT(sealwright_file_open(path, "/dev/null", passphrase, SECRET, 5, 0), SEALWRIGHT_ERROR_WRONG_KEY);
    EXPECT(strstr(sealwright_last_error(), "use sealwright_secret_raw") != NULL, 1);
    sealwright_secret_free(passphrase);
    EXPECT(sealwright_reader_new(path, wrong_key, SECRET, 5, &reader), SEALWRIGHT_ERROR_WRONG_KEY);
    put(path, 20000, put(path, 20000, 0) ^ 1);
    EXPECT(sealwright_file_open(path, "/dev/null", key, SECRET, 5, 0), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(sealwright_reader_new(path, key, SECRET, 5, &reader), SEALWRIGHT_OK);
    EXPECT(sealwright_reader_read(reader, 0, room, sizeof room, &got), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT((int)got, 16384);
    EXPECT(sealwright_reader_read(reader, 39000, room, sizeof room, &got) == SEALWRIGHT_OK && got == 1000, 1);
    sealwright_reader_free(reader);
    sealwright_secret_free(key);
    sealwright_secret_free(wrong_key);
    sealwright_secret_free(short_key);
    EXPECT(remove(path) == 0 && remove(other) == 0, 1);
}

static void named_for_streams(void)
{
    struct kept kept = {{0}, 0, 0, 0};
    sealwright_sealer *sealer = NULL;
    sealwright_opener *opener = NULL;
    uint8_t room[9];
    size_t got = 0;
    const char *suite = "aes-256-gcm";
    EXPECT(sealwright_sealer_new(suite, SECRET, 32, NULL, 0, keeps, &kept, &sealer) == SEALWRIGHT_OK && kept.len == 0, 1);
    EXPECT(sealwright_sealer_finish(sealer), SEALWRIGHT_OK);
    EXPECT(sealwright_sealer_write(sealer, SECRET, 1), SEALWRIGHT_ERROR_ENDED);
    sealwright_sealer_free(sealer);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, SECRET, 1, gives, &kept, &opener), SEALWRIGHT_ERROR_WRONG_KEY);
    kept.at = 0;
    EXPECT(sealwright_opener_new("aes-256-ocb", SECRET, 32, NULL, 0, gives, &kept, &opener), SEALWRIGHT_ERROR_WRONG_KEY);
    kept.at = 0;
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, lies, NULL, &opener), SEALWRIGHT_ERROR_IO);
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, ends, NULL, &opener), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    kept.len--;
    EXPECT(sealwright_opener_new(suite, SECRET, 32, NULL, 0, gives, &kept, &opener), SEALWRIGHT_OK);
    for (int times = 0; times < 2; times++)
        EXPECT(sealwright_opener_read(opener, room, sizeof room, &got), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT((int)got, 0);
    sealwright_opener_free(opener);
}

static void named(const char *scratch)
{
    char path[4096], other[4096];
    snprintf(path, sizeof path, "%s/named.seal", scratch);
    snprintf(other, sizeof other, "%s/named", scratch);
    named_for_messages();
    named_for_key_files(path);
    named_for_files(path, other);
    named_for_streams();
}
