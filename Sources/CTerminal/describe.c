#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

// term.h must follow curses.h. It defines plain words as macros, so nothing else is in this file.
#include <term.h>

static bool has_capability(const char *name) {
  const char *value = tigetstr(name);
  return value != NULL && value != (const char *)-1;
}

void runnel_terminal_describe(const char *term, runnel_terminal_description *description) {
  *description = (runnel_terminal_description){0};
  int error = 0;
  if (session.screen != NULL || setupterm(term, STDERR_FILENO, &error) != OK) return;
  const char *cursor = tigetstr("cup");
  description->is_known = true;
  description->places_cursor = has_capability("cup");
  description->is_ansi = description->places_cursor && strncmp(cursor, "\033[", 2) == 0;
  description->has_alternate_screen = has_capability("smcup");
  int colors = tigetnum("colors");
  description->color_count = colors > 0 ? colors : 0;
  del_curterm(cur_term);
}
