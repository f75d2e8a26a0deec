/* Preloaded into the recorded program: tells the plugin of threads, locks, barriers and semaphores, and lets libc do the
 * work. */
#define _GNU_SOURCE
#include "quiet.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int ready;

/* both addresses are in registers by now: no reference comes between */
static __attribute__((noinline)) void store_and_load(volatile uint64_t *mark, const volatile char *object) {
  *mark = 0;
  (void)*object;
}

void mark(unsigned code, const volatile void *object) {
  if (ready) store_and_load((volatile uint64_t *)(MARKS + 8 * code), object);
}

/* a lock that no interposed function knows of */
static volatile char table_lock;
void table_take(void) {
  while (__atomic_test_and_set(&table_lock, __ATOMIC_ACQUIRE)) sched_yield();
}
void table_give(void) { __atomic_clear(&table_lock, __ATOMIC_RELEASE); }

static void forked(void) { mark(FORKED, NOTHING); }

__attribute__((constructor)) static void hello(void) {
  void *page = mmap((void *)MARKS, MARKS_END - MARKS, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page != (void *)MARKS) return; /* the plugin says that recording never began */
  ready = 1;
  pthread_atfork(NULL, NULL, forked);
  mark(HELLO, NOTHING);
}

/* threads: one semaphore for the beginning, one for the end; never freed, so that no address comes twice */
struct thread {
  struct thread *next;
  pthread_t id;
  int joined;
  void *(*function)(void *);
  void *argument;
  char start, end;
};
static struct thread *all;

static void leave(void *thread) { mark(END, &((struct thread *)thread)->end); }

static void *enter(void *argument) {
  struct thread *thread = argument;
  mark(BEGIN, &thread->start);
  void *result;
  pthread_cleanup_push(leave, thread);
  result = thread->function(thread->argument);
  pthread_cleanup_pop(1);
  return result;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
  REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  mark(HUSH, NOTHING);
  struct thread *thread = calloc(1, sizeof *thread);
  if (!thread) {
    mark(RESUME, NOTHING);
    return EAGAIN;
  }
  thread->function = function;
  thread->argument = argument;
  mark(CREATE, &thread->start);
  int error = real(id, attributes, enter, thread);
  if (error) {
    mark(RESUME, NOTHING);
    return error;
  }
  table_take();
  thread->id = *id;
  thread->next = all;
  all = thread;
  table_give();
  mark(POST, &thread->start);
  mark(POST_END, NOTHING);
  return 0;
}

/* a thread that nobody has joined: of an identifier that came again, the last one */
static struct thread *joining(pthread_t id) {
  mark(HUSH, NOTHING);
  table_take();
  struct thread *thread = all;
  while (thread && (thread->joined || !pthread_equal(thread->id, id))) thread = thread->next;
  table_give();
  return thread;
}

static int joined(int error, struct thread *thread) {
  if (error || !thread) {
    mark(RESUME, NOTHING);
    return error;
  }
  table_take();
  thread->joined = 1;
  table_give();
  mark(JOIN, &thread->end);
  mark(WAIT, &thread->end);
  mark(WAIT_END, NOTHING);
  return 0;
}

int pthread_join(pthread_t id, void **result) {
  REAL(int, "pthread_join", pthread_t, void **);
  struct thread *thread = joining(id);
  return joined(real(id, result), thread);
}

int pthread_tryjoin_np(pthread_t id, void **result) {
  REAL(int, "pthread_tryjoin_np", pthread_t, void **);
  struct thread *thread = joining(id);
  return joined(real(id, result), thread);
}

int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *until) {
  REAL(int, "pthread_timedjoin_np", pthread_t, void **, const struct timespec *);
  struct thread *thread = joining(id);
  return joined(real(id, result, until), thread);
}

int pthread_clockjoin_np(pthread_t id, void **result, clockid_t clock, const struct timespec *until) {
  REAL(int, "pthread_clockjoin_np", pthread_t, void **, clockid_t, const struct timespec *);
  struct thread *thread = joining(id);
  return joined(real(id, result, clock, until), thread);
}

static int untold(int error) {
  mark(RESUME, NOTHING);
  return error;
}

/* a lock that its holder takes again is no event: glibc keeps the kind and the holder in the mutex */
static int again(pthread_mutex_t *mutex, int held) {
#ifdef __GLIBC__
  return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP &&
         (held ? mutex->__data.__count > 1 : mutex->__data.__count > 0 && mutex->__data.__owner == gettid());
#else
  return 0;
#endif
}

