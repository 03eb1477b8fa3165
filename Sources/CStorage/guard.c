#include "CStorage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// SQLite maps the index of a log into memory. If another program cuts that file off, the next access is a
// bus error, which would end the process. The handler puts empty memory in the place of the index: SQLite
// then makes the index anew from the log, and the loss is found as that of any other file. Only functions
// that are safe in a signal handler are used.

enum { CUTS_MAX = 64 };

struct mapping {
  uintptr_t start, end;
  unsigned long inode;
  bool is_index;
};

struct reader {
  int descriptor;
  ssize_t count, next;
  char bytes[1024];
};

static struct sigaction first, below;
static bool is_installed;
static atomic_flag is_busy = ATOMIC_FLAG_INIT;
static unsigned long cuts[CUTS_MAX];
static atomic_uint cut_count;
static atomic_bool is_passed;

// Returns the next byte, or -1 at the end.
static int next_byte(struct reader *reader) {
  if (reader->next == reader->count) {
    do {
      reader->count = read(reader->descriptor, reader->bytes, sizeof reader->bytes);
    } while (reader->count < 0 && errno == EINTR);
    reader->next = 0;
    if (reader->count <= 0) {
      reader->count = 0;
      return -1;
    }
  }
  return (unsigned char)reader->bytes[reader->next++];
}

static int digit(int byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : 16;
}

// Reads a number, and what stands behind it.
static uintptr_t next_number(struct reader *reader, unsigned base, int *end) {
  uintptr_t number = 0;
  while (true) {
    *end = next_byte(reader);
    if (digit(*end) >= (int)base) return number;
    number = number * base + (uintptr_t)digit(*end);
  }
}

static bool ends_in(const char *tail, size_t size, const char *suffix) {
  size_t length = strlen(suffix);
  return memcmp(tail + size - length, suffix, length) == 0;
}

// Source: proc_pid_maps(5).
static bool next_mapping(struct reader *reader, struct mapping *mapping) {
  int end;
  mapping->start = next_number(reader, 16, &end);
  if (end < 0) return false;
  mapping->end = next_number(reader, 16, &end);
  // Rights, offset, and device.
  for (int field = 0; field < 3; field++) {
    do end = next_byte(reader);
    while (end != ' ' && end >= 0);
  }
  mapping->inode = next_number(reader, 10, &end);
  char tail[16] = {0};
  while (end != '\n' && end >= 0) {
    memmove(tail, tail + 1, sizeof tail - 1);
    tail[sizeof tail - 1] = (char)end;
    end = next_byte(reader);
  }
  mapping->is_index =
      ends_in(tail, sizeof tail, "-shm") || ends_in(tail, sizeof tail, "-shm (deleted)");
  return true;
}

static bool open_mappings(struct reader *reader) {
  reader->descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  reader->count = reader->next = 0;
  return reader->descriptor >= 0;
}

// Finds the mapping of an address; returns false if there is none.
static bool find(uintptr_t address, struct mapping *found) {
  struct reader reader;
  if (!open_mappings(&reader)) return false;
  bool is_there = false;
  while (!is_there && next_mapping(&reader, found)) {
    is_there = found->start <= address && address < found->end;
  }
  close(reader.descriptor);
  return is_there;
}

// Puts empty memory in the place of all pieces of an index.
static bool replace(unsigned long inode) {
  struct reader reader;
  struct mapping mapping;
  if (!open_mappings(&reader)) return false;
  bool is_replaced = true;
  while (next_mapping(&reader, &mapping)) {
    if (!mapping.is_index || mapping.inode != inode) continue;
    void *memory =
        mmap((void *)mapping.start, mapping.end - mapping.start, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    is_replaced = is_replaced && memory != MAP_FAILED;
  }
  close(reader.descriptor);
  return is_replaced;
}

static bool mend(uintptr_t address) {
  struct mapping mapping;
  if (!find(address, &mapping)) return false;
  // Another thread has been here just now.
  if (mapping.inode == 0) return atomic_load(&cut_count) > 0;
  unsigned count = atomic_load(&cut_count);
  if (!mapping.is_index || count >= CUTS_MAX || !replace(mapping.inode)) return false;
  cuts[count] = mapping.inode;
  atomic_store(&cut_count, count + 1);
  return true;
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  int saved_errno = errno;
  bool is_mended = false;
  if (info->si_code == BUS_ADRERR) {
    while (atomic_flag_test_and_set(&is_busy)) continue;
    is_mended = mend((uintptr_t)info->si_addr);
    atomic_flag_clear(&is_busy);
  }
  if (!is_mended) {
    // The faulting instruction faults again, and the handler below sees it; at last the one that was there
    // before all.
    sigaction(number, atomic_exchange(&is_passed, true) ? &first : &below, NULL);
    if (info->si_code <= 0) raise(number);
  }
  errno = saved_errno;
}

void runnel_storage_guard_index(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  struct sigaction current;
  bool is_on_top = sigaction(SIGBUS, NULL, &current) == 0 && (current.sa_flags & SA_SIGINFO) &&
                   current.sa_sigaction == handle;
  if (!is_on_top) {
    below = current;
    if (!is_installed) first = current;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    is_installed = sigaction(SIGBUS, &action, NULL) == 0 || is_installed;
  }
  pthread_mutex_unlock(&mutex);
}

unsigned runnel_storage_index_cuts(unsigned long inode) {
  unsigned count = atomic_load(&cut_count), found = 0;
  for (unsigned i = 0; i < count; i++) found += cuts[i] == inode;
  return found;
}
