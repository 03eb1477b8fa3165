#include "CStorage.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The index of the log is mapped in pieces of this size; the head is in the first one.
#define INDEX_PIECE_BYTES 32768
// A piece holds the page numbers of so many frames, less those whose place the head takes, and then a hash
// table, whose slots hold numbers of frames from 1.
#define INDEX_HEAD_BYTES 136
#define INDEX_PIECE_FRAMES 4096
#define INDEX_SLOTS_OFFSET 16384
#define INDEX_SLOTS 8192
// The offsets in the header of the index that are read here.
#define OFFSET_FRAMES 16
#define OFFSET_SALTS 32
#define OFFSET_COPIED 96
#define OFFSET_BEGUN 128

static sqlite3_file *file_of(void *connection) {
  if (connection == NULL) return NULL;
  sqlite3_file *file = NULL;
  int result = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return result == SQLITE_OK && file != NULL && file->pMethods != NULL ? file : NULL;
}

static unsigned number(const volatile char *index, int offset) {
  // The index has the byte order of this machine.
  return *(const volatile unsigned *)(const volatile void *)(index + offset);
}

// Returns a piece of the index; NULL if there is none, and nothing is made.
static const volatile char *index_piece(sqlite3_file *file, int piece) {
  if (file == NULL || file->pMethods->iVersion < 2 || file->pMethods->xShmMap == NULL) return NULL;
  void volatile *bytes = NULL;
  int result = file->pMethods->xShmMap(file, piece, INDEX_PIECE_BYTES, 0, &bytes);
  return result == SQLITE_OK || result == SQLITE_READONLY ? bytes : NULL;
}

int runnel_storage_log_state(void *connection, struct runnel_log_state *state) {
  const volatile char *bytes = index_piece(file_of(connection), 0);
  if (bytes == NULL) return -1;
  state->frames = number(bytes, OFFSET_FRAMES);
  state->copied = number(bytes, OFFSET_COPIED);
  state->begun = number(bytes, OFFSET_BEGUN);
  for (int offset = 0; offset < (int)sizeof state->salts; offset++) {
    state->salts[offset] = (unsigned char)bytes[OFFSET_SALTS + offset];
  }
  return 0;
}

// Returns 1 if the pages of a piece's first frames are there, and all of these frames are in its hash table.
static int is_piece_whole(const volatile char *piece, int head, unsigned count) {
  const volatile unsigned *pages = (const volatile unsigned *)(const volatile void *)(piece + head);
  const volatile unsigned short *slots =
    (const volatile unsigned short *)(const volatile void *)(piece + INDEX_SLOTS_OFFSET);
  unsigned char is_known[INDEX_PIECE_FRAMES] = {0};
  unsigned known = 0;
  for (int slot = 0; slot < INDEX_SLOTS; slot++) {
    unsigned frame = slots[slot];
    if (frame == 0 || frame > count || is_known[frame - 1] || pages[frame - 1] == 0) continue;
    is_known[frame - 1] = 1;
    known++;
  }
  return known == count;
}

int runnel_storage_index_is_whole(void *connection) {
  sqlite3_file *file = file_of(connection);
  const volatile char *piece = index_piece(file, 0);
  if (piece == NULL) return -1;
  unsigned left = number(piece, OFFSET_FRAMES);
  for (int place = 0; left > 0; place++) {
    piece = index_piece(file, place);
    if (piece == NULL) return 0;
    int head = place == 0 ? INDEX_HEAD_BYTES : 0;
    unsigned room = INDEX_PIECE_FRAMES - (unsigned)head / sizeof(unsigned);
    unsigned count = left < room ? left : room;
    if (!is_piece_whole(piece, head, count)) return 0;
    left -= count;
  }
  return 1;
}

int runnel_storage_read_file(void *connection, void *bytes, int count, long long offset) {
  sqlite3_file *file = file_of(connection);
  if (file == NULL) return -1;
  return file->pMethods->xRead(file, bytes, count, offset) == SQLITE_OK ? 0 : -1;
}

int runnel_storage_has_moved(void *connection) {
  int has_moved = 0;
  int result = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return result == SQLITE_OK && has_moved;
}

int runnel_storage_keep_log(void *connection, int keeps) {
  int result = sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, NULL);
  return result == SQLITE_OK ? 0 : -1;
}

void runnel_storage_log_sum(const void *bytes, long count, int is_big_endian, unsigned sums[2]) {
  unsigned first = sums[0], second = sums[1];
  const unsigned char *next = bytes;
  for (long offset = 0; offset + 8 <= count; offset += 8) {
    unsigned words[2];
    memcpy(words, next + offset, sizeof words);
    first += (is_big_endian ? be32toh(words[0]) : le32toh(words[0])) + second;
    second += (is_big_endian ? be32toh(words[1]) : le32toh(words[1])) + first;
  }
  sums[0] = first;
  sums[1] = second;
}

// Only functions that are safe after a fork are called.
static void pass_on(const char *path, char *bytes, size_t count, int target) {
  // A pipe would keep this process, and who waits for it.
  int source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t read_count = source < 0 ? -1 : pread(source, bytes, count, 0);
  if (read_count > 0) read_count = write(target, bytes, (size_t)read_count);
  _exit(read_count < 0);
}

long runnel_storage_read_apart(const char *path, void *bytes, long count) {
  int ends[2];
  if (count < 0 || pipe2(ends, O_CLOEXEC) != 0) return -1;
  pid_t child = fork();
  if (child == 0) pass_on(path, bytes, (size_t)count, ends[1]);
  close(ends[1]);
  ssize_t total = child < 0 ? -1 : 0;
  while (total >= 0 && total < count) {
    ssize_t part = read(ends[0], (char *)bytes + total, (size_t)(count - total));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    total += part;
  }
  close(ends[0]);
  // Whoever waits for all children may have been first.
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  return total;
}

long long runnel_storage_machine_start(void) {
  struct timespec now, since;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0 || clock_gettime(CLOCK_BOOTTIME, &since) != 0) return -1;
  return (long long)now.tv_sec - (long long)since.tv_sec;
}

int runnel_storage_rename_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}
