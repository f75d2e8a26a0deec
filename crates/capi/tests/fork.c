/* A process that has sealed a file forks; both go on to seal and open files, and to read one. A stream is the parent's alone. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <sealwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long enough for several threads. */
enum { LENGTH = 9 << 20 };
static const uint8_t SECRET[32] = {1, 2, 3};

/* Threads of this process, without those that end: the system lists one for an instant after it was waited for. */
static int threads(void)
{
    enum { PF_EXITING = 4 };
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[300];
        unsigned flags;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file != NULL && fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags) == 1)
            count += !(flags & PF_EXITING);
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

static int there_and_back(const sealwright_secret *key, const char *folder, const char *who)
{
    char plain[4096], sealed[4096], back[4096];
    snprintf(plain, sizeof plain, "%s/plain", folder);
    snprintf(sealed, sizeof sealed, "%s/%s.seal", folder, who);
    snprintf(back, sizeof back, "%s/%s", folder, who);
    int error = sealwright_file_seal(plain, sealed, "aes-256-gcm", key, NULL, 0, 0);
    int left = threads();
    if (error == 0)
        error = sealwright_file_open(sealed, back, key, NULL, 0, 0);
    if (left != 1 || threads() != 1) {
        printf("%s: threads outlive the call that they work for\n", who);
        return 1;
    }
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

/* Reads from many places, each another than the last, while another process does so too. The place of the open file, which both share,
   must stay where it is: between a move and a read of one, the other would move it. */
static int reads(sealwright_reader *reader, int file, unsigned at)
{
    static uint8_t bytes[100];
    off_t place = lseek(file, 0, SEEK_CUR);
    int error = 0;
    for (int count = 0; count < 1000 && error == 0; count++) {
        size_t got = 0;
        at = at * 1103515245u + 12345u;
        error = sealwright_reader_read(reader, at % (LENGTH - sizeof bytes), bytes, sizeof bytes, &got);
        if (error == 0 && (got != sizeof bytes || bytes[0] != 0x5a || bytes[got - 1] != 0x5a))
            error = -1;
    }
    if (error != 0)
        printf("a reader of two processes answers %d\n", error);
    int moved = place < 0 || lseek(file, 0, SEEK_CUR) != place;
    if (moved)
        printf("a reader moves the place of its file\n");
    sealwright_reader_free(reader);
    return error != 0 || moved;
}

/* What children answer when something that they need is not there. */
enum { NOT_ALLOWED = 77, FAILED = 99 };

/* What `work` answers in a child. */
static int in_child(int (*work)(sealwright_sealer *), sealwright_sealer *sealer)
{
    fflush(stdout);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        int answer = work(sealer);
        fflush(stdout);
        _exit(answer);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

/* The same in the first process of a new PID namespace, whose number there is 1. */
static int in_first_process(int (*work)(sealwright_sealer *), sealwright_sealer *sealer)
{
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return NOT_ALLOWED;
    return in_child(work, sealer);
}

static int inner(sealwright_sealer *sealer)
{
    return getpid() == 1 ? stream_of(sealer, 1) : FAILED;
}

static int middle(sealwright_sealer *sealer)
{
    if (getpid() != 1 || sealwright_sealer_new("aes-256-gcm", SECRET, 32, NULL, 0, drop, NULL, &sealer) != 0 ||
        sealwright_sealer_write(sealer, SECRET, sizeof SECRET) != 0)
        return FAILED;
    int answer = in_first_process(inner, sealer);
    return answer == 0 ? stream_of(sealer, 0) : answer;
}

static int outer(sealwright_sealer *sealer)
{
    return in_first_process(middle, sealer);
}

/* A child whose number is its parent's is none the less a child. */
static int same_number(void)
{
    int answer = in_child(outer, NULL);
    if (answer == NOT_ALLOWED) {
        printf("skipped: unshare is not allowed here\n");
        return 0;
    }
    if (answer != 0)
        printf("a child with its parent's number answers %d\n", answer);
    return answer != 0;
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
    sealwright_secret *key = NULL;
    if (sealwright_secret_raw(SECRET, 32, &key) != 0 || there_and_back(key, words[1], "before"))
        return 1;
    sealwright_sealer *sealer = NULL;
    sealwright_reader *reader = NULL;
    char sealed[4096];
    snprintf(sealed, sizeof sealed, "%s/before.seal", words[1]);
    /* The number that the next file gets. */
    int opened = dup(STDOUT_FILENO);
    close(opened);
    if (sealwright_sealer_new("aes-256-gcm", SECRET, 32, NULL, 0, drop, NULL, &sealer) != 0 ||
        sealwright_sealer_write(sealer, SECRET, sizeof SECRET) != 0 ||
        sealwright_reader_new(sealed, key, NULL, 0, &reader) != 0)
        return 1;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return 2;
    if (child == 0) {
        /* Waiting for threads that there are none of would take for ever. */
        alarm(60);
        int wrong = reads(reader, opened, 1);
        wrong += there_and_back(key, words[1], "child") + stream_of(sealer, 1);
        fflush(stdout);
        _exit(wrong);
    }
    int status = 0, wrong = reads(reader, opened, 2);
    wrong += there_and_back(key, words[1], "parent") + stream_of(sealer, 0);
    if (waitpid(child, &status, 0) != child || status != 0) {
        printf("the child ended with %d\n", status);
        wrong = 1;
    }
    sealwright_secret_free(key);
    wrong += same_number();
    printf("%d wrong\n", wrong);
    return wrong;
}
