/* Calls at the end of a thread, and of the program, when the library's memory for the thread is gone: they answer as ever. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sealwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wrong, destroyed;

static void expect(int right, const char *what)
{
    if (!right)
        printf("%s\n", what), wrong++;
}

static int fails(void)
{
    sealwright_key *key = NULL;
    return sealwright_key_new("rot-13", NULL, 0, &key);
}

static void destroys(void *value)
{
    (void)value;
    sealwright_last_error();
    expect(fails() == SEALWRIGHT_ERROR_SUITE, "the destructor of a thread's value: another error");
    sealwright_last_error();
    destroyed++;
}

static pthread_key_t value;

static void *thread(void *none)
{
    expect(pthread_setspecific(value, &value) == 0, "no value for the thread");
    expect(fails() == SEALWRIGHT_ERROR_SUITE && sealwright_last_error() != NULL, "a thread: another error");
    return none;
}

static void at_exit(void)
{
    expect(fails() == SEALWRIGHT_ERROR_SUITE, "at the exit: another error");
    sealwright_last_error();
    printf("%d wrong\n", wrong);
    fflush(stdout);
    if (wrong != 0)
        _exit(1);
}

int main(void)
{
    pthread_t id;
    if (pthread_key_create(&value, destroys) != 0 || atexit(at_exit) != 0)
        return 2;
    if (pthread_create(&id, NULL, thread, NULL) != 0 || pthread_join(id, NULL) != 0)
        return 2;
    expect(destroyed == 1, "the destructor of a thread's value did not run");
    expect(fails() == SEALWRIGHT_ERROR_SUITE && sealwright_last_error() != NULL, "the program: another error");
    return 0;
}
