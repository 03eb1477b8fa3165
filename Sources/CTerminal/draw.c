#include "internal.h"

/// How many cells go to curses at once: as many as a line has on the screens of most people.
enum { CELLS_AT_ONCE_MAX = 256 };

static attr_t curses_attributes(unsigned attributes) {
  attr_t result = A_NORMAL;
  if (attributes & RUNNEL_ATTRIBUTE_BOLD) result |= A_BOLD;
  if (attributes & RUNNEL_ATTRIBUTE_DIM) result |= A_DIM;
  if (attributes & RUNNEL_ATTRIBUTE_ITALIC) result |= A_ITALIC;
  if (attributes & RUNNEL_ATTRIBUTE_UNDERLINE) result |= A_UNDERLINE;
  if (attributes & RUNNEL_ATTRIBUTE_REVERSE) result |= A_REVERSE;
  return result;
}

int runnel_terminal_color_pair(int foreground, int background) {
  if (session.screen == NULL || !session.has_color) return 0;
  if (foreground < 0 && background < 0) return 0;
  int pair = alloc_pair(foreground, background);
  return pair < 0 ? 0 : pair;
}

/// Makes what curses keeps of a cell. What the C library would not give the cell's width is "?" for
/// the row after it must not shift; false then.
static bool make_cell(const runnel_cell *cell, attr_t attributes, cchar_t *made) {
  wchar_t base = (wchar_t)cell->scalars[0];
  bool is_known = (base < 0x7F && cell->width == 1) || wcwidth(base) == cell->width;
  wchar_t text[RUNNEL_CELL_SCALARS_MAX + 1] = {is_known ? base : L'?'};
  int count = 1;
  for (int i = 1; is_known && i < RUNNEL_CELL_SCALARS_MAX && cell->scalars[i] != 0; i++) {
    wchar_t mark = (wchar_t)cell->scalars[i];
    if (wcwidth(mark) == 0) text[count++] = mark;
  }
  // The pair does not fit in the short that setcchar takes: its last argument carries it.
  int pair = cell->color_pair;
  setcchar(made, text, attributes, 0, &pair);
  return is_known;
}

void runnel_terminal_put(int row, int column, const runnel_cell *cells, int count) {
  if (!is_active()) return;
  cchar_t line[CELLS_AT_ONCE_MAX];
  int end = column;
  int made = 0;
  for (int i = 0; i < count; i++) {
    const runnel_cell *cell = &cells[i];
    // The second half of a wide cell comes with the first.
    if (cell->width == 0) continue;
    attr_t attributes = curses_attributes(cell->attributes);
    bool is_known = make_cell(cell, attributes, &line[made++]);
    end += cell->width;
    if (!is_known && cell->width == 2) {
      int pair = cell->color_pair;
      setcchar(&line[made++], L" ", attributes, 0, &pair);
    }
    if (made + 2 > CELLS_AT_ONCE_MAX) {
      mvwadd_wchnstr(stdscr, row, column, line, made);
      column = end;
      made = 0;
    }
  }
  mvwadd_wchnstr(stdscr, row, column, line, made);
}

void runnel_terminal_scroll(int first, int last, int lines) {
  if (!is_active()) return;
  wsetscrreg(stdscr, first, last);
  scrollok(stdscr, TRUE);
  wscrl(stdscr, lines);
  scrollok(stdscr, FALSE);
  wsetscrreg(stdscr, 0, LINES - 1);
}

void runnel_terminal_flush(int cursor_row, int cursor_column, bool at_once) {
  if (!is_active()) return;
  bool shows_cursor = cursor_row >= 0;
  leaveok(stdscr, !shows_cursor);
  if (shows_cursor) wmove(stdscr, cursor_row, cursor_column);
  wnoutrefresh(stdscr);
  // The first frame after the terminal was given back asks it for its size and sets its modes, which
  // memory cannot.
  bool is_kept = !isendwin() && frame_begin();
  // Mode 2026 lets the terminal show the frame at once; one that does not know it ignores it.
  bool is_marked = at_once && session.is_ansi;
  if (is_marked && !is_kept) write_directly(FRAME_BEGIN);
  doupdate();
  curs_set(shows_cursor ? 1 : 0);
  if (is_kept) frame_end(is_marked);
  if (is_marked && !is_kept) write_directly(FRAME_END);
}

void runnel_terminal_invalidate(void) {
  if (is_active()) clearok(curscr, TRUE);
}

void runnel_terminal_bell(void) {
  if (is_active()) beep();
}
