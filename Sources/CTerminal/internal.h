// Declarations shared by the files of this target.
#ifndef RUNNEL_TERMINAL_INTERNAL_H
#define RUNNEL_TERMINAL_INTERNAL_H

#define NCURSES_WIDECHAR 1
#include <wchar.h>

#include <curses.h>
#include <stddef.h>

#include "CTerminal.h"

/// Codes of the sequences that curses does not know. curses assigns codes for extended keys from
/// KEY_MAX up, so these are far above.
enum {
  CODE_PASTE_START = 20001,
  CODE_PASTE_END,
  CODE_FOCUS_IN,
  CODE_FOCUS_OUT,
};

/// The screen of the process.
struct session {
  SCREEN *screen;
  /// The pad for reading keys: reading from a window would paint a half-drawn screen.
  WINDOW *pad;
  FILE *file;
  int descriptor;
  /// The file that curses writes to: the terminal too.
  FILE *output;
  /// The terminal once more, for writes that do not block; negative if it could not be opened.
  int writer;
  /// Readable while a signal waits that is to end the program.
  int signals;
  /// The time that is left for a terminal that takes nothing, in milliseconds; negative while the
  /// program goes on, and may wait for it.
  int patience;
  /// The terminal took nothing until its time was over: nothing is written to it any more.
  bool is_stalled;
  bool is_suspended;
  /// The next input was typed before the modes were set, when the terminal made newlines of returns.
  bool reads_early;
  bool has_color;
  bool has_mouse;
  /// The terminal understands the control sequences of ECMA-48.
  bool is_ansi;
};

extern struct session session;

static inline bool is_active(void) {
  return session.screen != NULL && !session.is_suspended;
}

/// Writes to the terminal without curses; only between frames, because curses has its own buffer.
void write_directly(const char *text);

/// Writes all bytes to the terminal, unless the program is to end and the terminal takes them not.
void write_bytes(const char *bytes, size_t count);

/// Writes what curses writes during an action, which is less than a pipe holds: curses itself would
/// wait for the terminal however long it takes.
void write_by_curses(int (*action)(void));

// frame.c: a frame in one write.

/// The sequences that make the terminal show a frame only at its end.
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"

/// Adds room for so many bytes to the frame, to be written by the caller; NULL if there is no memory.
char *frame_room(size_t count);
/// Adds a byte to the frame.
void frame_add_byte(char byte);

/// Adds a capability of the terminal, with the padding that it asks for; nothing if it is NULL.
void frame_add_capability(const char *text);

/// Adds a capability that takes one number or two.
void frame_add_capability_of(const char *text, int first, int second);

/// Sends the frame in one write, between the marks of a frame if it is to be shown at once.
void frame_send(bool at_once);

// look.c: attributes and colors.

/// A capability of the terminal as a string; NULL if it has none by this name.
const char *capability(const char *name);

/// Reads the capabilities of the terminal.
void look_open(void);

void look_close(void);

/// Gives the following characters these attributes, and the colors of a pair.
void look_set(unsigned attributes, int pair);

/// Whether a pair has a background of its own.
bool look_has_background(int pair);

// draw.c: cells.

/// Reads the capabilities of the terminal.
void draw_open(void);

// crash.c: restoring the terminal when the program dies.

/// Installs the handlers. `restore` is the text that restores the terminal.
void crash_arm(int descriptor, const char *restore, size_t length);

/// Sets whether the handlers have a terminal to restore.
void crash_set_active(bool is_active);

/// Restores the modes of the terminal, without waiting for its output.
void crash_restore_modes(void);

/// Restores the previous handlers.
void crash_disarm(void);

// capture.c: stderr, which would be drawn over the screen.

/// Sends stderr to memory, when it is a terminal.
void capture_start(void);

/// Restores stderr and writes the kept output there. Safe in a signal handler.
void capture_stop(void);

/// Adds the keys that curses does not know itself.
void define_keys(void);

#endif
