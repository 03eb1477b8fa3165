#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "internal.h"

struct session session;

static const char modes_on[] = "\033[?2004h\033[?1004h";
static const char modes_off[] = "\033[?1004l\033[?2004l";
// Button events, motion while a button is down, and decimal coordinates. curses would take the
// format of coordinates from terminfo, where some terminals end at column 223, and has no motion.
static const char mouse_on[] = "\033[?1000h\033[?1002h\033[?1006h";
static const char mouse_off[] = "\033[?1006l\033[?1002l\033[?1000l";

// How long a terminal that takes nothing is waited for when the program is to end, and the step by
// which that is counted, in milliseconds.
enum { PATIENCE = 1000, PATIENCE_STEP = 50 };

// Waits until the terminal takes output; false if it takes none and the program is to end.
static bool wait_for_room(void) {
  while (true) {
    // The signals stay there for the program to read.
    struct pollfd polled[] = {{.fd = session.writer, .events = POLLOUT},
                              {.fd = session.signals, .events = POLLIN}};
    bool is_ending = session.patience >= 0;
    int got = poll(polled, is_ending ? 1 : 2, is_ending ? PATIENCE_STEP : -1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || polled[0].revents != 0) return true;
    if (!is_ending) {
      session.patience = PATIENCE;
    } else if ((session.patience -= PATIENCE_STEP) <= 0) {
      session.is_stalled = true;
      return false;
    }
  }
}

void write_bytes(const char *bytes, size_t left) {
  if (session.is_stalled) return;
  while (left > 0) {
    ssize_t written =
        write(session.writer < 0 ? session.descriptor : session.writer, bytes, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && wait_for_room()) continue;
    if (written <= 0) return;
    bytes += written;
    left -= (size_t)written;
  }
}

static bool closes_itself(int descriptor) {
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0;
}

void write_by_curses(int (*action)(void)) {
  int output = fileno(session.output);
  int saved = fcntl(output, F_DUPFD_CLOEXEC, 0);
  int ends[2];
  if (saved < 0 || pipe(ends) < 0) {
    if (saved >= 0) close(saved);
    action();
    return;
  }
  closes_itself(ends[0]);
  dup2(ends[1], output);
  close(ends[1]);
  action();
  dup2(saved, output);
  closes_itself(output);
  close(saved);
  char bytes[4096];
  ssize_t got;
  while ((got = read(ends[0], bytes, sizeof bytes)) > 0) write_bytes(bytes, (size_t)got);
  close(ends[0]);
}

void write_directly(const char *text) {
  write_bytes(text, strlen(text));
}

void runnel_terminal_send(const uint8_t *bytes, int count) {
  if (is_active() && session.is_ansi && count > 0) write_bytes((const char *)bytes, (size_t)count);
}

