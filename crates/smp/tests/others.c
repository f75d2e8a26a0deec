/* A program to record: a thread of C11 and one of pthreads, behind a semaphore with a name, a lock of each kind and a
 * condition of C11, joins that give up, and a handler of signals. Its sums are right, or it ends with 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>
enum { ROUNDS = 300, RESULT = 77 };
static long words[4096], rounds;
/* in lines of its own: nothing but locking refers to it */
static struct {
  _Alignas(256) pthread_mutex_t mutex;
  _Alignas(256) char rest;
} alone = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
static sem_t *named, raised;
static mtx_t lock;
static cnd_t moved;
static int turn, wrong;
static void handler(int signal) {
  (void)signal;
  sem_post(&raised);
}
static void work(void) {
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&alone.mutex);
    pthread_mutex_lock(&alone.mutex);
    pthread_mutex_unlock(&alone.mutex);
    pthread_mutex_unlock(&alone.mutex);
    sem_wait(named);
    rounds++;
    sem_post(named);
  }
}
static int c11(void *argument) {
  for (int i = 0; i < 4096; i++) words[i] += i;
  work();
  mtx_lock(&lock);
  turn = 1;
  cnd_signal(&moved);
  mtx_unlock(&lock);
  return (int)(intptr_t)argument;
}
static void *posix(void *argument) {
  mtx_lock(&lock);
  while (!turn) cnd_wait(&moved, &lock);
  mtx_unlock(&lock);
  work();
  return argument;
}
int main(void) {
  char name[32];
  /* nothing else has raised a semaphore yet */
  sem_init(&raised, 0, 0);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  wrong += sem_trywait(&raised) != 0;
  snprintf(name, sizeof name, "/sealwright-%d", (int)getpid());
  named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  /* the same once more, and it holds no more for that */
  wrong += sem_open(name, 0) != named;
  sem_unlink(name);
  mtx_init(&lock, mtx_plain);
  cnd_init(&moved);
  thrd_t one;
  pthread_t other;
  int result = 0;
  pthread_create(&other, 0, posix, 0);
  wrong += pthread_tryjoin_np(other, 0) != EBUSY;
  wrong += thrd_create(&one, c11, (void *)(intptr_t)RESULT) != thrd_success;
  wrong += thrd_join(one, &result) != thrd_success || result != RESULT;
  struct timespec until = {.tv_sec = (time_t)1 << 40};
  wrong += pthread_timedjoin_np(other, 0, &until) != 0;
  sem_close(named);
  return wrong || rounds != 2 * ROUNDS || words[7] != 7;
}
