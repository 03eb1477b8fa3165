#include "CPlatform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

// The kernel keeps this many bytes of a name, including the zero.
enum { NAME_SIZE = 16 };

struct start {
  char name[NAME_SIZE];
  void (*body)(void *);
  void *context;
};

static void *run(void *raw) {
  struct start start = *(struct start *)raw;
  free(raw);
  // A thread without a name works as well.
  pthread_setname_np(pthread_self(), start.name);
  start.body(start.context);
  return NULL;
}

// Faults, and signals sent to see where a program hangs, are left to the handlers that report them.
static void fill(sigset_t *set) {
  static const int open[] = {SIGABRT, SIGBUS,  SIGFPE, SIGILL, SIGPROF,
                             SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP};
  sigfillset(set);
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) sigdelset(set, open[i]);
}

void runnel_signals_hold(sigset_t *before) {
  sigset_t blocked;
  fill(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, before);
}

void runnel_signals_release(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

// The stack size limit of the process, but at least the given size.
static int set_stack(pthread_attr_t *attributes, size_t stack_bytes_min) {
  size_t size = 0;
  int reason = pthread_attr_getstacksize(attributes, &size);
  if (reason != 0 || size >= stack_bytes_min) return reason;
  return pthread_attr_setstacksize(attributes, stack_bytes_min);
}

// Returns the error instead of setting errno, like the functions it calls.
static int start_thread(struct start *start, size_t stack_bytes_min) {
  pthread_attr_t attributes;
  int reason = pthread_attr_init(&attributes);
  if (reason != 0) return reason;
  sigset_t blocked, before;
  fill(&blocked);
  reason = set_stack(&attributes, stack_bytes_min);
  if (reason == 0) reason = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The thread inherits the mask, so that no signal reaches it before it blocks them. The caller's
  // own mask does not matter.
  if (reason == 0) reason = pthread_sigmask(SIG_SETMASK, &blocked, &before);
  if (reason == 0) {
    pthread_t thread;
    reason = pthread_create(&thread, &attributes, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  pthread_attr_destroy(&attributes);
  return reason;
}

int runnel_thread_start(
    const char *name, size_t stack_bytes_min, void (*body)(void *), void *context) {
  struct start *start = calloc(1, sizeof *start);
  if (start == NULL) return -1;
  strncpy(start->name, name, NAME_SIZE - 1);
  start->body = body;
  start->context = context;
  int reason = start_thread(start, stack_bytes_min);
  if (reason == 0) return 0;
  free(start);
  errno = reason;
  return -1;
}
