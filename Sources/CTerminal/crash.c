#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "internal.h"

// A Swift trap, or any unhandled signal that ends a program, ends the process without running any
// of its code. These handlers restore the terminal and pass the signal to the previous handler
// (Swift's backtracer, or none), using only functions that are safe in a signal handler.

// Signals that cannot be handled, or that end no program. This program ignores PIPE and XFSZ.
static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT,
                             SIGCHLD, SIGURG,  SIGWINCH, SIGPIPE, SIGXFSZ};

static struct sigaction previous[NSIG];
static bool is_handled[NSIG];
static bool is_armed;
static volatile sig_atomic_t is_restorable;
static int terminal;
static struct termios saved_modes;
static char restore_text[512];
static size_t restore_length;
static char alternate_stack[64 * 1024];

static void restore_terminal(void) {
  if (!__atomic_exchange_n(&is_restorable, 0, __ATOMIC_SEQ_CST)) return;
  const char *next = restore_text;
  size_t left = restore_length;
  while (left > 0) {
    ssize_t written = write(terminal, next, left);
    if (written <= 0) break;
    next += written;
    left -= (size_t)written;
  }
  // Output is not drained: a terminal that does not read must not block a dead program.
  tcsetattr(terminal, TCSANOW, &saved_modes);
  capture_stop();
}

// Lets the previous handler see a signal that will not come again by itself, then dies of it: some
// handlers only report, and the terminal is already restored.
static void send_again(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  signal(number, SIG_DFL);
  raise(number);
}

static bool ends(int number) {
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (others[i] == number) return false;
  }
  return true;
}

static bool is_fault(int number) {
  return number == SIGILL || number == SIGSEGV || number == SIGBUS || number == SIGFPE;
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  int saved_errno = errno;
  restore_terminal();
  sigaction(number, &previous[number], NULL);
  // A faulting instruction faults again when this returns, and the previous handler then sees the
  // true frame. Other signals are sent again.
  if (!is_fault(number) || info->si_code <= 0) send_again(number);
  errno = saved_errno;
}

// The handlers of a stack overflow need another stack.
static void provide_stack(void) {
  stack_t current;
  if (sigaltstack(NULL, &current) == 0 && !(current.ss_flags & SS_DISABLE)) return;
  stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
  sigaltstack(&stack, NULL);
}

void crash_arm(int descriptor, const char *restore, size_t length) {
  terminal = descriptor;
  restore_length = length < sizeof restore_text ? length : sizeof restore_text;
  memcpy(restore_text, restore, restore_length);
  if (is_armed) return;
  provide_stack();
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int number = 1; number < NSIG; number++) {
    is_handled[number] = false;
    // The C library reserves some signals, and refuses them.
    if (!ends(number) || sigaction(number, NULL, &previous[number]) < 0) continue;
    if (previous[number].sa_handler == SIG_IGN) continue;
    is_handled[number] = sigaction(number, &action, NULL) == 0;
  }
  is_armed = true;
}

void crash_set_active(bool is_active) {
  if (is_active && tcgetattr(terminal, &saved_modes) < 0) return;
  is_restorable = is_active;
}

void crash_restore_modes(void) {
  if (is_restorable) tcsetattr(terminal, TCSANOW, &saved_modes);
}

void crash_disarm(void) {
  is_restorable = 0;
  if (!is_armed) return;
  is_armed = false;
  for (int number = 1; number < NSIG; number++) {
    struct sigaction current;
    // Handlers installed over these stay.
    if (is_handled[number] && sigaction(number, NULL, &current) == 0 &&
        current.sa_sigaction == handle) {
      sigaction(number, &previous[number], NULL);
    }
  }
}
