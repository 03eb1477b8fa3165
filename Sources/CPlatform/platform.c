#include "CPlatform.h"
int runnel_placeholder_platform(void) { return 0; }
