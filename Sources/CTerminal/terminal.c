#include "CTerminal.h"
int runnel_placeholder_terminal(void) { return 0; }
