/* Messages: sealed, opened, forged, and many in one call. */
#include <sealwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if a call failed. */
static void must(int error)
{
    if (error != SEALWRIGHT_OK) {
        fprintf(stderr, "%s: %s\n", sealwright_error_text(error), sealwright_last_error());
        exit(1);
    }
}

int main(void)
{
    /* 32 random bytes that both sides know; here, to show the same output each time, they are not random. */
    uint8_t secret[32], nonce[SEALWRIGHT_NONCE_LEN] = {0};
    for (size_t i = 0; i < sizeof secret; i++)
        secret[i] = (uint8_t)i;

    sealwright_key *key;
    must(sealwright_key_new("aes-256-gcm", secret, sizeof secret, &key));

    const char text[] = "attack at dawn", header[] = "header";
    uint8_t message[sizeof text + SEALWRIGHT_TAG_LEN], opened[sizeof text];
    must(sealwright_seal(key, nonce, sizeof nonce, (const uint8_t *)header, sizeof header, (const uint8_t *)text,
                         sizeof text, message));
    must(sealwright_open(key, nonce, sizeof nonce, (const uint8_t *)header, sizeof header, message, sizeof message,
                         opened));
    printf("opened: %s\n", (const char *)opened);

    /* A changed message is refused, and its text is not given out. */
    message[3] ^= 1;
    int error = sealwright_open(key, nonce, sizeof nonce, (const uint8_t *)header, sizeof header, message,
                                sizeof message, opened);
    printf("forged: %d, %s\n", error, sealwright_error_text(error));

    /* Many messages, each in its own buffer, in place. The nonces are counted: none may serve twice under a key. */
    enum { COUNT = 3 };
    uint8_t packets[COUNT][64 + SEALWRIGHT_TAG_LEN], nonces[COUNT][SEALWRIGHT_NONCE_LEN] = {{0}};
    sealwright_message batch[COUNT];
    memset(packets, 'x', sizeof packets);
    memset(batch, 0, sizeof batch);
    for (int i = 0; i < COUNT; i++) {
        nonces[i][SEALWRIGHT_NONCE_LEN - 1] = (uint8_t)(i + 1);
        batch[i].nonce = nonces[i];
        batch[i].input = batch[i].output = packets[i];
        batch[i].input_len = 64;
    }
    must(sealwright_seal_batch(key, batch, COUNT));
    packets[1][0] ^= 1;
    for (int i = 0; i < COUNT; i++)
        batch[i].input_len = sizeof packets[i];
    error = sealwright_open_batch(key, batch, COUNT);
    printf("batch: %d, then %d %d %d\n", error, batch[0].error, batch[1].error, batch[2].error);

    sealwright_key_free(key);
    return 0;
}