// Swift reads numbers without the locale, but C libraries might not: only the encoding is set. User
// texts are written in UTF-8 whatever the locale; the result decides about the program's own signs.
static bool choose_encoding(void) {
  if (setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return true;
  setlocale(LC_CTYPE, "C.UTF-8");
  return false;
}

// Appends a capability without its padding marks, which are for curses and not for the terminal.
static size_t append_capability(char *text, size_t length, size_t size, const char *name) {
  const char *value = tigetstr(name);
  if (value == NULL || value == (const char *)-1) return length;
  while (*value != '\0' && length + 1 < size) {
    if (value[0] == '$' && value[1] == '<') {
      const char *end = strchr(value, '>');
      if (end != NULL) {
        value = end + 1;
        continue;
      }
    }
    text[length++] = *value++;
  }
  return length;
}

static void arm_crash_handlers(void) {
  char text[512];
  size_t length = 0;
  if (session.is_ansi) {
    const char *off = "\033[?2026l\033[?1006l\033[?1002l\033[?1003l\033[?1000l";
    length = (size_t)snprintf(text, sizeof text, "%s%s", off, modes_off);
  }
  const char *names[] = {"sgr0", "op", "cnorm", "rmkx", "rmcup"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    length = append_capability(text, length, sizeof text - 2, names[i]);
  }
  text[length++] = '\r';
  text[length++] = '\n';
  crash_arm(session.descriptor, text, length);
}

/// Whether the terminal makes newlines of the returns that are typed.
static bool makes_newlines(void) {
  struct termios modes;
  return tcgetattr(session.descriptor, &modes) == 0 && modes.c_iflag & ICRNL;
}

static bool has_input(void) {
  int count = 0;
  return ioctl(session.descriptor, FIONREAD, &count) == 0 && count > 0;
}

static int start_curses(void) {
  const char *term = getenv("TERM");
  if (term == NULL || *term == '\0' || strcmp(term, "dumb") == 0 || strcmp(term, "unknown") == 0) {
    return RUNNEL_TERMINAL_NO_TERM;
  }
  session.file = fopen("/dev/tty", "r+e");
  if (session.file == NULL) return RUNNEL_TERMINAL_NO_TTY;
  session.descriptor = fileno(session.file);
  session.writer = open("/dev/tty", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGHUP);
  sigaddset(&ends, SIGUSR1);
  sigaddset(&ends, SIGUSR2);
  sigaddset(&ends, SIGALRM);
  session.signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  session.patience = -1;
  session.output = fopen("/dev/tty", "r+e");
  if (session.output == NULL) return RUNNEL_TERMINAL_NO_TTY;
  // If these are set, curses never sees a resize.
  unsetenv("LINES");
  unsetenv("COLUMNS");
  // A crash restores the terminal's present state.
  crash_arm(session.descriptor, "", 0);
  crash_set_active(true);
  // newterm changes the modes.
  session.reads_early = makes_newlines();
  session.screen = newterm(NULL, session.output, session.file);
  if (session.screen == NULL) return RUNNEL_TERMINAL_BAD_TERM;
  const char *cursor = tigetstr("cup");
  if (cursor == NULL || cursor == (const char *)-1) return RUNNEL_TERMINAL_NO_CURSOR;
  session.is_ansi = strncmp(cursor, "\033[", 2) == 0;
  return RUNNEL_TERMINAL_OPENED;
}

bool runnel_terminal_locale_is_utf8(void) {
  return choose_encoding();
}

static void turn_modes_on(void) {
  if (!session.is_ansi) return;
  write_directly(modes_on);
  if (session.has_mouse) write_directly(mouse_on);
}

static void turn_modes_off(void) {
  if (!session.is_ansi) return;
  if (session.has_mouse) write_directly(mouse_off);
  write_directly(modes_off);
}

void runnel_terminal_use_mouse(bool uses_mouse) {
  if (session.has_mouse == uses_mouse) return;
  session.has_mouse = uses_mouse;
  if (is_active() && session.is_ansi) write_directly(uses_mouse ? mouse_on : mouse_off);
}

static void set_modes(const runnel_terminal_options *options) {
  raw();
  noecho();
  nonl();
  session.reads_early = session.reads_early && has_input();
  curs_set(0);
  // curses completes its output even if keys are waiting.
  typeahead(-1);
  leaveok(stdscr, TRUE);
  session.pad = newpad(1, 1);
  keypad(session.pad, TRUE);
  nodelay(session.pad, TRUE);
  meta(session.pad, TRUE);
  intrflush(session.pad, FALSE);
  if (getenv("ESCDELAY") == NULL) set_escdelay(25);
  session.has_color = options->uses_color && has_colors() && start_color() == OK;
  if (session.has_color) use_default_colors();
  define_keys();
  look_open();
  draw_open();
  session.has_mouse = options->uses_mouse;
  turn_modes_on();
}

static void release(void) {
  if (session.pad != NULL) delwin(session.pad);
  if (session.screen != NULL) delscreen(session.screen);
  if (session.output != NULL) fclose(session.output);
  if (session.writer > 0) close(session.writer);
  if (session.signals > 0) close(session.signals);
  if (session.file != NULL) fclose(session.file);
  look_close();
  session = (struct session){0};
}

int runnel_terminal_open(const runnel_terminal_options *options, runnel_terminal_info *info) {
  static bool closes_at_exit;
  if (session.screen != NULL) return RUNNEL_TERMINAL_ALREADY_OPEN;
  bool is_utf8 = choose_encoding();
  int result = start_curses();
  if (result != RUNNEL_TERMINAL_OPENED) {
    if (session.screen != NULL) endwin();
    crash_disarm();
    release();
    return result;
  }
  arm_crash_handlers();
  capture_start();
  set_modes(options);
  if (!closes_at_exit) closes_at_exit = atexit(runnel_terminal_close) == 0;
  *info = (runnel_terminal_info){
      .descriptor = session.descriptor,
      .color_count = session.has_color ? COLORS : 0,
      .is_utf8 = is_utf8,
  };
  return result;
}

static void leave(void) {
  if (session.patience < 0) session.patience = PATIENCE;
  turn_modes_off();
  // It cannot restore the modes, because its output is not the terminal.
  write_by_curses(endwin);
  crash_restore_modes();
  crash_set_active(false);
  capture_stop();
}

void runnel_terminal_close(void) {
  if (session.screen == NULL) return;
  if (!session.is_suspended) leave();
  crash_disarm();
  release();
}

void runnel_terminal_discard_input(void) {
  if (is_active()) tcflush(session.descriptor, TCIFLUSH);
}

void runnel_terminal_suspend(void) {
  if (!is_active()) return;
  leave();
  session.is_suspended = true;
}

void runnel_terminal_resume(void) {
  if (session.screen == NULL) return;
  // After a stop from outside, the shell may have changed everything: leave properly, then return.
  if (!session.is_suspended) leave();
  session.is_suspended = false;
  session.is_stalled = false;
  session.patience = -1;
  crash_set_active(true);
  capture_start();
  reset_prog_mode();
  flushinp();
  turn_modes_on();
  // The next flush enters the alternate screen; before it the caller asks for the size.
  runnel_terminal_invalidate();
}

void runnel_terminal_update_size(int *rows, int *columns) {
  *rows = 0;
  *columns = 0;
  if (session.screen == NULL) return;
  struct winsize size;
  if (ioctl(session.descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0
      && is_term_resized(size.ws_row, size.ws_col)) {
    resizeterm(size.ws_row, size.ws_col);
    // curses reports the size that it was just given, without a readable descriptor. A key before
    // it is kept.
    int code = wgetch(session.pad);
    if (code != ERR && code != KEY_RESIZE) ungetch(code);
  }
  getmaxyx(stdscr, *rows, *columns);
}
