#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

void define_keys(void) {
  define_key("\033[200~", CODE_PASTE_START);
  define_key("\033[201~", CODE_PASTE_END);
  define_key("\033[I", CODE_FOCUS_IN);
  define_key("\033[O", CODE_FOCUS_OUT);
  // Mouse reports are read as plain bytes: see mouse_on.
  define_key(NULL, KEY_MOUSE);
}

struct named_key {
  int code;
  int key;
  int modifiers;
};

static const struct named_key named_keys[] = {
    {KEY_ENTER, RUNNEL_KEY_ENTER, 0},
    {KEY_BACKSPACE, RUNNEL_KEY_BACKSPACE, 0},
    {KEY_DC, RUNNEL_KEY_DELETE, 0},
    {KEY_IC, RUNNEL_KEY_INSERT, 0},
    {KEY_UP, RUNNEL_KEY_UP, 0},
    {KEY_DOWN, RUNNEL_KEY_DOWN, 0},
    {KEY_LEFT, RUNNEL_KEY_LEFT, 0},
    {KEY_RIGHT, RUNNEL_KEY_RIGHT, 0},
    {KEY_HOME, RUNNEL_KEY_HOME, 0},
    {KEY_FIND, RUNNEL_KEY_HOME, 0},
    {KEY_A1, RUNNEL_KEY_HOME, 0},
    {KEY_END, RUNNEL_KEY_END, 0},
    {KEY_SELECT, RUNNEL_KEY_END, 0},
    {KEY_C1, RUNNEL_KEY_END, 0},
    {KEY_PPAGE, RUNNEL_KEY_PAGE_UP, 0},
    {KEY_A3, RUNNEL_KEY_PAGE_UP, 0},
    {KEY_NPAGE, RUNNEL_KEY_PAGE_DOWN, 0},
    {KEY_C3, RUNNEL_KEY_PAGE_DOWN, 0},
    {KEY_BTAB, RUNNEL_KEY_BACK_TAB, 0},
    {KEY_SR, RUNNEL_KEY_UP, RUNNEL_MODIFIER_SHIFT},
    {KEY_SF, RUNNEL_KEY_DOWN, RUNNEL_MODIFIER_SHIFT},
    {KEY_SLEFT, RUNNEL_KEY_LEFT, RUNNEL_MODIFIER_SHIFT},
    {KEY_SRIGHT, RUNNEL_KEY_RIGHT, RUNNEL_MODIFIER_SHIFT},
    {KEY_SHOME, RUNNEL_KEY_HOME, RUNNEL_MODIFIER_SHIFT},
    {KEY_SEND, RUNNEL_KEY_END, RUNNEL_MODIFIER_SHIFT},
    {KEY_SPREVIOUS, RUNNEL_KEY_PAGE_UP, RUNNEL_MODIFIER_SHIFT},
    {KEY_SNEXT, RUNNEL_KEY_PAGE_DOWN, RUNNEL_MODIFIER_SHIFT},
    {KEY_SDC, RUNNEL_KEY_DELETE, RUNNEL_MODIFIER_SHIFT},
    {KEY_SIC, RUNNEL_KEY_INSERT, RUNNEL_MODIFIER_SHIFT},
};

// Extended keys get their codes at run time, so only their names are fixed. The names are those of
// terminfo's user capabilities, which end in xterm's modifier number.
static const struct {
  const char *name;
  int key;
} extended_keys[] = {
    {"kUP", RUNNEL_KEY_UP},       {"kDN", RUNNEL_KEY_DOWN},      {"kLFT", RUNNEL_KEY_LEFT},
    {"kRIT", RUNNEL_KEY_RIGHT},   {"kHOM", RUNNEL_KEY_HOME},     {"kEND", RUNNEL_KEY_END},
    {"kPRV", RUNNEL_KEY_PAGE_UP}, {"kNXT", RUNNEL_KEY_PAGE_DOWN}, {"kDC", RUNNEL_KEY_DELETE},
    {"kIC", RUNNEL_KEY_INSERT},
};

