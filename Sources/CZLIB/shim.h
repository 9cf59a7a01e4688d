// zlib, as Debian's zlib1g-dev installs it.
#include <zlib.h>
