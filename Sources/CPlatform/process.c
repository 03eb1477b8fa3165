#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

static int status_of(int raw) {
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

// Only a process in the foreground may change the foreground group, unless this signal is blocked.
static void give_terminal(int terminal, pid_t group) {
  if (terminal < 0) return;
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  tcsetpgrp(terminal, group);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// Between fork and exec, only functions that are safe in a signal handler are called.
static void become(const char *const arguments[]) {
  runnel_signals_restore();
  execvp(arguments[0], (char *const *)arguments);
  _exit(NOT_FOUND);
}

int runnel_run_in_terminal(const char *const arguments[], int terminal) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    // Both processes do this, so that it is done before either goes on.
    setpgid(0, 0);
    give_terminal(terminal, getpid());
    become(arguments);
  }
  setpgid(child, child);
  give_terminal(terminal, child);
  int raw = 0;
  for (;;) {
    pid_t got = waitpid(child, &raw, WUNTRACED);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || !WIFSTOPPED(raw)) break;
    give_terminal(terminal, getpgrp());
    runnel_stop_process_group();
    give_terminal(terminal, child);
    kill(-child, SIGCONT);
  }
  give_terminal(terminal, getpgrp());
  return status_of(raw);
}

static int64_t now_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// A closed reader is reported by EPIPE, whatever the program does with the signal.
static ssize_t write_without_signal(int descriptor, const char *bytes, size_t count) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  ssize_t written = write(descriptor, bytes, count);
  int error = errno;
  if (written < 0 && error == EPIPE) {
    struct timespec none = {0, 0};
    sigtimedwait(&set, NULL, &none);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return written;
}

// Writes the bytes before the deadline. Returns 0 if the reader took all or is gone, -1 on a
// timeout.
static int feed(int descriptor, const char *next, size_t left, int64_t deadline) {
  while (left > 0) {
    int64_t rest = deadline - now_milliseconds();
    struct pollfd polled = {.fd = descriptor, .events = POLLOUT};
    int ready = rest > 0 ? poll(&polled, 1, (int)rest) : 0;
    if (ready == 0) return -1;
    ssize_t written = write_without_signal(descriptor, next, left);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return 0;
    next += written;
    left -= (size_t)written;
  }
  return 0;
}

// Waits for the end of the program; kills it at the deadline.
static int finish(pid_t child, int64_t deadline) {
  int raw = 0;
  for (;;) {
    pid_t got = waitpid(child, &raw, WNOHANG);
    if (got == child) return status_of(raw);
    if (got < 0 && errno != EINTR) return -1;
    if (now_milliseconds() >= deadline) break;
    struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
  }
  kill(child, SIGKILL);
  while (waitpid(child, &raw, 0) < 0 && errno == EINTR) {
  }
  errno = ETIMEDOUT;
  return -1;
}

int runnel_run_with_input(
    const char *const arguments[], const void *bytes, size_t count, int timeout_milliseconds) {
  int64_t deadline = now_milliseconds() + timeout_milliseconds;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    if (dup2(ends[0], STDIN_FILENO) < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0
        || dup2(nothing, STDERR_FILENO) < 0) {
      _exit(NOT_FOUND);
    }
    become(arguments);
  }
  close(ends[0]);
  if (child < 0) {
    close(ends[1]);
    return -1;
  }
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  int fed = feed(ends[1], bytes, count, deadline);
  close(ends[1]);
  return finish(child, fed < 0 ? 0 : deadline);
}
