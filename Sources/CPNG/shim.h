// libpng, as Debian's libpng-dev installs it.
#include <png.h>