/* whether libc refuses to unlock what another thread holds, or nobody: kinds that check errors, robust ones, those with priorities */
static int refused(pthread_mutex_t *mutex) {
#ifdef __GLIBC__
  int kind = mutex->__data.__kind;
  if (kind & 0x30) return (mutex->__data.__lock & 0x3fffffff) != gettid();
  return ((kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP || (kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP) &&
         mutex->__data.__owner != gettid();
#else
  return 0;
#endif
}

/* locks are told once they are taken: some take no lock and say why. A robust one comes from a holder that has died and never
 * told that it gave it up: its heir does, or would wait for it when played. */
static int told(int error, const volatile void *object) {
  if (error == EOWNERDEAD) {
    mark(UNLOCK, object);
    mark(UNLOCK_END, NOTHING);
    mark(HUSH, NOTHING);
  }
  if (!error || error == EOWNERDEAD) {
    mark(LOCK, object);
    mark(LOCK_END, object);
  } else {
    mark(RESUME, NOTHING);
  }
  return error;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  REAL(int, "pthread_mutex_lock", pthread_mutex_t *);
  mark(HUSH, NOTHING);
  if (again(mutex, 0)) return untold(real(mutex));
  return told(real(mutex), mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  REAL(int, "pthread_mutex_trylock", pthread_mutex_t *);
  mark(HUSH, NOTHING);
  if (again(mutex, 0)) return untold(real(mutex));
  return told(real(mutex), mutex);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
  REAL(int, "pthread_mutex_timedlock", pthread_mutex_t *, const struct timespec *);
  mark(HUSH, NOTHING);
  if (again(mutex, 0)) return untold(real(mutex, until));
  return told(real(mutex, until), mutex);
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  REAL(int, "pthread_mutex_clocklock", pthread_mutex_t *, clockid_t, const struct timespec *);
  mark(HUSH, NOTHING);
  if (again(mutex, 0)) return untold(real(mutex, clock, until));
  return told(real(mutex, clock, until), mutex);
}

/* told before it happens: afterwards another thread may have freed the mutex */
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  REAL(int, "pthread_mutex_unlock", pthread_mutex_t *);
  mark(HUSH, NOTHING);
  if (again(mutex, 1) || refused(mutex)) return untold(real(mutex));
  mark(UNLOCK, mutex);
  int error = real(mutex);
  mark(UNLOCK_END, NOTHING);
  return error;
}

int pthread_spin_lock(pthread_spinlock_t *lock) {
  REAL(int, "pthread_spin_lock", pthread_spinlock_t *);
  mark(LOCK, lock);
  int error = real(lock);
  mark(LOCK_END, NOTHING);
  return error;
}

int pthread_spin_trylock(pthread_spinlock_t *lock) {
  REAL(int, "pthread_spin_trylock", pthread_spinlock_t *);
  mark(HUSH, NOTHING);
  return told(real(lock), lock);
}

int pthread_spin_unlock(pthread_spinlock_t *lock) {
  REAL(int, "pthread_spin_unlock", pthread_spinlock_t *);
  mark(UNLOCK, lock);
  int error = real(lock);
  mark(UNLOCK_END, NOTHING);
  return error;
}

/* locks of one writer or many readers: the writer's alone, which glibc keeps in the lock */
#ifdef __GLIBC__
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  REAL(int, "pthread_rwlock_wrlock", pthread_rwlock_t *);
  mark(HUSH, NOTHING);
  return told(real(lock), lock);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  REAL(int, "pthread_rwlock_trywrlock", pthread_rwlock_t *);
  mark(HUSH, NOTHING);
  return told(real(lock), lock);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until) {
  REAL(int, "pthread_rwlock_timedwrlock", pthread_rwlock_t *, const struct timespec *);
  mark(HUSH, NOTHING);
  return told(real(lock, until), lock);
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  REAL(int, "pthread_rwlock_clockwrlock", pthread_rwlock_t *, clockid_t, const struct timespec *);
  mark(HUSH, NOTHING);
  return told(real(lock, clock, until), lock);
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  REAL(int, "pthread_rwlock_unlock", pthread_rwlock_t *);
  mark(HUSH, NOTHING);
  if (lock->__data.__cur_writer != gettid()) {
    mark(RESUME, NOTHING);
    return real(lock);
  }
  mark(UNLOCK, lock);
  int error = real(lock);
  mark(UNLOCK_END, NOTHING);
  return error;
}
#endif

/* barriers, and how many threads each is for */
struct barrier {
  struct barrier *next;
  const void *at;
  unsigned count;
};
static struct barrier *barriers;

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count) {
  REAL(int, "pthread_barrier_init", pthread_barrier_t *, const pthread_barrierattr_t *, unsigned);
  int error = real(barrier, attributes, count);
  if (error) return error;
  mark(HUSH, NOTHING);
  table_take();
  struct barrier *known = barriers;
  while (known && known->at != (void *)barrier) known = known->next;
  if (!known && (known = calloc(1, sizeof *known))) {
    known->next = barriers;
    barriers = known;
  }
  if (known) {
    known->at = barrier;
    known->count = count;
  }
  table_give();
  mark(RESUME, NOTHING);
  return 0;
}

int pthread_barrier_wait(pthread_barrier_t *barrier) {
  REAL(int, "pthread_barrier_wait", pthread_barrier_t *);
  mark(HUSH, NOTHING);
  table_take();
  struct barrier *known = barriers;
  while (known && known->at != (void *)barrier) known = known->next;
  unsigned count = known ? known->count : 0;
  table_give();
  if (count > 0 && count <= NUMBERS_MOST) mark(COUNT, (const char *)NUMBERS + count);
  mark(BARRIER, barrier);
  int result = real(barrier);
  mark(BARRIER_END, NOTHING);
  return result;
}
