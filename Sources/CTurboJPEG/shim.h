// TurboJPEG, the interface of libjpeg-turbo that returns its errors, as Debian's libturbojpeg0-dev installs it.
#include <turbojpeg.h>
