#include "CPlatform.h"

#include <fcntl.h>
#include <unistd.h>

// Locks of the opening, not of the process: two openings in one process are two, and closing another
// descriptor of the file ends none.

int runnel_byte_lock(int descriptor, long long offset) {
  struct flock range = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
  return fcntl(descriptor, F_OFD_SETLK, &range);
}

int runnel_bytes_unlock(int descriptor) {
  // From the beginning to beyond every end.
  struct flock range = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
  return fcntl(descriptor, F_OFD_SETLK, &range);
}

int runnel_byte_is_locked(int descriptor, long long offset) {
  struct flock range = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
  if (fcntl(descriptor, F_OFD_GETLK, &range) < 0) return -1;
  return range.l_type != F_UNLCK;
}
