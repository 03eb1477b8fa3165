#include "CPlatform.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

void runnel_close(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

int runnel_eventfd_open(void) {
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int runnel_eventfd_signal(int descriptor) {
  uint64_t one = 1;
  ssize_t written;
  do {
    written = write(descriptor, &one, sizeof one);
  } while (written < 0 && errno == EINTR);
  // A full counter is as readable as it can get.
  return written == sizeof one || errno == EAGAIN ? 0 : -1;
}

int runnel_eventfd_drain(int descriptor) {
  uint64_t count;
  ssize_t got;
  do {
    got = read(descriptor, &count, sizeof count);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof count) return 1;
  return errno == EAGAIN ? 0 : -1;
}

static int64_t now_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int runnel_poll(
    const int *descriptors, unsigned char *answers, int count, int timeout_milliseconds) {
  if (count < 0 || count > RUNNEL_POLL_MAX) {
    errno = EINVAL;
    return -1;
  }
  struct pollfd polled[RUNNEL_POLL_MAX];
  for (int i = 0; i < count; i++) {
    polled[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    answers[i] = 0;
  }
  int64_t deadline = timeout_milliseconds < 0 ? 0 : now_milliseconds() + timeout_milliseconds;
  int left = timeout_milliseconds;
  int ready;
  while ((ready = poll(polled, (nfds_t)count, left)) < 0) {
    if (errno != EINTR) return -1;
    if (timeout_milliseconds >= 0) {
      int64_t rest = deadline - now_milliseconds();
      left = rest > 0 ? (int)rest : 0;
    }
  }
  for (int i = 0; i < count; i++) {
    if (polled[i].revents & POLLIN) answers[i] |= RUNNEL_POLL_READABLE;
    if (polled[i].revents & (POLLHUP | POLLERR | POLLNVAL)) answers[i] |= RUNNEL_POLL_HUNG_UP;
  }
  return ready;
}
