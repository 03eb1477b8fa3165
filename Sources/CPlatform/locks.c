#include "CPlatform.h"

#include <fcntl.h>
#include <unistd.h>

// Locks belong to the open file description, not to the process: two openings in one process are
// separate, and closing another descriptor of the file releases no lock.

int runnel_byte_lock(int descriptor, long long offset) {
  struct flock range = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
  return fcntl(descriptor, F_OFD_SETLK, &range);
}

int runnel_bytes_unlock(int descriptor) {
  // The range reaches from the beginning beyond any end.
  struct flock range = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
  return fcntl(descriptor, F_OFD_SETLK, &range);
}

int runnel_byte_is_locked(int descriptor, long long offset) {
  struct flock range = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
  if (fcntl(descriptor, F_OFD_GETLK, &range) < 0) return -1;
  return range.l_type != F_UNLCK;
}
