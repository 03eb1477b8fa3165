// The one curses screen of the process, behind functions of plain types. This header must not
// include curses.h: most of it is invisible to Swift, and its globals are errors there. All
// functions belong to the thread that opened the screen; none does anything while it is closed.
#ifndef RUNNEL_CTERMINAL_H
#define RUNNEL_CTERMINAL_H

#include <stdbool.h>
#include <stdint.h>

// The session.

/// How runnel_terminal_open ended.
enum {
  RUNNEL_TERMINAL_OPENED = 0,
  /// The process has no terminal.
  RUNNEL_TERMINAL_NO_TTY,
  /// TERM is unset, empty, "dumb", or "unknown".
  RUNNEL_TERMINAL_NO_TERM,
  /// The terminfo database does not know TERM, or knows it as no screen.
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
  /// The number of colours; 0 when there are none or uses_color was false.
  int color_count;
  /// Whether the user's locale encodes in UTF-8.
  bool is_utf8;
} runnel_terminal_info;

/// What the terminfo database says of a type of terminal.
typedef struct {
  bool is_known;
  bool places_cursor;
  /// It understands the control sequences of ECMA-48.
  bool is_ansi;
  bool has_alternate_screen;
  int color_count;
} runnel_terminal_description;

/// Looks a type of terminal up, without touching the terminal. While a screen is open it is unknown.
void runnel_terminal_describe(const char *term, runnel_terminal_description *description);

/// Whether the user's locale encodes in UTF-8.
bool runnel_terminal_locale_is_utf8(void);

/// Takes the terminal: alternate screen, raw keys, and handlers that give it back after a crash.
int runnel_terminal_open(const runnel_terminal_options *options, runnel_terminal_info *info);

/// Gives the terminal back for good. Also called at exit.
void runnel_terminal_close(void);

/// Gives the terminal back until runnel_terminal_resume.
void runnel_terminal_suspend(void);

/// Takes the terminal again; also without a suspend before. The next flush sends everything.
void runnel_terminal_resume(void);

/// Asks the terminal for its size and tells curses.
void runnel_terminal_update_size(int *rows, int *columns);

/// Turns the reports of the mouse on or off.
void runnel_terminal_use_mouse(bool uses_mouse);

/// Sends control sequences to the terminal past curses, at once; nothing if it does not know those
/// of ECMA-48. Only between frames.
void runnel_terminal_send(const uint8_t *bytes, int count);

/// Drops what the terminal sent and nobody read: answers that nobody waits for.
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

/// A colour pair for two colours, -1 being the terminal's own; 0 when there are no colours.
int runnel_terminal_color_pair(int foreground, int background);

/// One cell of the screen.
typedef struct {
  /// The base and its marks, without zeros between them.
  uint32_t scalars[RUNNEL_CELL_SCALARS_MAX];
  uint32_t attributes;
  int color_pair;
  /// The columns: 1 or 2, or 0 in the second half of a wide cell.
  int width;
} runnel_cell;

/// Writes cells of one row, beginning in a column; the last one may be the last of the screen. What
/// the C library would not give its width is drawn as "?".
void runnel_terminal_put(int row, int column, const runnel_cell *cells, int count);

/// Moves the lines from `first` to `last` up by so many, down if negative; what the lines show that
/// come free is not known. False if the terminal cannot do that: nothing has moved then.
bool runnel_terminal_scroll(int first, int last, int lines);

/// Sends what changed, and shows the cursor at a cell, or hides it when the row is negative. `at_once`
/// asks the terminal to show all of it at once.
void runnel_terminal_flush(int cursor_row, int cursor_column, bool at_once);

/// Clears the screen at the next flush, before what was put since the last one.
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
  /// A key that has no meaning here.
  RUNNEL_INPUT_UNKNOWN,
};

/// Keys that are no characters.
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
  /// The function key n is this plus n.
  RUNNEL_KEY_FUNCTION = 100,
};

/// Bits of a key's modifiers.
enum {
  RUNNEL_MODIFIER_SHIFT = 1,
  RUNNEL_MODIFIER_META = 2,
  RUNNEL_MODIFIER_CONTROL = 4,
};

typedef struct {
  /// One of RUNNEL_INPUT.
  int kind;
  /// One byte of a character in UTF-8.
  uint8_t byte;
  /// One of RUNNEL_KEY, and its modifiers.
  int key;
  int modifiers;
} runnel_terminal_input;

/// Reads one input; its kind is NONE when nothing is pending. Waits only for the rest of a key that
/// has begun, as long as $ESCDELAY says (25 ms when unset).
void runnel_terminal_read(runnel_terminal_input *input);

/// Reads what is pending, at most `count` bytes, as it comes; returns how many those are.
///
/// For what follows the start of a paste, of which curses has read nothing.
int runnel_terminal_read_bytes(uint8_t *bytes, int count);

#endif
