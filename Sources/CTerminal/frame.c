#include <stdlib.h>
#include <string.h>

#include "internal.h"
// After curses.h, which it needs.
#include <term.h>

// A frame is made in memory and sent in one write: a terminal that reads faster than a frame is made
// would be woken for each piece, and might show it.

enum { MARK_LENGTH = sizeof FRAME_BEGIN - 1, SIZE_FIRST = 16 * 1024 };

/// The bytes of the frame, after room for the mark of its begin.
static struct {
  char *bytes;
  size_t count;
  size_t size;
} frame;

static bool make_room(size_t count) {
  if (frame.size - frame.count >= count) return true;
  size_t size = frame.size == 0 ? SIZE_FIRST : 2 * frame.size;
  while (size < frame.count + count + 2 * MARK_LENGTH) size *= 2;
  char *bytes = realloc(frame.bytes, size);
  if (bytes == NULL) return false;
  frame.bytes = bytes;
  frame.size = size;
  if (frame.count == 0) frame.count = MARK_LENGTH;
  return true;
}

void frame_add_byte(char byte) {
  // Room for the mark of the frame's end is always kept.
  if (!make_room(1 + MARK_LENGTH)) return;
  frame.bytes[frame.count++] = byte;
}

static int put_byte(int byte) {
  frame_add_byte((char)byte);
  return byte;
}

void frame_add_capability(const char *text) {
  if (text != NULL) tputs(text, 1, put_byte);
}

void frame_add_capability_of(const char *text, int first, int second) {
  frame_add_capability(tiparm(text, first, second));
}

void frame_send(bool at_once) {
  if (frame.count <= MARK_LENGTH) return;
  size_t start = MARK_LENGTH;
  if (at_once) {
    memcpy(frame.bytes, FRAME_BEGIN, MARK_LENGTH);
    memcpy(frame.bytes + frame.count, FRAME_END, MARK_LENGTH);
    start = 0;
    frame.count += MARK_LENGTH;
  }
  write_bytes(frame.bytes + start, frame.count - start);
  frame.count = MARK_LENGTH;
}
