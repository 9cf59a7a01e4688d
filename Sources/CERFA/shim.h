// ERFA, as Debian's liberfa-dev installs it.
#include <erfa.h>
#include <erfaextra.h>
