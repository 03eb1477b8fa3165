// What the files of this target share.
#ifndef RUNNEL_TERMINAL_INTERNAL_H
#define RUNNEL_TERMINAL_INTERNAL_H

#define NCURSES_WIDECHAR 1
#include <wchar.h>

#include <curses.h>
#include <stddef.h>

#include "CTerminal.h"

/// Codes of the sequences that curses does not know itself. curses hands out codes for extended
/// keys from KEY_MAX up, so these stand far above.
enum {
  CODE_PASTE_START = 20001,
  CODE_PASTE_END,
  CODE_FOCUS_IN,
  CODE_FOCUS_OUT,
};

/// The screen of the process.
struct session {
  SCREEN *screen;
  /// Keys are read from a pad: reading from a window would paint what is half drawn.
  WINDOW *pad;
  FILE *file;
  int descriptor;
  /// What curses writes to: the terminal too.
  FILE *output;
  bool is_suspended;
  bool has_color;
  bool has_mouse;
  /// The terminal understands the control sequences of ECMA-48.
  bool is_ansi;
};

extern struct session session;

static inline bool is_active(void) {
  return session.screen != NULL && !session.is_suspended;
}

/// Writes to the terminal past curses; only between frames, because curses has its own buffer.
void write_directly(const char *text);

/// Writes all of it to the terminal.
void write_bytes(const char *bytes, size_t count);

// frame.c: a frame in one write.

/// What asks the terminal to show nothing of a frame before its end.
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"

/// Adds a byte to the frame.
void frame_add_byte(char byte);

/// Adds a capability of the terminal, with the padding that it asks for; nothing if it is NULL.
void frame_add_capability(const char *text);

/// Adds a capability that takes one number, or two.
void frame_add_capability_of(const char *text, int first, int second);

/// Sends the frame in one write, between the marks of a frame if it is to be shown at once.
void frame_send(bool at_once);

// look.c: attributes and colours.

/// A capability of the terminal as a string; NULL if it has none by this name.
const char *capability(const char *name);

/// Finds out what the terminal has.
void look_open(void);

void look_close(void);

/// Lets the characters that follow have these attributes, and the colours of a pair.
void look_set(unsigned attributes, int pair);

/// Whether a pair has a background of its own.
bool look_has_background(int pair);

// draw.c: cells.

/// Finds out what the terminal has.
void draw_open(void);

// crash.c: giving the terminal back when the program dies.

/// Installs the handlers. `restore` is what brings the terminal back.
void crash_arm(int descriptor, const char *restore, size_t length);

/// Whether the handlers have a terminal to bring back.
void crash_set_active(bool is_active);

/// Puts the previous handlers back.
void crash_disarm(void);

// capture.c: stderr, which would be drawn over the screen.

/// Sends stderr to memory, when it is a terminal.
void capture_start(void);

/// Sends stderr where it went before and writes there what was kept. Safe in a signal handler.
void capture_stop(void);

/// Adds the keys that curses does not know itself.
void define_keys(void);

#endif
