/* A TCG plugin for QEMU user mode: every load and store of every thread, and what the preloaded library says of threads,
 * as records of the .smpt format, in frames over a socket.
 *
 * Declared here is what QEMU documents of its plugin interface (versions 1 and 2), since distributions ship no header. */
#define _GNU_SOURCE
#include "marks.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };
typedef void (*on_block)(unsigned vcpu, void *data);
typedef void (*on_access)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_block, int flags, void *data);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_access, int flags, int rw, void *data);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);

#ifndef PLUGIN_API
#define PLUGIN_API 1
#endif
__attribute__((visibility("default"))) int qemu_plugin_version = PLUGIN_API;

/* frames: thread, bytes, then the bytes; this thread ends the stream, and one byte says whether recording ever began */
#define LAST_FRAME 0xffffffffu
#define RECORDS 8192
#define VCPUS 1024
/* as the format has them */
#define LONG_GAP 2047

struct thread {
  int number;          /* in the trace; -1 is none */
  bool hushed;         /* inside a call */
  uint64_t before;     /* instructions before the block that runs */
  uint64_t block;      /* instructions of that block */
  uint64_t last;       /* place of the last record */
  uint64_t owed;       /* gap that no record carries yet */
  unsigned mark;       /* mark whose object comes next; 0 is none */
  uint64_t count;      /* threads of the next barrier */
  size_t n;
  uint64_t records[RECORDS];
};

static struct thread *threads[VCPUS];
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static int out = -1;
static pid_t self;
static int numbers;
static volatile bool closed, began;

static void fail(const char *what) {
  fprintf(stderr, "sealwright: recorder: %s: %s\n", what, strerror(errno));
  _exit(125);
}

static void send_all(const void *from, size_t n) {
  const char *at = from;
  while (n > 0) {
    ssize_t sent = send(out, at, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("the trace cannot be written");
    at += sent;
    n -= (size_t)sent;
  }
}

static void frame(uint32_t number, const void *from, uint32_t n) {
  /* a forked child writes nothing */
  if (getpid() != self) return;
  uint32_t head[2] = {number, n};
  pthread_mutex_lock(&out_lock);
  send_all(head, sizeof head);
  send_all(from, n);
  pthread_mutex_unlock(&out_lock);
}

static void flush(struct thread *t) {
  if (t->n > 0 && t->number >= 0) frame((uint32_t)t->number, t->records, (uint32_t)(t->n * 8));
  t->n = 0;
}

static void put(struct thread *t, uint64_t record) {
  t->records[t->n++] = record;
  if (t->n == RECORDS) flush(t);
}

/* a record with the instructions since the last one */
static void record(struct thread *t, uint64_t place, uint64_t rest) {
  uint64_t gap = t->owed;
  if (!t->hushed && place > t->last + 1) gap += place - t->last - 1;
  t->owed = 0;
  t->last = place;
  if (gap >= LONG_GAP) {
    put(t, 2ull << 62 | (gap & 0xffffffffffffull));
    gap = LONG_GAP;
  }
  put(t, rest | gap << 48);
}

static void meet(struct thread *t, uint64_t place, uint64_t code, uint64_t object) {
  record(t, place, 3ull << 62 | (code & 7) << 59 | (code >> 3 & 1) << 47 | (object & 0x7fffffffffffull));
}

static void hush(struct thread *t, uint64_t place) {
  if (!t->hushed && place > t->last + 1) t->owed += place - t->last - 1;
  t->last = place;
  t->hushed = true;
}

static void resume(struct thread *t, uint64_t place) {
  t->last = place;
  t->hushed = false;
}

static void start(struct thread *t, uint64_t place) {
  t->number = __atomic_fetch_add(&numbers, 1, __ATOMIC_SEQ_CST);
  t->owed = t->n = 0;
  resume(t, place);
}

static void marked(struct thread *t, uint64_t place, unsigned mark, uint64_t object) {
  if (mark == HELLO) {
    began = true;
    start(t, place);
    return;
  }
  if (mark == FORKED) {
    closed = true;
    close(out);
    return;
  }
  if (mark == BEGIN) start(t, place);
  if (t->number < 0) return;
  switch (mark) {
  case BEGIN:
    meet(t, place, WAIT, object);
    meet(t, place, WAIT_END, object);
    break;
  case END:
    meet(t, place, POST, object);
    meet(t, place, POST_END, object);
    flush(t);
    t->number = -1;
    break;
  case COUNT:
    hush(t, place);
    t->count = object - NUMBERS;
    break;
  case HUSH:
    hush(t, place);
    break;
  case RESUME:
    resume(t, place);
    break;
  case BARRIER:
    hush(t, place);
    /* an escape of size 1: how many threads the next barrier is for */
    if (t->count > 0) put(t, 2ull << 62 | 1ull << 59 | t->count);
    t->count = 0;
    meet(t, place, BARRIER, object);
    break;
  case LOCK: case UNLOCK: case POST: case WAIT: case CREATE: case JOIN:
    hush(t, place);
    meet(t, place, mark, object);
    break;
  case BARRIER_END: case LOCK_END: case UNLOCK_END: case POST_END: case WAIT_END:
    meet(t, place, mark, object);
    resume(t, place);
    break;
  }
}

static struct thread *thread_of(unsigned vcpu) {
  if (vcpu >= VCPUS) return NULL;
  struct thread *t = threads[vcpu];
  if (!t) {
    t = calloc(1, sizeof *t);
    if (!t) fail("memory");
    t->number = -1;
    threads[vcpu] = t;
  }
  return t;
}

static void block(unsigned vcpu, void *data) {
  struct thread *t = thread_of(vcpu);
  if (!t) return;
  t->before += t->block;
  t->block = (uintptr_t)data;
}

static void access_(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
  struct thread *t = thread_of(vcpu);
  if (!t || closed) return;
  uint64_t place = t->before + (uintptr_t)data;
  if (t->mark) {
    unsigned mark = t->mark;
    t->mark = 0;
    marked(t, place, mark, address);
  } else if (address >= MARKS && address < NUMBERS) {
    t->mark = (unsigned)((address - MARKS) / 8);
  } else if (t->number >= 0 && !t->hushed) {
    uint64_t size = qemu_plugin_mem_size_shift(info) & 7, store = qemu_plugin_mem_is_store(info);
    record(t, place, (address & 0xffffffffffffull) | size << 59 | store << 62);
  }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  size_t n = qemu_plugin_tb_n_insns(tb);
  qemu_plugin_register_vcpu_tb_exec_cb(tb, block, NO_REGISTERS, (void *)(uintptr_t)n);
  for (size_t i = 0; i < n; i++)
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), access_, NO_REGISTERS, READS_AND_WRITES,
                                     (void *)(uintptr_t)i);
}

static void ended(qemu_plugin_id_t id, void *data) {
  (void)id, (void)data;
  if (closed) return;
  closed = true;
  for (int i = 0; i < VCPUS; i++)
    if (threads[i]) flush(threads[i]);
  char ever = began;
  frame(LAST_FRAME, &ever, 1);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv) {
  (void)info;
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  for (int i = 0; i < argc; i++)
    if (strncmp(argv[i], "to=", 3) == 0) snprintf(to.sun_path, sizeof to.sun_path, "%s", argv[i] + 3);
  self = getpid();
  out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (out < 0 || connect(out, (struct sockaddr *)&to, sizeof to) < 0) {
    fprintf(stderr, "sealwright: recorder: %s: %s\n", to.sun_path, strerror(errno));
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
