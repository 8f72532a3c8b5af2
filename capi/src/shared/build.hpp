// A symbol that libbillcore finds only in a libbillcore-webhook of the same build; not part of the interface. See
// webhook/build.cpp.
#pragma once

#include "billcore/types.h"

extern "C" BILLCORE_EXPORT const char billcore_private_build;
