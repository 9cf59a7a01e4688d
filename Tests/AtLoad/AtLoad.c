#include "AtLoad.h"

// Swift Testing has no place for what is done once before all tests, and a suite alone must find the same.
__attribute__((constructor)) static void atLoad(void) { skynet_at_load(); }
