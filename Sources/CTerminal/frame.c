#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

// curses writes at each jump of its cursor. A terminal that reads faster than a frame is made would
// be woken for each piece, and might show it. So a frame goes to memory first: curses keeps its
// descriptor, which meanwhile leads there.

enum { MARK_LENGTH = sizeof FRAME_BEGIN - 1 };

static int memory = -1;

bool frame_begin(void) {
  if (memory < 0) memory = memfd_create("runnel-frame", MFD_CLOEXEC);
  if (memory < 0 || lseek(memory, 0, SEEK_SET) < 0) return false;
  return dup3(memory, fileno(session.output), O_CLOEXEC) >= 0;
}

void frame_end(bool at_once) {
  dup3(session.descriptor, fileno(session.output), O_CLOEXEC);
  off_t left = lseek(memory, 0, SEEK_CUR);
  if (left <= 0) return;
  // A frame of any screen that people have fits in one piece.
  char piece[64 * 1024];
  size_t start = 0;
  if (at_once) {
    memcpy(piece, FRAME_BEGIN, MARK_LENGTH);
    start = MARK_LENGTH;
  }
  off_t offset = 0;
  while (left > 0) {
    // Behind this frame stands the end of a longer one.
    size_t room = sizeof piece - MARK_LENGTH - start;
    size_t wanted = left < (off_t)room ? (size_t)left : room;
    ssize_t got = pread(memory, piece + start, wanted, offset);
    if (got <= 0) break;
    offset += got;
    left -= got;
    start += (size_t)got;
    if (left == 0 && at_once) {
      memcpy(piece + start, FRAME_END, MARK_LENGTH);
      start += MARK_LENGTH;
    }
    write_bytes(piece, start);
    start = 0;
  }
}
