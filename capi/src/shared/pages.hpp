// Functions that libbillcore exports for the libbillcore-arrow of the same build (client.map.in). Not part of the
// interface.
#pragma once

#include <cstdint>

#include "billcore/pager.h"

/// Gets the unread items of the current page, and stores their detail::Table in `kind`; fetches the next page if no
/// item is left. Returns BILLCORE_DONE after the last page. Does not advance the list. `page` points to a
/// std::optional<detail::PageData>; it is a void*, so that the ABI description that the tests compare contains no C++
/// type.
extern "C" BILLCORE_API billcore_status billcore_private_page(billcore_list* list, void* page, int32_t* kind,
                                                              billcore_error** err);
/// Marks all items of the page from billcore_private_page as read.
extern "C" BILLCORE_EXPORT void billcore_private_skip_page(billcore_list* list);
