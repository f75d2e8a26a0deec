/* Preloaded too: threads, locks and conditions of C11. In glibc they are those of pthreads under other names, which libc
 * uses inside itself, where nothing is told. */
#define _GNU_SOURCE
#include "quiet.h"
#if defined(__GLIBC__) && __has_include(<threads.h>)
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

static int code(int error) {
  switch (error) {
  case 0: return thrd_success;
  case ENOMEM: return thrd_nomem;
  case ETIMEDOUT: return thrd_timedout;
  case EBUSY: return thrd_busy;
  default: return thrd_error;
  }
}

struct begun {
  thrd_start_t function;
  void *argument;
};

static void *begin(void *begun) {
  struct begun it = *(struct begun *)begun;
  free(begun);
  return (void *)(intptr_t)it.function(it.argument);
}

int thrd_create(thrd_t *id, thrd_start_t function, void *argument) {
  mark(HUSH, NOTHING);
  struct begun *begun = malloc(sizeof *begun);
  if (!begun) {
    mark(RESUME, NOTHING);
    return thrd_nomem;
  }
  *begun = (struct begun){function, argument};
  int error = pthread_create(id, NULL, begin, begun);
  if (error) free(begun);
  return code(error);
}

int thrd_join(thrd_t id, int *result) {
  void *end = NULL;
  int error = pthread_join(id, &end);
  if (result && !error) *result = (int)(intptr_t)end;
  return code(error);
}

int mtx_lock(mtx_t *mutex) { return code(pthread_mutex_lock((pthread_mutex_t *)mutex)); }
int mtx_trylock(mtx_t *mutex) { return code(pthread_mutex_trylock((pthread_mutex_t *)mutex)); }
int mtx_timedlock(mtx_t *mutex, const struct timespec *until) {
  return code(pthread_mutex_timedlock((pthread_mutex_t *)mutex, until));
}
int mtx_unlock(mtx_t *mutex) { return code(pthread_mutex_unlock((pthread_mutex_t *)mutex)); }

int cnd_wait(cnd_t *condition, mtx_t *mutex) {
  return code(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}
int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
  return code(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
int cnd_signal(cnd_t *condition) { return code(pthread_cond_signal((pthread_cond_t *)condition)); }
int cnd_broadcast(cnd_t *condition) { return code(pthread_cond_broadcast((pthread_cond_t *)condition)); }
#endif
