/* Messages with random nonces, for `arguments.c`. */

static void random_nonces(void)
{
    static const uint8_t text[] = "attack at dawn", ad[] = "header";
    enum { LEN = sizeof text, WHOLE = sizeof text + SEALWRIGHT_RANDOM_OVERHEAD };
    sealwright_random_nonce_key *key = NULL;
    uint8_t message[WHOLE], again[WHOLE], opened[WHOLE], zeros[LEN] = {0};
    for (size_t len = 0; len <= 64; len += 16)
        if (len != 32)
            EXPECT(sealwright_random_nonce_key_new(SECRET, len, &key) == SEALWRIGHT_ERROR_KEY_LENGTH && key == NULL, 1);
    EXPECT(strstr(sealwright_last_error(), "must have 32") != NULL, 1);
    EXPECT(sealwright_random_nonce_key_new(NULL, 32, &key), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_random_nonce_key_new(SECRET, 32, NULL), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_random_nonce_key_new(SECRET, 32, &key), SEALWRIGHT_OK);

    /* Two messages of one text have different nonces, and each opens with its own header only. */
    EXPECT(sealwright_seal_random(key, ad, sizeof ad, text, LEN, message), SEALWRIGHT_OK);
    EXPECT(sealwright_seal_random(key, ad, sizeof ad, text, LEN, again), SEALWRIGHT_OK);
    EXPECT(memcmp(message, again, 24) != 0 && memcmp(message + 24, again + 24, LEN) != 0, 1);
    EXPECT(sealwright_open_random(key, ad, sizeof ad, message, WHOLE, opened), SEALWRIGHT_OK);
    EXPECT(memcmp(opened, text, LEN), 0);
    EXPECT(sealwright_open_random(key, ad, sizeof ad - 1, message, WHOLE, opened), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
    EXPECT(memcmp(opened, zeros, LEN), 0);
    for (size_t at = 0; at < WHOLE; at++) {
        memset(opened, 'x', sizeof opened);
        message[at] ^= 1;
        EXPECT(sealwright_open_random(key, ad, sizeof ad, message, WHOLE, opened), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
        EXPECT(memcmp(opened, zeros, LEN) == 0 && opened[LEN] == 'x', 1);
        message[at] ^= 1;
    }
    for (size_t len = 0; len < SEALWRIGHT_RANDOM_OVERHEAD; len++) {
        opened[0] = 'x';
        EXPECT(sealwright_open_random(key, ad, sizeof ad, message, len, opened), SEALWRIGHT_ERROR_NOT_AUTHENTIC);
        EXPECT(opened[0], 'x');
    }

    /* An empty text without a header. */
    EXPECT(sealwright_seal_random(key, NULL, 0, NULL, 0, again), SEALWRIGHT_OK);
    EXPECT(sealwright_open_random(key, NULL, 0, again, SEALWRIGHT_RANDOM_OVERHEAD, NULL), SEALWRIGHT_OK);

    /* Outputs over inputs, and pointers that must not be NULL. */
    EXPECT(sealwright_seal_random(key, ad, sizeof ad, opened + 20, LEN, opened), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal_random(key, opened + 20, 3, text, LEN, opened), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_open_random(key, ad, sizeof ad, message, WHOLE, message + 24), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_open_random(key, opened + 3, 3, message, WHOLE, opened), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal_random(NULL, NULL, 0, text, LEN, again), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal_random(key, NULL, 3, text, LEN, again), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal_random(key, NULL, 0, NULL, LEN, again), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal_random(key, NULL, 0, text, LEN, NULL), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_seal_random(key, NULL, 0, text, (size_t)-1, again), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_open_random(NULL, NULL, 0, message, WHOLE, opened), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_open_random(key, NULL, 0, NULL, WHOLE, opened), SEALWRIGHT_ERROR_ARGUMENT);
    EXPECT(sealwright_open_random(key, NULL, 0, message, WHOLE, NULL), SEALWRIGHT_ERROR_ARGUMENT);
    sealwright_random_nonce_key_free(key);
}
