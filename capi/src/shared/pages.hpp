// What libbillcore-arrow asks of the libbillcore of the same build (client.map.in). Not part of the interface.
#pragma once

#include <cstdint>

#include "billcore/pager.h"

/// What is left of the page that comes next, which is fetched when it must be, and the detail::Table of its items. BILLCORE_DONE after the last one. The list does not move on.
/// page: a std::optional<detail::PageData> to fill; no type of C++, since the stored ABI would describe it.
extern "C" BILLCORE_API billcore_status billcore_private_page(billcore_list* list, void* page, int32_t* kind,
                                                              billcore_error** err);
/// Moves on behind the page that was given last.
extern "C" BILLCORE_EXPORT void billcore_private_skip_page(billcore_list* list);
