#include "CPlatform.h"

static int count;
static char *const *words;

// The C library passes what main gets also to the functions that run before main.
__attribute__((constructor)) static void note(int given_count, char *given[]) {
  count = given_count;
  words = given;
}

int runnel_argument_count(void) { return count; }

const char *runnel_argument(int index) {
  return index >= 0 && index < count ? words[index] : NULL;
}
