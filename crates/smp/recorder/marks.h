/* How the library inside the recorded program speaks to the plugin outside it: it stores to a word of a page that nobody
 * else has; which word says what happens, and the next reference of the same thread says to what, by its address. */
#ifndef SEALWRIGHT_MARKS_H
#define SEALWRIGHT_MARKS_H

/* where the marks lie: 47 bits, where neither heap nor stacks are put */
#define MARKS 0x5ea100000000ull
/* the words, then bytes whose place is a number */
#define NUMBERS (MARKS + 4096)
#define NUMBERS_MOST 65535
#define MARKS_END (NUMBERS + NUMBERS_MOST + 1)

/* codes of the trace format; each odd one begins a call and the next ends it */
enum {
  BARRIER = 1, BARRIER_END = 2,
  LOCK = 3, LOCK_END = 4,
  UNLOCK = 5, UNLOCK_END = 6,
  CREATE = 7,
  POST = 9, POST_END = 10,
  WAIT = 11, WAIT_END = 12,
  JOIN = 13,
  /* not in the trace */
  HELLO = 32,   /* recording may begin: the first thread */
  FORKED = 33,  /* this is another process: recording ends here */
  BEGIN = 34,   /* a thread begins, once that semaphore is raised */
  END = 35,     /* a thread ends, and raises that semaphore */
  COUNT = 36,   /* threads that the next barrier waits for */
  HUSH = 37,    /* inside a call: references do not count */
  RESUME = 38,  /* out of it */
};

#endif
