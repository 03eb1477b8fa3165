#include "internal.h"

// The output of cells. The changes since the last frame are known here, so curses need not find
// them again: it only provides terminfo, and keeps a blank screen of its own.

enum {
  /// The numbers of blanks from which erasing them is shorter than writing them.
  ERASED_TO_END_MIN = 4,
  ERASED_BETWEEN_MIN = 10,
};

static struct {
  const char *move;
  const char *move_right;
  const char *erase;
  const char *erase_to_end;
  const char *set_scroll_rows;
  const char *scroll_up;
  const char *scroll_down;
  const char *hide_cursor;
  const char *show_cursor;
  /// Erased cells take the current background.
  bool erases_with_background;
  /// The cursor may move while attributes are on.
  bool moves_with_attributes;
  /// A character in the last cell of the screen scrolls it.
  bool scrolls_at_end;
} terminal;

/// The cell of the next character; the column is -1 if it is not known.
static int row_now;
static int column_now = -1;
static bool is_cursor_shown;
/// True if the next frame is drawn on a blank screen.
static bool is_to_be_cleared;

void draw_open(void) {
  terminal.move = capability("cup");
  terminal.move_right = capability("cuf");
  terminal.erase = capability("ech");
  terminal.erase_to_end = capability("el");
  terminal.set_scroll_rows = capability("csr");
  terminal.scroll_up = capability("ind");
  terminal.scroll_down = capability("ri");
  terminal.hide_cursor = capability("civis");
  terminal.show_cursor = capability("cnorm");
  terminal.erases_with_background = tigetflag("bce") > 0;
  terminal.moves_with_attributes = tigetflag("msgr") > 0;
  terminal.scrolls_at_end = tigetflag("am") > 0 && tigetflag("xenl") <= 0;
  is_cursor_shown = false;
  is_to_be_cleared = true;
}

static void move_to(int row, int column) {
  if (row == row_now && column == column_now) return;
  if (!terminal.moves_with_attributes) look_set(0, 0);
  frame_add_capability_of(terminal.move, row, column);
  row_now = row;
  column_now = column;
}

static void add_scalar(uint32_t scalar) {
  if (scalar < 0x80) return frame_add_byte((char)scalar);
  if (scalar < 0x800) {
    frame_add_byte((char)(0xC0 | scalar >> 6));
  } else {
    if (scalar < 0x10000) {
      frame_add_byte((char)(0xE0 | scalar >> 12));
    } else {
      frame_add_byte((char)(0xF0 | scalar >> 18));
      frame_add_byte((char)(0x80 | (scalar >> 12 & 0x3F)));
    }
    frame_add_byte((char)(0x80 | (scalar >> 6 & 0x3F)));
  }
  frame_add_byte((char)(0x80 | (scalar & 0x3F)));
}

/// Adds a cell's text. A text to which the C library would give another width becomes "?", so that
/// the rest of the row does not shift.
static void add_text(const runnel_cell *cell) {
  uint32_t base = cell->scalars[0];
  if (base >= 0x20 && base < 0x7F && cell->width == 1 && cell->scalars[1] == 0) {
    return frame_add_byte((char)base);
  }
  if (wcwidth((wchar_t)base) != cell->width) {
    frame_add_byte('?');
    if (cell->width == 2) frame_add_byte(' ');
    return;
  }
  add_scalar(base);
  for (int i = 1; i < RUNNEL_CELL_SCALARS_MAX && cell->scalars[i] != 0; i++) {
    if (wcwidth((wchar_t)cell->scalars[i]) == 0) add_scalar(cell->scalars[i]);
  }
}

static bool is_same_blank(const runnel_cell *cell, const runnel_cell *other) {
  return cell->scalars[0] == ' ' && cell->scalars[1] == 0 && cell->width == 1
      && cell->attributes == other->attributes && cell->color_pair == other->color_pair;
}

/// Returns the number of equal blanks at the start of a range of cells if they may be erased, else
/// 0.
static int erasable_count(const runnel_cell *cells, int count) {
  const unsigned seen = RUNNEL_ATTRIBUTE_UNDERLINE | RUNNEL_ATTRIBUTE_REVERSE;
  if (cells->attributes & seen) return 0;
  if (look_has_background(cells->color_pair) && !terminal.erases_with_background) return 0;
  int blanks = 0;
  while (blanks < count && is_same_blank(&cells[blanks], cells)) blanks++;
  return blanks;
}

