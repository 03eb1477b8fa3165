#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
// term.h needs curses.h before it.
#include <term.h>

// The look of cells: the sequences that turn attributes and colors on and off, from terminfo.

enum { ATTRIBUTE_COUNT = 5, COLOR_TEXT_MAX = 128 };

/// A pair of colors, and the text that turns them on.
struct pair {
  int foreground;
  int background;
  char on[COLOR_TEXT_MAX];
};

static struct {
  /// The text that turns off all attributes; without it no attribute is turned on.
  const char *off;
  /// The text that turns off colors, if `off` does not.
  const char *colors_off;
  /// The texts that turn on attributes, by the bits of a cell's attributes.
  const char *attributes[ATTRIBUTE_COUNT];
  /// The attributes that the terminal has, and those that it can combine with colors.
  unsigned known;
  unsigned known_with_color;
  struct pair *pairs;
  int pair_count;
} looks;

/// The attributes and the pair that are turned on.
static unsigned attributes_on;
static int pair_on;

const char *capability(const char *name) {
  const char *value = tigetstr((char *)name);
  return value == (const char *)-1 ? NULL : value;
}

void look_open(void) {
  // By the bits of RUNNEL_ATTRIBUTE, with the bit of each in "ncv": attributes that exclude colors.
  static const struct {
    const char *name;
    int excludes_color;
  } names[ATTRIBUTE_COUNT] = {{"bold", 32}, {"dim", 16}, {"sitm", 0}, {"smul", 2}, {"rev", 4}};
  looks.off = capability("sgr0");
  // If attributes occupy cells, none is used.
  bool are_usable = looks.off != NULL && tigetnum("xmc") < 0;
  int excluded = tigetnum("ncv");
  for (int i = 0; are_usable && i < ATTRIBUTE_COUNT; i++) {
    looks.attributes[i] = capability(names[i].name);
    if (looks.attributes[i] == NULL) continue;
    looks.known |= 1u << i;
    if (excluded <= 0 || !(excluded & names[i].excludes_color)) looks.known_with_color |= 1u << i;
  }
  // "\033[m" turns colors off, too.
  looks.colors_off = session.is_ansi ? NULL : capability("op");
}

void look_close(void) {
  free(looks.pairs);
  memset(&looks, 0, sizeof looks);
  attributes_on = 0;
  pair_on = 0;
}

/// Appends the text that sets a color; nothing for the terminal's own color.
static void append_color(char *text, const char *name, const char *old_name, int color) {
  if (color < 0) return;
  if (color >= RUNNEL_COLOR_DIRECT) {
    // No capability sets such a color where terminfo tells of 256 ones; all who know it take this.
    size_t used = strlen(text);
    snprintf(
        text + used, COLOR_TEXT_MAX - used, "\033[%d;2;%d;%d;%dm",
        strcmp(name, "setab") == 0 ? 48 : 38, color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF);
    return;
  }
  const char *set = capability(name);
  if (set == NULL) {
    set = capability(old_name);
    // The old capability orders colors as blue, green, red.
    if (color < 8) color = (color & 2) | (color & 1) << 2 | (color & 4) >> 2;
  }
  if (set == NULL) return;
  const char *made = tiparm(set, color);
  if (made != NULL && strlen(text) + strlen(made) < COLOR_TEXT_MAX) strcat(text, made);
}

int runnel_terminal_color_pair(int foreground, int background) {
  if (session.screen == NULL || !session.has_color || looks.off == NULL) return 0;
  if (foreground < 0 && background < 0) return 0;
  for (int i = 0; i < looks.pair_count; i++) {
    if (looks.pairs[i].foreground == foreground && looks.pairs[i].background == background) {
      return i + 1;
    }
  }
  struct pair *pairs = realloc(looks.pairs, (size_t)(looks.pair_count + 1) * sizeof *pairs);
  if (pairs == NULL) return 0;
  looks.pairs = pairs;
  struct pair *pair = &pairs[looks.pair_count];
  *pair = (struct pair){.foreground = foreground, .background = background};
  append_color(pair->on, "setaf", "setf", foreground);
  append_color(pair->on, "setab", "setb", background);
  return ++looks.pair_count;
}

static const struct pair *pair_at(int number) {
  static const struct pair none = {.foreground = -1, .background = -1};
  return number > 0 && number <= looks.pair_count ? &looks.pairs[number - 1] : &none;
}

bool look_has_background(int pair) {
  return pair_at(pair)->background >= 0;
}

void look_set(unsigned attributes, int pair) {
  attributes &= pair == 0 ? looks.known : looks.known_with_color;
  if (attributes == attributes_on && pair == pair_on) return;
  const struct pair *old = pair_at(pair_on);
  const struct pair *new = pair_at(pair);
  bool loses_color = (old->foreground >= 0 && new->foreground < 0)
      || (old->background >= 0 && new->background < 0);
  if ((attributes_on & ~attributes) || loses_color) {
    frame_add_capability(looks.off);
    if (pair_on != 0) frame_add_capability(looks.colors_off);
    attributes_on = 0;
    pair_on = 0;
  }
  for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
    if (attributes & ~attributes_on & 1u << i) frame_add_capability(looks.attributes[i]);
  }
  if (pair != pair_on) frame_add_capability(new->on);
  attributes_on = attributes;
  pair_on = pair;
}
