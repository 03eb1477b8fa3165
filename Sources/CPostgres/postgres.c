#include "CPostgres.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static struct runnel_pq functions;
static bool is_loaded = false;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  // The library stays loaded until the process ends.
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
#define LOADED(result, name, arguments)                        \
  functions.name = (result(*) arguments)dlsym(library, #name); \
  if (functions.name == NULL) return;
  RUNNEL_PQ_FUNCTIONS(LOADED)
#undef LOADED
  is_loaded = true;
}

const struct runnel_pq *runnel_pq_load(void) {
  pthread_once(&once, load);
  return is_loaded ? &functions : NULL;
}

// The most requests that go on at once: each has a thread and a socket until the server answers, or ends.
enum { CANCELS_MAX = 32, STACK_SIZE = 256 * 1024 };
static atomic_int cancels = 0;

struct cancel {
  PGcancel *request;
  // Closed when the request was taken.
  int end;
};

static void *run_cancel(void *context) {
  struct cancel *cancel = context;
  char message[256];
  // Without success the backend ends when it next uses its connection, which is closed.
  functions.PQcancel(cancel->request, message, sizeof message);
  functions.PQfreeCancel(cancel->request);
  close(cancel->end);
  free(cancel);
  atomic_fetch_sub(&cancels, 1);
  return NULL;
}

// Starts the thread; no signal of the process is delivered to it.
static bool start_cancel(struct cancel *cancel) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK_SIZE);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  bool is_started = pthread_create(&thread, &attributes, run_cancel, cancel) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return is_started;
}

void runnel_pq_cancel(PGcancel *request, int milliseconds) {
  int ends[2];
  struct cancel *cancel = malloc(sizeof *cancel);
  bool has_room = atomic_fetch_add(&cancels, 1) < CANCELS_MAX;
  bool has_pipe = has_room && cancel != NULL && pipe2(ends, O_CLOEXEC) == 0;
  if (has_pipe) {
    *cancel = (struct cancel){request, ends[1]};
    if (start_cancel(cancel)) {
      struct pollfd taken = {.fd = ends[0], .events = POLLIN};
      while (poll(&taken, 1, milliseconds) < 0 && errno == EINTR) continue;
      close(ends[0]);
      return;
    }
    close(ends[0]);
    close(ends[1]);
  }
  functions.PQfreeCancel(request);
  free(cancel);
  atomic_fetch_sub(&cancels, 1);
}
