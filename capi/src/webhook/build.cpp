// The mark of this build. libbillcore refers to it by a symbol version that holds the build id (webhook.map), so that
// the loader refuses to put two libraries together whose handles may differ in layout.
#include "shared/build.hpp"

const char billcore_private_build = 0;
