// A symbol that ties libraries of one build together, not part of the interface: see webhook/build.cpp.
#pragma once

#include "billcore/types.h"

extern "C" BILLCORE_EXPORT const char billcore_private_build;
