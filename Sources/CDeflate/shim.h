// libdeflate, as Debian's libdeflate-dev installs it.
#include <libdeflate.h>
