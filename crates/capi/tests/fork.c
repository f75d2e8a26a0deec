/* A process that has sealed a file forks; both go on to seal and open files. A stream is the parent's alone. */
#define _POSIX_C_SOURCE 200809L
#include <sealwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long enough for several threads. */
enum { LENGTH = 9 << 20 };
static const uint8_t SECRET[32] = {1, 2, 3};

static int there_and_back(const sealwright_file_key *key, const char *folder, const char *who)
{
    char plain[4096], sealed[4096], back[4096];
    snprintf(plain, sizeof plain, "%s/plain", folder);
    snprintf(sealed, sizeof sealed, "%s/%s.seal", folder, who);
    snprintf(back, sizeof back, "%s/%s", folder, who);
    int error = sealwright_file_seal(plain, sealed, "aes-256-gcm", key, NULL, 0, 0);
    if (error == 0)
        error = sealwright_file_open(sealed, back, key, NULL, 0, 0);
    if (error != 0) {
        printf("%s: %s\n", who, sealwright_last_error());
        return 1;
    }
    FILE *file = fopen(back, "rb");
    static uint8_t bytes[LENGTH + 1];
    size_t got = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    if (file != NULL)
        fclose(file);
    if (got != LENGTH || bytes[LENGTH - 1] != 0x5a) {
        printf("%s: %zu bytes came back\n", who, got);
        return 1;
    }
    return 0;
}

static int drop(void *state, const uint8_t *bytes, size_t len)
{
    (void)state, (void)bytes, (void)len;
    return 0;
}

/* In the child, nothing more is sealed under the nonces of the parent's stream. */
static int stream_of(sealwright_sealer *sealer, int child)
{
    int wanted = child ? SEALWRIGHT_ERROR_ENDED : SEALWRIGHT_OK;
    int wrote = sealwright_sealer_write(sealer, SECRET, sizeof SECRET), ended = sealwright_sealer_finish(sealer);
    sealwright_sealer_free(sealer);
    if (wrote != wanted || ended != wanted)
        printf("%s: the stream answers %d and %d\n", child ? "child" : "parent", wrote, ended);
    return wrote != wanted || ended != wanted;
}

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    char plain[4096];
    snprintf(plain, sizeof plain, "%s/plain", words[1]);
    uint8_t *text = malloc(LENGTH);
    FILE *file = fopen(plain, "wb");
    if (text == NULL || file == NULL)
        return 2;
    memset(text, 0x5a, LENGTH);
    if (fwrite(text, 1, LENGTH, file) != LENGTH || fclose(file) != 0)
        return 2;
    free(text);
    sealwright_file_key *key = NULL;
    if (sealwright_file_key_raw(SECRET, 32, &key) != 0 || there_and_back(key, words[1], "before"))
        return 1;
    sealwright_sealer *sealer = NULL;
    if (sealwright_sealer_new("aes-256-gcm", SECRET, 32, NULL, 0, drop, NULL, &sealer) != 0 ||
        sealwright_sealer_write(sealer, SECRET, sizeof SECRET) != 0)
        return 1;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return 2;
    if (child == 0) {
        /* Waiting for threads that there are none of would take for ever. */
        alarm(60);
        int wrong = there_and_back(key, words[1], "child") + stream_of(sealer, 1);
        fflush(stdout);
        _exit(wrong);
    }
    int status = 0, wrong = there_and_back(key, words[1], "parent") + stream_of(sealer, 0);
    if (waitpid(child, &status, 0) != child || status != 0) {
        printf("the child ended with %d\n", status);
        wrong = 1;
    }
    sealwright_file_key_free(key);
    printf("%d wrong\n", wrong);
    return wrong;
}
