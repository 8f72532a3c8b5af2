// Not part of the interface: see build_c.cpp.
#pragma once

#include "billcore/types.h"

extern "C" BILLCORE_EXPORT const char billcore_private_build;
