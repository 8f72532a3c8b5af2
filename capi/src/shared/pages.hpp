// Functions of libbillcore for the libbillcore-arrow of the same build (client.map.in). Not part of the interface.
#pragma once

#include <cstdint>

#include "billcore/pager.h"

/// The unread part of the current page and the detail::Table of its items; fetches a page if necessary. BILLCORE_DONE
/// after the last page. Does not advance the list. page: points to a std::optional<detail::PageData> to fill; declared
/// void*, so that the stored ABI describes no C++ type.
extern "C" BILLCORE_API billcore_status billcore_private_page(billcore_list* list, void* page, int32_t* kind,
                                                              billcore_error** err);
/// Marks the page from billcore_private_page as read.
extern "C" BILLCORE_EXPORT void billcore_private_skip_page(billcore_list* list);
