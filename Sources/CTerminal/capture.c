#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/// The bytes of output that are kept: the end, which has the reason of a crash.
enum { KEPT_BYTES_MAX = 64 * 1024 };

static int memory = -1;
static int original = -1;
static volatile bool is_capturing;

void capture_start(void) {
  if (is_capturing || !isatty(STDERR_FILENO)) return;
  if (memory < 0) memory = memfd_create("runnel-stderr", MFD_CLOEXEC);
  if (original < 0) original = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (memory < 0 || original < 0) return;
  // With appending, truncation is enough to start over.
  fcntl(memory, F_SETFL, O_APPEND);
  if (dup2(memory, STDERR_FILENO) >= 0) is_capturing = true;
}

void capture_stop(void) {
  if (!is_capturing) return;
  is_capturing = false;
  int saved_errno = errno;
  dup2(original, STDERR_FILENO);
  off_t size = lseek(memory, 0, SEEK_END);
  off_t offset = size > KEPT_BYTES_MAX ? size - KEPT_BYTES_MAX : 0;
  char buffer[1024];
  ssize_t got;
  while ((got = pread(memory, buffer, sizeof buffer, offset)) > 0) {
    if (write(STDERR_FILENO, buffer, (size_t)got) < 0) break;
    offset += got;
  }
  if (ftruncate(memory, 0) < 0) {
    // The text would be written twice; nothing else depends on the truncation.
  }
  errno = saved_errno;
}
