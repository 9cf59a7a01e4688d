// SEP, as Debian's libsep-dev installs it. Its header uses size_t without saying where it comes from.
#include <stddef.h>
#include <sep.h>
