/* Preloaded too: condition variables as queues of semaphores, one a waiter, so that the trace says who woke whom. */
#define _GNU_SOURCE
#include "quiet.h"
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

struct waiter {
  struct waiter *next;
  const void *condition;
  pthread_mutex_t *mutex;
  sem_t raised;
  int woken;
};
static struct waiter *first, **last = &first;

/* takes a waiter out of the queue, unless somebody has woken it; the table is taken */
static int left(struct waiter *me) {
  if (me->woken) return 0;
  struct waiter **at = &first;
  while (*at != me) at = &(*at)->next;
  *at = me->next;
  if (last == &me->next) last = at;
  return 1;
}

static void cancelled(void *waiter) {
  struct waiter *me = waiter;
  table_take();
  left(me);
  table_give();
  mark(RESUME, NOTHING);
  pthread_mutex_lock(me->mutex);
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  struct waiter me = {.condition = condition, .mutex = mutex};
  mark(HUSH, NOTHING);
  quiet_sem_init(&me.raised);
  table_take();
  *last = &me;
  last = &me.next;
  table_give();
  int error = pthread_mutex_unlock(mutex);
  mark(HUSH, NOTHING);
  pthread_cleanup_push(cancelled, &me);
  if (!error) error = quiet_sem_wait(&me.raised, clock, until);
  pthread_cleanup_pop(0);
  if (error) {
    table_take();
    if (!left(&me)) error = 0; /* woken at the last moment: its semaphore is up, or about to be */
    table_give();
    if (!error) quiet_sem_wait(&me.raised, clock, NULL);
  }
  if (error) {
    mark(RESUME, NOTHING);
  } else {
    mark(WAIT, &me);
    mark(WAIT_END, NOTHING);
  }
  int lock_error = pthread_mutex_lock(mutex);
  return lock_error ? lock_error : error;
}

static int wake(const void *condition, int everybody) {
  mark(HUSH, NOTHING);
  struct waiter *woken = NULL, **end = &woken;
  table_take();
  for (struct waiter **at = &first; *at && (everybody || !woken);) {
    struct waiter *waiter = *at;
    if (waiter->condition != condition) {
      at = &waiter->next;
      continue;
    }
    *at = waiter->next;
    if (last == &waiter->next) last = at;
    waiter->woken = 1;
    waiter->next = NULL;
    *end = waiter;
    end = &waiter->next;
  }
  table_give();
  while (woken) {
    struct waiter *waiter = woken;
    woken = waiter->next;
    mark(POST, waiter);
    quiet_sem_post(&waiter->raised); /* from here on the waiter may be gone */
  }
  mark(RESUME, NOTHING);
  return 0;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  return wait_until(condition, mutex, CLOCK_REALTIME, NULL);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  /* the clock that pthread_condattr_setclock chose: glibc keeps it in a bit of the condition */
  clockid_t clock = CLOCK_REALTIME;
#ifdef __GLIBC__
  if (condition->__data.__wrefs & 2) clock = CLOCK_MONOTONIC;
#endif
  return wait_until(condition, mutex, clock, until);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
  return wait_until(condition, mutex, clock, until);
}

int pthread_cond_signal(pthread_cond_t *condition) { return wake(condition, 0); }

int pthread_cond_broadcast(pthread_cond_t *condition) { return wake(condition, 1); }
