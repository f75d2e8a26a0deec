/* What all parts of the preloaded library use: marks, a lock that no interposed function knows of, libc's semaphores. */
#ifndef SEALWRIGHT_QUIET_H
#define SEALWRIGHT_QUIET_H
#include "marks.h"
#include <dlfcn.h>
#include <semaphore.h>
#include <time.h>

/* the same function of libc's: `real` */
#define REAL(result, name, ...)                                              \
  static result (*real)(__VA_ARGS__);                                        \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define HIDDEN __attribute__((visibility("hidden")))
#define NOTHING ((const volatile void *)NUMBERS)

HIDDEN void mark(unsigned code, const volatile void *object);
HIDDEN void table_take(void);
HIDDEN void table_give(void);
HIDDEN void quiet_sem_init(sem_t *);
HIDDEN void quiet_sem_post(sem_t *);
/* until a time of `clock`, or for ever; 0 or an error */
HIDDEN int quiet_sem_wait(sem_t *, clockid_t clock, const struct timespec *until);

#endif
