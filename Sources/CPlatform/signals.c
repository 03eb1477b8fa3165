#include "CPlatform.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

// Those that ask the program to end, and end it where nothing handles them.
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

static void fill_with_ends(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaddset(set, ends[i]);
}

static void fill(sigset_t *set) {
  static const int others[] = {SIGTSTP, SIGCONT, SIGWINCH};
  fill_with_ends(set);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) sigaddset(set, others[i]);
}

bool runnel_signal_ends(int number) {
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    if (ends[i] == number) return true;
  }
  return false;
}

// pthread_sigmask and related functions return the error instead of setting errno.
static int change_mask(int how, const sigset_t *set) {
  int reason = pthread_sigmask(how, set, NULL);
  if (reason == 0) return 0;
  errno = reason;
  return -1;
}

// A pipe without a reader, and the file size limit, are reported by errors of the write.
static int handle_failing_writes(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGXFSZ, &action, NULL) < 0) return -1;
  return sigaction(SIGPIPE, &action, NULL);
}

int runnel_signals_block(void) {
  sigset_t set;
  fill(&set);
  if (handle_failing_writes(SIG_IGN) < 0) return -1;
  return change_mask(SIG_BLOCK, &set);
}

int runnel_signals_restore(void) {
  sigset_t set;
  fill(&set);
  if (handle_failing_writes(SIG_DFL) < 0) return -1;
  return change_mask(SIG_UNBLOCK, &set);
}

int runnel_signals_let_end(bool lets) {
  sigset_t set;
  fill_with_ends(&set);
  return change_mask(lets ? SIG_UNBLOCK : SIG_BLOCK, &set);
}

int runnel_signalfd_open(void) {
  sigset_t set;
  fill(&set);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int runnel_signalfd_read(int descriptor) {
  struct signalfd_siginfo info;
  ssize_t got;
  do {
    got = read(descriptor, &info, sizeof info);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof info) return (int)info.ssi_signo;
  return errno == EAGAIN ? 0 : -1;
}

int runnel_stop_process_group(void) {
  struct sigaction standard = {.sa_handler = SIG_DFL}, previous;
  sigemptyset(&standard.sa_mask);
  sigset_t stop, resumed;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  sigemptyset(&resumed);
  sigaddset(&resumed, SIGCONT);
  if (sigaction(SIGTSTP, &standard, &previous) < 0) return -1;
  // If it is unblocked when signalled, the process stops before kill returns.
  int result = change_mask(SIG_UNBLOCK, &stop);
  if (result == 0) {
    result = kill(0, SIGTSTP);
    change_mask(SIG_BLOCK, &stop);
  }
  sigaction(SIGTSTP, &previous, NULL);
  // The signal that continued the process is dropped: the caller sees this function return.
  struct timespec no_wait = {0, 0};
  while (sigtimedwait(&resumed, NULL, &no_wait) > 0) {
  }
  return result;
}
