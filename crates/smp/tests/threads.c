/* A program to record: threads, a barrier for some of them, a lock, a condition. Its sum is right, or it ends with 1. */
#include <pthread.h>
#include <stdio.h>
enum { THREADS = 3, WORDS = 4096 };
static long words[WORDS], total, turn;
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static void *work(void *argument) {
  long me = (long)argument, sum = 0;
  for (int i = (int)me; i < WORDS; i += THREADS) words[i] = i;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < WORDS; i++) sum += words[(i + me * 100) % WORDS];
  pthread_mutex_lock(&mutex);
  while (turn != me) pthread_cond_wait(&moved, &mutex);
  total += sum;
  turn++;
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&mutex);
  return 0;
}
int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, 0, THREADS);
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)(THREADS - 1 - i));
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  printf("%ld\n", total);
  return total != 3L * WORDS * (WORDS - 1) / 2;
}
