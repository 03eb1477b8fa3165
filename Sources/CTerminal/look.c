#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
// term.h needs curses.h before it.
#include <term.h>

// The look of cells: the sequences that turn attributes and colors on and off, from terminfo.

enum { ATTRIBUTE_COUNT = 5, COLOR_TEXT_MAX = 128, CHANGE_MAX = 256 };

/// A pair of colors, and the text that turns them on.
struct pair {
  int foreground;
  int background;
  char on[COLOR_TEXT_MAX];
  /// The texts that turn on each of them.
  char foreground_on[COLOR_TEXT_MAX / 2];
  char background_on[COLOR_TEXT_MAX / 2];
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
  /// The terminal takes the parameters of ECMA-48 for all looks, also several in one sequence.
  bool takes_parameters;
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
  const char *own_colors = capability("op");
  looks.takes_parameters = session.is_ansi && looks.off != NULL && own_colors != NULL
      && strcmp(own_colors, "\033[39;49m") == 0;
  // What turns an attribute off is known for these ways to turn it on.
  static const char *const usual[ATTRIBUTE_COUNT] = {
    "\033[1m", "\033[2m", "\033[3m", "\033[4m", "\033[7m"};
  for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
    if (looks.attributes[i] != NULL && strcmp(looks.attributes[i], usual[i]) != 0) {
      looks.takes_parameters = false;
    }
  }
}

/// Returns the parameters of a sequence that sets a look; NULL for any other sequence.
static const char *parameters_of(const char *text, int *count) {
  size_t length = text == NULL ? 0 : strlen(text);
  if (length < 3 || strncmp(text, "\033[", 2) != 0 || text[length - 1] != 'm') return NULL;
  if (strspn(text + 2, "0123456789;") != length - 3) return NULL;
  *count = (int)length - 3;
  return text + 2;
}

void look_close(void) {
  free(looks.pairs);
  memset(&looks, 0, sizeof looks);
  attributes_on = 0;
  pair_on = 0;
}

/// Appends the text that sets a color; nothing for the terminal's own color.
static void append_color(char *text, const char *name, const char *old_name, int color) {
  const size_t size = COLOR_TEXT_MAX / 2;
  if (color < 0) return;
  if (color >= RUNNEL_COLOR_DIRECT) {
    // No capability sets such a color where terminfo tells of 256 ones; all who know it take this.
    size_t used = strlen(text);
    snprintf(
        text + used, size - used, "\033[%d;2;%d;%d;%dm",
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
  if (made != NULL && strlen(text) + strlen(made) < size) strcat(text, made);
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
  append_color(pair->foreground_on, "setaf", "setf", foreground);
  append_color(pair->background_on, "setab", "setb", background);
  strcat(strcpy(pair->on, pair->foreground_on), pair->background_on);
  return ++looks.pair_count;
}

static const struct pair *pair_at(int number) {
  static const struct pair none = {.foreground = -1, .background = -1};
  return number > 0 && number <= looks.pair_count ? &looks.pairs[number - 1] : &none;
}

bool look_has_background(int pair) {
  return pair_at(pair)->background >= 0;
}

/// Parameters of one sequence that is being made.
struct change {
  char text[CHANGE_MAX];
  int count;
};

static void add_parameters(struct change *change, const char *text, int count) {
  if (change->count + count + 1 > CHANGE_MAX) return;
  if (change->count > 0) change->text[change->count++] = ';';
  memcpy(change->text + change->count, text, (size_t)count);
  change->count += count;
}

/// Adds the parameters of a sequence; returns false if it is none that sets a look.
static bool add_sequence(struct change *change, const char *text) {
  if (*text == '\0') return true;
  int count;
  const char *parameters = parameters_of(text, &count);
  if (parameters != NULL) add_parameters(change, parameters, count);
  return parameters != NULL;
}

/// Makes the parameters that lead from one look to another, after all was turned off if `is_reset`;
/// returns false if there are none.
static bool make_change(
    struct change *change, bool is_reset, unsigned attributes, const struct pair *new) {
  static const struct pair none = {.foreground = -1, .background = -1};
  const struct pair *old = is_reset ? &none : pair_at(pair_on);
  unsigned on = is_reset ? 0 : attributes_on;
  change->count = 0;
  if (is_reset && (attributes != 0 || new->foreground >= 0 || new->background >= 0)) {
    add_parameters(change, "0", 1);
  }
  const unsigned weight = RUNNEL_ATTRIBUTE_BOLD | RUNNEL_ATTRIBUTE_DIM;
  unsigned lost = on & ~attributes;
  if (lost & weight) {
    add_parameters(change, "22", 2);
    on &= ~weight;
  }
  if (lost & RUNNEL_ATTRIBUTE_ITALIC) add_parameters(change, "23", 2);
  if (lost & RUNNEL_ATTRIBUTE_UNDERLINE) add_parameters(change, "24", 2);
  if (lost & RUNNEL_ATTRIBUTE_REVERSE) add_parameters(change, "27", 2);
  for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
    if (!(attributes & ~on & 1u << i)) continue;
    if (!add_sequence(change, looks.attributes[i])) return false;
  }
  if (new->foreground != old->foreground) {
    if (new->foreground < 0) {
      add_parameters(change, "39", 2);
    } else if (!add_sequence(change, new->foreground_on)) {
      return false;
    }
  }
  if (new->background != old->background) {
    if (new->background < 0) {
      add_parameters(change, "49", 2);
    } else if (!add_sequence(change, new->background_on)) {
      return false;
    }
  }
  return true;
}

/// Changes the look by one sequence, the shortest; returns false if the terminal may not take it.
static bool set_by_parameters(unsigned attributes, const struct pair *new) {
  struct change change, anew;
  if (!looks.takes_parameters) return false;
  if (!make_change(&change, false, attributes, new) || !make_change(&anew, true, attributes, new)) {
    return false;
  }
  const struct change *best = anew.count <= change.count ? &anew : &change;
  if (change.count == 0 && anew.count > 0) return true;
  char *room = frame_room((size_t)best->count + 3);
  if (room == NULL) return true;
  memcpy(room, "\033[", 2);
  memcpy(room + 2, best->text, (size_t)best->count);
  room[2 + best->count] = 'm';
  return true;
}

void look_set(unsigned attributes, int pair) {
  attributes &= pair == 0 ? looks.known : looks.known_with_color;
  if (attributes == attributes_on && pair == pair_on) return;
  const struct pair *old = pair_at(pair_on);
  const struct pair *new = pair_at(pair);
  if (set_by_parameters(attributes, new)) {
    attributes_on = attributes;
    pair_on = pair;
    return;
  }
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
