// A symbol whose version contains the build id (webhook.map.in). libbillcore refers to this symbol, so the loader
// refuses a libbillcore of another build, whose handles may differ in layout.
#include "shared/build.hpp"

const char billcore_private_build = 0;
