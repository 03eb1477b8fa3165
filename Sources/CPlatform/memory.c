#include <malloc.h>

#include "CPlatform.h"

long long runnel_memory_spare(void) { return (long long)mallinfo2().fordblks; }

void runnel_memory_trim(void) { malloc_trim(0); }