/// Erases `blanks` cells from a column on; returns false if they must be written instead.
static bool erase_blanks(int row, int column, int blanks, bool is_last) {
  bool is_to_end = column + blanks == COLS;
  if (is_to_end && terminal.erase_to_end != NULL && blanks >= ERASED_TO_END_MIN) {
    frame_add_capability(terminal.erase_to_end);
    return true;
  }
  if (blanks < ERASED_BETWEEN_MIN || terminal.erase == NULL) return false;
  frame_add_capability_of(terminal.erase, blanks, 0);
  if (is_last) return true;
  if (terminal.move_right == NULL) {
    move_to(row, column + blanks);
  } else {
    frame_add_capability_of(terminal.move_right, blanks, 0);
    column_now = column + blanks;
  }
  return true;
}

/// How many cells a range begins with that look the same, hold a character of ASCII each, and are no
/// blanks that may be erased, if they begin with another character.
static int plain_count(const runnel_cell *cells, int count) {
  int plain = 0, blanks = 0;
  if (cells->scalars[0] == ' ') return 0;
  while (plain < count) {
    const runnel_cell *cell = &cells[plain];
    if (cell->scalars[0] < 0x20 || cell->scalars[0] >= 0x7F || cell->scalars[1] != 0
        || cell->width != 1 || cell->attributes != cells->attributes
        || cell->color_pair != cells->color_pair) {
      break;
    }
    plain++;
    blanks = cell->scalars[0] == ' ' ? blanks + 1 : 0;
    if (blanks == ERASED_TO_END_MIN) break;
  }
  return plain - blanks;
}

/// Adds the texts of cells that `plain_count` counted.
static void add_plain_text(const runnel_cell *cells, int count) {
  char *bytes = frame_room((size_t)count);
  if (bytes == NULL) return;
  for (int i = 0; i < count; i++) bytes[i] = (char)cells[i].scalars[0];
}

void runnel_terminal_put(int row, int column, const runnel_cell *cells, int count) {
  if (!is_active()) return;
  for (int i = 0; i < count;) {
    const runnel_cell *cell = &cells[i];
    // The second half of a wide cell comes with the first.
    if (cell->width == 0) {
      i++;
      continue;
    }
    if (terminal.scrolls_at_end && row == LINES - 1 && column + cell->width >= COLS) return;
    move_to(row, column);
    look_set(cell->attributes, cell->color_pair);
    // The last cell of a row is looked at on its own.
    int plain = plain_count(cell, count - i);
    if (column + plain >= COLS) plain--;
    if (plain > 1) {
      add_plain_text(cell, plain);
      column += plain;
      column_now = column;
      i += plain;
      continue;
    }
    int blanks = cell->scalars[0] == ' ' ? erasable_count(cell, count - i) : 0;
    if (blanks > 0 && erase_blanks(row, column, blanks, i + blanks == count)) {
      column += blanks;
      i += blanks;
      continue;
    }
    add_text(cell);
    column += cell->width;
    // After the last column, the position of the cursor depends on the terminal.
    column_now = column < COLS ? column : -1;
    i++;
  }
}

bool runnel_terminal_scroll(int first, int last, int lines) {
  const char *once = lines > 0 ? terminal.scroll_up : terminal.scroll_down;
  if (!is_active() || once == NULL || terminal.set_scroll_rows == NULL) return false;
  look_set(0, 0);
  frame_add_capability_of(terminal.set_scroll_rows, first, last);
  column_now = -1;
  move_to(lines > 0 ? last : first, 0);
  for (int i = 0; i < (lines > 0 ? lines : -lines); i++) frame_add_capability(once);
  frame_add_capability_of(terminal.set_scroll_rows, 0, LINES - 1);
  column_now = -1;
  return true;
}

/// Lets curses take the terminal again, if it was given back, and clear it.
static void clear_by_curses(void) {
  clearok(curscr, TRUE);
  wnoutrefresh(stdscr);
  write_by_curses(doupdate);
  is_to_be_cleared = false;
  is_cursor_shown = false;
}

void runnel_terminal_flush(int cursor_row, int cursor_column, bool at_once) {
  if (!is_active()) return;
  bool shows_cursor = cursor_row >= 0;
  look_set(0, 0);
  if (shows_cursor) move_to(cursor_row, cursor_column);
  if (is_to_be_cleared || isendwin()) clear_by_curses();
  if (shows_cursor != is_cursor_shown) {
    frame_add_capability(shows_cursor ? terminal.show_cursor : terminal.hide_cursor);
    is_cursor_shown = shows_cursor;
  }
  // Mode 2026 makes the terminal show the frame at once; a terminal without the mode ignores it.
  frame_send(at_once && session.is_ansi);
  column_now = -1;
}

void runnel_terminal_invalidate(void) {
  is_to_be_cleared = true;
}

void runnel_terminal_bell(void) {
  if (is_active()) write_by_curses(beep);
}