static bool read_extended(int code, runnel_terminal_input *input) {
  const char *name = keyname(code);
  if (name == NULL) return false;
  for (size_t i = 0; i < sizeof extended_keys / sizeof *extended_keys; i++) {
    size_t length = strlen(extended_keys[i].name);
    if (strncmp(name, extended_keys[i].name, length) != 0) continue;
    const char *suffix = name + length;
    if (suffix[0] == '\0') {
      input->modifiers = RUNNEL_MODIFIER_SHIFT;
    } else if (suffix[0] >= '2' && suffix[0] <= '8' && suffix[1] == '\0') {
      input->modifiers = suffix[0] - '1';
    } else {
      continue;
    }
    input->key = extended_keys[i].key;
    return true;
  }
  return false;
}

// xterm reports a function key with modifiers as one of a higher number.
static void read_function(int number, runnel_terminal_input *input) {
  static const int modifiers[] = {
      0,
      RUNNEL_MODIFIER_SHIFT,
      RUNNEL_MODIFIER_CONTROL,
      RUNNEL_MODIFIER_CONTROL | RUNNEL_MODIFIER_SHIFT,
      RUNNEL_MODIFIER_META,
      RUNNEL_MODIFIER_META | RUNNEL_MODIFIER_SHIFT,
  };
  input->key = RUNNEL_KEY_FUNCTION + (number - 1) % 12 + 1;
  input->modifiers = modifiers[(number - 1) / 12];
}

static bool read_key(int code, runnel_terminal_input *input) {
  for (size_t i = 0; i < sizeof named_keys / sizeof *named_keys; i++) {
    if (named_keys[i].code != code) continue;
    input->key = named_keys[i].key;
    input->modifiers = named_keys[i].modifiers;
    return true;
  }
  if (code > KEY_F0 && code <= KEY_F0 + 63) {
    read_function(code - KEY_F0, input);
    return true;
  }
  return read_extended(code, input);
}

static int classify(int code, runnel_terminal_input *input) {
  switch (code) {
    case CODE_PASTE_START: return RUNNEL_INPUT_PASTE_START;
    case CODE_PASTE_END: return RUNNEL_INPUT_PASTE_END;
    case CODE_FOCUS_IN: return RUNNEL_INPUT_FOCUS_IN;
    case CODE_FOCUS_OUT: return RUNNEL_INPUT_FOCUS_OUT;
    case KEY_RESIZE: return RUNNEL_INPUT_RESIZE;
    default: return read_key(code, input) ? RUNNEL_INPUT_KEY : RUNNEL_INPUT_UNKNOWN;
  }
}

void runnel_terminal_read(runnel_terminal_input *input) {
  *input = (runnel_terminal_input){.kind = RUNNEL_INPUT_NONE};
  if (!is_active()) return;
  // Bytes are read, not wide characters: wget_wch loses a character whose bytes come in two reads,
  // and everything after it.
  int code = wgetch(session.pad);
  if (code == ERR) {
    session.reads_early = false;
    return;
  }
  if (session.reads_early && code == '\n') code = '\r';
  if (code >= 0 && code < 0x100) {
    input->kind = RUNNEL_INPUT_BYTE;
    input->byte = (uint8_t)code;
  } else {
    input->kind = classify(code, input);
  }
}

int runnel_terminal_read_bytes(uint8_t *bytes, int count) {
  if (!is_active()) return 0;
  // No more than the available bytes are read: the terminal is shared with the code that reads
  // single bytes.
  struct pollfd waiting = {.fd = session.descriptor, .events = POLLIN};
  if (poll(&waiting, 1, 0) <= 0 || !(waiting.revents & POLLIN)) return 0;
  ssize_t got = read(session.descriptor, bytes, (size_t)count);
  return got > 0 ? (int)got : 0;
}
