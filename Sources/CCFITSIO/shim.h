// cfitsio, as Debian's libcfitsio-dev installs it. Its long names (fits_open_diskfile) are macros for the
// short ones (ffdkopn); Swift sees only the short ones.
#include <fitsio.h>
