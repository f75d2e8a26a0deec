/* A program to record: threads, a barrier for some of them, locks of several kinds, a condition. Its sums are right, or it ends with 1. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
enum { THREADS = 3, WORDS = 4096, WRITES = 100 };
static long words[WORDS], total, turn, written, wrong;
static pthread_barrier_t barrier;
static pthread_mutex_t careful = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t writers = PTHREAD_RWLOCK_INITIALIZER;
static sem_t once, again;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static struct timespec soon(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 1000;
  return until;
}
/* what takes a lock in other ways, and what takes none */
static void kinds(void) {
  struct timespec until = soon();
  wrong += pthread_mutex_unlock(&careful) == 0;
  wrong += pthread_mutex_clocklock(&careful, CLOCK_MONOTONIC, &until) != 0;
  wrong += pthread_mutex_lock(&careful) == 0;
  wrong += pthread_mutex_unlock(&careful) != 0;
  wrong += sem_clockwait(&once, CLOCK_MONOTONIC, &until) != 0;
  sem_post(&once);
  for (int i = 0; i < WRITES; i++) {
    pthread_rwlock_rdlock(&writers);
    pthread_rwlock_unlock(&writers);
    pthread_rwlock_wrlock(&writers);
    written++;
    pthread_rwlock_unlock(&writers);
  }
}
static void *work(void *argument) {
  long me = (long)argument, sum = 0;
  kinds();
  for (int i = (int)me; i < WORDS; i += THREADS) words[i] = i;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < WORDS; i++) sum += words[(i + me * 100) % WORDS];
  pthread_mutex_lock(&mutex);
  while (turn != me) pthread_cond_wait(&moved, &mutex);
  total += sum;
  turn++;
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&mutex);
  sem_post(&again);
  return 0;
}
int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, 0, THREADS);
  sem_init(&once, 0, 1);
  /* made anew at the same place, it holds nothing */
  sem_init(&again, 0, THREADS);
  sem_destroy(&again);
  sem_init(&again, 0, 0);
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)(THREADS - 1 - i));
  for (int i = 0; i < THREADS; i++) sem_wait(&again);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  printf("%ld\n", total);
  return total != 3L * WORDS * (WORDS - 1) / 2 || written != THREADS * WRITES || wrong;
}
