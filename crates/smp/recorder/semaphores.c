/* Preloaded too: semaphores. */
#define _GNU_SOURCE
#include "quiet.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

/* semaphores, and what each is told as: an object of its own, never freed, so that one made anew at an old place does not go on with
 * the old one's count. A handler of signals may raise a semaphore: reading takes no lock. */
struct semaphore {
  struct semaphore *next;
  const void *at;
  const volatile void *object;
  unsigned opened; /* how often by name: libc gives the same place each time */
};
static struct semaphore *semaphores;

static struct semaphore *semaphore_at(const void *at) {
  struct semaphore *known = __atomic_load_n(&semaphores, __ATOMIC_ACQUIRE);
  while (known && known->at != at) known = known->next;
  return known;
}

/* one that sem_init did not make is told as itself */
static const volatile void *object_of(sem_t *semaphore) {
  struct semaphore *known = semaphore_at(semaphore);
  return known ? __atomic_load_n(&known->object, __ATOMIC_ACQUIRE) : (const volatile void *)semaphore;
}

/* what it holds at first, as if somebody had raised it */
static void holds(sem_t *semaphore, unsigned value) {
  const volatile void *object = object_of(semaphore);
  for (unsigned i = 0; i < value && i < NUMBERS_MOST; i++) {
    mark(POST, object);
    mark(POST_END, NOTHING);
    mark(HUSH, NOTHING);
  }
}

/* gives a semaphore an object; 0 if it is open already, by its name */
static int named(sem_t *semaphore, int opens) {
  const volatile void *object = calloc(1, 1);
  if (!object) object = (const volatile void *)semaphore;
  table_take();
  struct semaphore *known = semaphore_at(semaphore);
  int fresh = !(opens && known && known->opened);
  if (!known && (known = calloc(1, sizeof *known))) {
    known->next = semaphores;
    known->at = semaphore;
    known->object = object;
    __atomic_store_n(&semaphores, known, __ATOMIC_RELEASE);
  }
  if (known && fresh) __atomic_store_n(&known->object, object, __ATOMIC_RELEASE);
  if (known) known->opened = opens ? known->opened + 1 : 0;
  table_give();
  return fresh;
}

int sem_init(sem_t *semaphore, int shared, unsigned value) {
  REAL(int, "sem_init", sem_t *, int, unsigned);
  int error = real(semaphore, shared, value);
  if (error) return error;
  mark(HUSH, NOTHING);
  named(semaphore, 0);
  holds(semaphore, value);
  mark(RESUME, NOTHING);
  return 0;
}

sem_t *sem_open(const char *name, int flags, ...) {
  REAL(sem_t *, "sem_open", const char *, int, ...);
  mode_t mode = 0;
  unsigned value = 0;
  if (flags & O_CREAT) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    value = va_arg(more, unsigned);
    va_end(more);
  }
  mark(HUSH, NOTHING);
  sem_t *semaphore = real(name, flags, mode, value);
  int held = 0;
  /* somebody may have made it before */
  if (semaphore != SEM_FAILED && named(semaphore, 1) && !sem_getvalue(semaphore, &held))
    holds(semaphore, (unsigned)held);
  mark(RESUME, NOTHING);
  return semaphore;
}

int sem_close(sem_t *semaphore) {
  REAL(int, "sem_close", sem_t *);
  mark(HUSH, NOTHING);
  table_take();
  struct semaphore *known = semaphore_at(semaphore);
  if (known && known->opened) known->opened--;
  table_give();
  int error = real(semaphore);
  mark(RESUME, NOTHING);
  return error;
}

/* looked for before any handler of signals runs, which may call sem_post and not dlsym */
static int (*post)(sem_t *);
__attribute__((constructor)) static void look(void) {
  if (!post) post = (int (*)(sem_t *))dlsym(RTLD_NEXT, "sem_post");
}

int sem_post(sem_t *semaphore) {
  look();
  mark(HUSH, NOTHING);
  mark(POST, object_of(semaphore));
  int error = post(semaphore);
  mark(POST_END, NOTHING);
  return error;
}

static int waited(int error, const volatile void *object) {
  if (!error) {
    mark(WAIT, object);
    mark(WAIT_END, NOTHING);
  } else {
    mark(RESUME, NOTHING);
  }
  return error;
}

int sem_wait(sem_t *semaphore) {
  REAL(int, "sem_wait", sem_t *);
  mark(HUSH, NOTHING);
  const volatile void *object = object_of(semaphore);
  return waited(real(semaphore), object);
}

int sem_trywait(sem_t *semaphore) {
  REAL(int, "sem_trywait", sem_t *);
  mark(HUSH, NOTHING);
  const volatile void *object = object_of(semaphore);
  return waited(real(semaphore), object);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
  REAL(int, "sem_timedwait", sem_t *, const struct timespec *);
  mark(HUSH, NOTHING);
  const volatile void *object = object_of(semaphore);
  return waited(real(semaphore, until), object);
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  REAL(int, "sem_clockwait", sem_t *, clockid_t, const struct timespec *);
  mark(HUSH, NOTHING);
  const volatile void *object = object_of(semaphore);
  return waited(real(semaphore, clock, until), object);
}

/* the same, told to nobody */
void quiet_sem_init(sem_t *semaphore) {
  REAL(int, "sem_init", sem_t *, int, unsigned);
  real(semaphore, 0, 0);
}

void quiet_sem_post(sem_t *semaphore) {
  look();
  post(semaphore);
}

int quiet_sem_wait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  REAL(int, "sem_clockwait", sem_t *, clockid_t, const struct timespec *);
  static int (*forever)(sem_t *);
  if (!forever) forever = (int (*)(sem_t *))dlsym(RTLD_NEXT, "sem_wait");
  for (;;) {
    if ((until ? real(semaphore, clock, until) : forever(semaphore)) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}
