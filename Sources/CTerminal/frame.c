#include <stdlib.h>
#include <string.h>

#include "internal.h"
// term.h needs curses.h before it.
#include <term.h>

// A frame is made in memory and sent in one write. Otherwise a fast terminal would wake for each
// piece, and might show it.

enum { MARK_LENGTH = sizeof FRAME_BEGIN - 1, SIZE_FIRST = 16 * 1024 };

/// The bytes of the frame, after space for the mark of its beginning.
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

char *frame_room(size_t count) {
  // Room for the mark of the frame's end is always kept.
  if (!make_room(count + MARK_LENGTH)) return NULL;
  char *bytes = frame.bytes + frame.count;
  frame.count += count;
  return bytes;
}

void frame_add_byte(char byte) {
  char *room = frame_room(1);
  if (room != NULL) *room = byte;
}

static int put_byte(int byte) {
  frame_add_byte((char)byte);
  return byte;
}

void frame_add_capability(const char *text) {
  if (text == NULL) return;
  // A text with a pause needs tputs; any other text is copied.
  if (strchr(text, '$') != NULL) {
    tputs(text, 1, put_byte);
    return;
  }
  while (*text != '\0') frame_add_byte(*text++);
}

static void add_number(int number) {
  char digits[12];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) frame_add_byte(digits[--count]);
}

/// Adds a capability that contains its numbers in plain form, as in most terminals; for any other
/// one, returns false and adds nothing.
static bool add_plain(const char *text, int first, int second) {
  if (first < 0 || second < 0) return false;
  for (const char *next = text; *next != '\0';) {
    if (*next == '$') return false;
    if (*next++ != '%') continue;
    if (*next == 'i') {
      next++;
    } else if (strncmp(next, "p1%d", 4) == 0 || strncmp(next, "p2%d", 4) == 0) {
      next += 4;
    } else {
      return false;
    }
  }
  int numbers[] = {first, second};
  while (*text != '\0') {
    if (*text != '%') {
      frame_add_byte(*text++);
    } else if (text[1] == 'i') {
      numbers[0]++;
      numbers[1]++;
      text += 2;
    } else {
      add_number(numbers[text[2] - '1']);
      text += 5;
    }
  }
  return true;
}

void frame_add_capability_of(const char *text, int first, int second) {
  if (text == NULL || add_plain(text, first, second)) return;
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
