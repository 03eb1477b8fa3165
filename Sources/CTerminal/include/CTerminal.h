// The single curses screen of the process, behind functions of plain types. This header must not
// include curses.h: most of it is invisible to Swift, and its globals are errors there. All
// functions belong to the thread that opened the screen; they do nothing while it is closed.
#ifndef RUNNEL_CTERMINAL_H
#define RUNNEL_CTERMINAL_H

#include <stdbool.h>
#include <stdint.h>

// The session.

/// The results of runnel_terminal_open.
enum {
  RUNNEL_TERMINAL_OPENED = 0,
  /// The process has no terminal.
  RUNNEL_TERMINAL_NO_TTY,
  /// TERM is unset, empty, "dumb", or "unknown".
  RUNNEL_TERMINAL_NO_TERM,
  /// The terminfo database does not know TERM, or knows it as something other than a screen.
  RUNNEL_TERMINAL_BAD_TERM,
  /// The terminal cannot place its cursor.
  RUNNEL_TERMINAL_NO_CURSOR,
  /// A screen is open already.
  RUNNEL_TERMINAL_ALREADY_OPEN,
};

typedef struct {
  bool uses_color;
  bool uses_mouse;
} runnel_terminal_options;

typedef struct {
  /// The descriptor that keys are read from.
  int descriptor;
  /// The number of colors; 0 if there are none or uses_color was false.
  int color_count;
  /// Whether the user's locale encodes in UTF-8.
  bool is_utf8;
} runnel_terminal_info;

/// The terminfo description of a type of terminal.
typedef struct {
  bool is_known;
  bool places_cursor;
  /// The terminal understands the control sequences of ECMA-48.
  bool is_ansi;
  bool has_alternate_screen;
  int color_count;
} runnel_terminal_description;

/// Looks up a type of terminal, without touching the terminal. While a screen is open, the result
/// is unknown.
void runnel_terminal_describe(const char *term, runnel_terminal_description *description);

/// Whether the user's locale encodes in UTF-8.
bool runnel_terminal_locale_is_utf8(void);

/// Takes the terminal: alternate screen, raw keys, and handlers that give it back after a crash.
int runnel_terminal_open(const runnel_terminal_options *options, runnel_terminal_info *info);

/// Gives the terminal back for good. Also called at exit.
void runnel_terminal_close(void);

/// Gives the terminal back until runnel_terminal_resume.
void runnel_terminal_suspend(void);

/// Takes the terminal again, also without a suspend before. The next flush sends everything.
void runnel_terminal_resume(void);

/// Asks the terminal for its size and tells curses.
void runnel_terminal_update_size(int *rows, int *columns);

/// Turns mouse reports on or off.
void runnel_terminal_use_mouse(bool uses_mouse);

/// Sends control sequences to the terminal at once, without curses; does nothing if the terminal
/// does not understand those of ECMA-48. Only between frames.
void runnel_terminal_send(const uint8_t *bytes, int count);

/// Drops unread input from the terminal: answers that are not needed any more.
void runnel_terminal_discard_input(void);

// Drawing. Nothing is sent before runnel_terminal_flush.

/// Bits of a cell's attributes.
enum {
  RUNNEL_ATTRIBUTE_BOLD = 1,
  RUNNEL_ATTRIBUTE_DIM = 2,
  RUNNEL_ATTRIBUTE_ITALIC = 4,
  RUNNEL_ATTRIBUTE_UNDERLINE = 8,
  RUNNEL_ATTRIBUTE_REVERSE = 16,
};

/// The most scalars of one cell: a base and four marks.
enum { RUNNEL_CELL_SCALARS_MAX = 5 };

/// The first number of the colors that are no numbered ones: this plus red, green and blue, a byte
/// each.
enum { RUNNEL_COLOR_DIRECT = 0x1000000 };

/// The pair of two colors, where -1 is the terminal's own color; 0 if there are no colors.
int runnel_terminal_color_pair(int foreground, int background);

/// A cell of the screen.
typedef struct {
  /// The base and its marks, without zeros between them.
  uint32_t scalars[RUNNEL_CELL_SCALARS_MAX];
  uint32_t attributes;
  int color_pair;
  /// The number of columns: 1 or 2, or 0 in the second half of a wide cell.
  int width;
} runnel_cell;

/// Writes cells of one row from a column on; the last one may be the last of the screen. A text to
/// which the C library would give another width is drawn as "?".
void runnel_terminal_put(int row, int column, const runnel_cell *cells, int count);

/// Moves the lines from `first` to `last` up by `lines`, or down if negative; the content of the
/// lines that become free is unknown. Returns false, and moves nothing, if the terminal cannot do
/// this.
bool runnel_terminal_scroll(int first, int last, int lines);

/// Sends the changes, and shows the cursor at a cell, or hides it if the row is negative. `at_once`
/// asks the terminal to show all of it at once.
void runnel_terminal_flush(int cursor_row, int cursor_column, bool at_once);

/// Clears the screen at the next flush, before the cells that were put since the last one.
void runnel_terminal_invalidate(void);

void runnel_terminal_bell(void);

// Input.

enum {
  RUNNEL_INPUT_NONE = 0,
  RUNNEL_INPUT_BYTE,
  RUNNEL_INPUT_KEY,
  RUNNEL_INPUT_PASTE_START,
  RUNNEL_INPUT_PASTE_END,
  RUNNEL_INPUT_FOCUS_IN,
  RUNNEL_INPUT_FOCUS_OUT,
  RUNNEL_INPUT_RESIZE,
  /// A key without a meaning here.
  RUNNEL_INPUT_UNKNOWN,
};

/// Keys other than characters.
enum {
  RUNNEL_KEY_ENTER = 1,
  RUNNEL_KEY_BACKSPACE,
  RUNNEL_KEY_DELETE,
  RUNNEL_KEY_INSERT,
  RUNNEL_KEY_UP,
  RUNNEL_KEY_DOWN,
  RUNNEL_KEY_LEFT,
  RUNNEL_KEY_RIGHT,
  RUNNEL_KEY_HOME,
  RUNNEL_KEY_END,
  RUNNEL_KEY_PAGE_UP,
  RUNNEL_KEY_PAGE_DOWN,
  RUNNEL_KEY_BACK_TAB,
  /// The function key n is this number plus n.
  RUNNEL_KEY_FUNCTION = 100,
};

/// Bits of a key's modifiers.
enum {
  RUNNEL_MODIFIER_SHIFT = 1,
  RUNNEL_MODIFIER_META = 2,
  RUNNEL_MODIFIER_CONTROL = 4,
};

typedef struct {
  /// The kind: a constant of RUNNEL_INPUT.
  int kind;
  /// A byte of a character in UTF-8.
  uint8_t byte;
  /// The key, a constant of RUNNEL_KEY, and its modifiers.
  int key;
  int modifiers;
} runnel_terminal_input;

/// Reads one input; its kind is NONE if nothing is pending. Waits only for the rest of a key that
/// has begun, for the time in $ESCDELAY (25 ms if unset).
void runnel_terminal_read(runnel_terminal_input *input);

/// Reads pending input, at most `count` bytes, unprocessed; returns the number of bytes.
///
/// For the text after the start of a paste, of which curses has read nothing.
int runnel_terminal_read_bytes(uint8_t *bytes, int count);

#endif
