#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

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
