#include "CPlatform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int runnel_inotify_open(void) {
  return inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

static const uint32_t changed = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_CLOSE_WRITE;
static const uint32_t touched = changed | IN_MODIFY;
static const uint32_t moved_itself = IN_MOVE_SELF | IN_DELETE_SELF;

int runnel_inotify_add_watch(int descriptor, const char *directory) {
  return inotify_add_watch(descriptor, directory, touched | IN_ONLYDIR);
}

int runnel_inotify_add_file_watch(int descriptor, const char *directory) {
  // A database beside the file is written several times for each commit, which must wake nobody.
  uint32_t events = changed | IN_DELETE | IN_MOVED_FROM;
  return inotify_add_watch(descriptor, directory, events | IN_ONLYDIR);
}

int runnel_inotify_add_database_watch(
    int descriptor, const char *directory, const char *file) {
  // Every commit writes the log several times, which must wake nobody. So only the file itself is
  // watched for writes, by its inode, and the index of the log, which is written through memory and
  // tells only that its size changes; if they are replaced, the directory says so.
  uint32_t written = inotify_add_watch(descriptor, file, IN_MODIFY) < 0 ? IN_MODIFY : 0;
  char index[PATH_MAX];
  int length = snprintf(index, sizeof index, "%s-shm", file);
  if (length > 0 && (size_t)length < sizeof index) inotify_add_watch(descriptor, index, IN_MODIFY);
  uint32_t events = changed | written | IN_DELETE | IN_MOVED_FROM | moved_itself;
  int watch = inotify_add_watch(descriptor, directory, events | IN_ONLYDIR);
  if (watch < 0 || directory[0] != '/') return watch;
  char above[PATH_MAX];
  if (snprintf(above, sizeof above, "%s", directory) >= (int)sizeof above) return watch;
  for (char *slash = strrchr(above, '/'); slash != NULL && slash != above;
       slash = strrchr(above, '/')) {
    *slash = '\0';
    // The root cannot be moved. A directory that is reached in two ways keeps its other watches.
    inotify_add_watch(descriptor, above, moved_itself | IN_ONLYDIR | IN_MASK_ADD);
  }
  return watch;
}

// True if a name is among those that a list has between slashes, which no name contains.
static int is_listed(const char *name, const char *list) {
  size_t length = strlen(name);
  for (const char *found = list; (found = strstr(found, name)) != NULL; found++) {
    if (found[-1] == '/' && found[length] == '/') return 1;
  }
  return 0;
}

static int names(const struct inotify_event *event, const char *name) {
  if (event->mask & IN_IGNORED) return RUNNEL_INOTIFY_NAMED | RUNNEL_INOTIFY_GONE;
  if (event->mask & IN_Q_OVERFLOW) return RUNNEL_INOTIFY_NAMED;
  if (event->len == 0) return 0;
  if (name[0] == '/') return is_listed(event->name, name + 1);
  return name[0] == '\0' || strcmp(event->name, name) == 0;
}

// True for the files that SQLite keeps beside a file.
static int belongs_to(const char *name, const char *file) {
  size_t length = strlen(file);
  if (strncmp(name, file, length) != 0) return 0;
  return name[length] == '\0' || strcmp(name + length, "-wal") == 0
      || strcmp(name + length, "-shm") == 0;
}

static int moves(const struct inotify_event *event, const char *file) {
  // Among the events that were lost there may be any.
  if (event->mask & IN_Q_OVERFLOW) return RUNNEL_INOTIFY_MOVED;
  if (event->mask & moved_itself) return RUNNEL_INOTIFY_MOVED;
  // Only the file itself and the index of its log are watched for writes without a name.
  if (event->len == 0) return event->mask & IN_MODIFY ? RUNNEL_INOTIFY_MOVED : 0;
  const uint32_t named = IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE;
  if (event->mask & named) return belongs_to(event->name, file) ? RUNNEL_INOTIFY_MOVED : 0;
  // Connections write the log all the time, but close it rarely: another program may have written it.
  if (event->mask & IN_CLOSE_WRITE) return belongs_to(event->name, file) ? RUNNEL_INOTIFY_MOVED : 0;
  if (!(event->mask & IN_MODIFY)) return 0;
  // The index of the log is written by way of memory, without events: only its size is changed so.
  size_t length = strlen(file);
  int is_index = strncmp(event->name, file, length) == 0 && strcmp(event->name + length, "-shm") == 0;
  return is_index || strcmp(event->name, file) == 0 ? RUNNEL_INOTIFY_MOVED : 0;
}

// `file` may be NULL.
static int drain(int descriptor, const char *name, const char *file) {
  // The kernel returns whole events: an event with the longest name fits.
  char buffer[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
  int found = 0;
  for (;;) {
    ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return found;
    if (got <= 0) return -1;
    for (char *next = buffer; next < buffer + got;) {
      const struct inotify_event *event = (const struct inotify_event *)next;
      found |= names(event, name);
      if (file != NULL) found |= moves(event, file);
      next += sizeof *event + event->len;
    }
  }
}

int runnel_inotify_drain(int descriptor, const char *name) {
  return drain(descriptor, name, NULL);
}

int runnel_inotify_drain_database(int descriptor, const char *beacon, const char *file) {
  return drain(descriptor, beacon, file);
}
