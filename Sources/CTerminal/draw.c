#include "internal.h"

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

static void add_cell(const wchar_t *text, attr_t attributes, int color_pair) {
  cchar_t cell;
  // The pair does not fit in the short that setcchar takes: its last argument carries it.
  if (setcchar(&cell, text, attributes, 0, &color_pair) == OK) wadd_wch(stdscr, &cell);
}

void runnel_terminal_put(
    int row, int column, const uint32_t *scalars, int scalar_count, int width,
    unsigned attributes, int color_pair) {
  if (!is_active() || scalar_count < 1) return;
  attr_t style = curses_attributes(attributes);
  wmove(stdscr, row, column);
  if (wcwidth((wchar_t)scalars[0]) != width) {
    for (int i = 0; i < width; i++) add_cell(i == 0 ? L"?" : L" ", style, color_pair);
    return;
  }
  wchar_t text[RUNNEL_CELL_SCALARS_MAX + 1] = {0};
  int count = 0;
  text[count++] = (wchar_t)scalars[0];
  for (int i = 1; i < scalar_count && count < RUNNEL_CELL_SCALARS_MAX; i++) {
    if (wcwidth((wchar_t)scalars[i]) == 0) text[count++] = (wchar_t)scalars[i];
  }
  // The last cell of the screen is written although curses reports that it cannot move on.
  add_cell(text, style, color_pair);
}

void runnel_terminal_flush(int cursor_row, int cursor_column, bool at_once) {
  if (!is_active()) return;
  bool shows_cursor = cursor_row >= 0;
  leaveok(stdscr, !shows_cursor);
  if (shows_cursor) wmove(stdscr, cursor_row, cursor_column);
  wnoutrefresh(stdscr);
  // Mode 2026 lets the terminal show the frame at once; one that does not know it ignores it.
  bool is_marked = at_once && session.is_ansi;
  if (is_marked) write_directly("\033[?2026h");
  doupdate();
  curs_set(shows_cursor ? 1 : 0);
  if (is_marked) write_directly("\033[?2026l");
}

void runnel_terminal_invalidate(void) {
  if (is_active()) clearok(curscr, TRUE);
}

void runnel_terminal_bell(void) {
  if (is_active()) beep();
}
