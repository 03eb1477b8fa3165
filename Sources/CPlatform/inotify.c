#include "CPlatform.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int runnel_inotify_open(void) {
  return inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

int runnel_inotify_add_watch(int descriptor, const char *directory) {
  uint32_t events = IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE;
  return inotify_add_watch(descriptor, directory, events | IN_ONLYDIR);
}

static int names(const struct inotify_event *event, const char *name) {
  if (event->mask & IN_IGNORED) return RUNNEL_INOTIFY_NAMED | RUNNEL_INOTIFY_GONE;
  if (event->mask & IN_Q_OVERFLOW) return RUNNEL_INOTIFY_NAMED;
  return event->len > 0 && (name[0] == '\0' || strcmp(event->name, name) == 0);
}

int runnel_inotify_drain(int descriptor, const char *name) {
  // The kernel hands out whole events: one of the longest names always fits.
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
      next += sizeof *event + event->len;
    }
  }
}
