/* Batches for whose nonces there is no memory: an error of the call and of each message, and none is worked on. */
#define _DEFAULT_SOURCE
#include <sealwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { COUNT = 1 << 20 };
static int wrong;

static void expect(int right, const char *what)
{
    if (!right)
        printf("%s\n", what), wrong++;
}

/* So that the process may grow by a little only, or as it likes again. */
static void limit(int on)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        exit(2);
    fclose(file);
    struct rlimit now;
    getrlimit(RLIMIT_AS, &now);
    now.rlim_cur = on ? (rlim_t)pages * 4096 + (4 << 20) : now.rlim_max;
    if (setrlimit(RLIMIT_AS, &now) != 0)
        exit(2);
}

int main(void)
{
    static const uint8_t secret[32] = {1}, nonce[12];
    sealwright_key *key = NULL;
    sealwright_message *messages = calloc(COUNT, sizeof *messages);
    if (messages == NULL || sealwright_key_new("aes-256-gcm", secret, sizeof secret, &key) != SEALWRIGHT_OK)
        return 2;
    for (size_t at = 0; at < COUNT; at++)
        messages[at].nonce = nonce;
    for (int opening = 0; opening < 2; opening++) {
        limit(1);
        int error = opening ? sealwright_open_batch(key, messages, COUNT) : sealwright_seal_batch(key, messages, COUNT);
        limit(0);
        expect(error == SEALWRIGHT_ERROR_MEMORY, "without memory: another error");
        expect(sealwright_last_error() != NULL, "without memory: no text");
        size_t same = 0;
        for (size_t at = 0; at < COUNT; at++)
            same += messages[at].error == SEALWRIGHT_ERROR_MEMORY;
        expect(same == COUNT, "without memory: another error of a message");
    }
    expect(strcmp(sealwright_error_text(SEALWRIGHT_ERROR_MEMORY), "no memory") == 0, "another text");
    expect(sealwright_seal_batch(key, messages, COUNT) == SEALWRIGHT_ERROR_ARGUMENT, "with memory: another error");
    free(messages);
    sealwright_key_free(key);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
