// Lists as columns: reads the JSON of the items of a page and writes Arrow arrays.
#include "billcore/arrow.h"

#include <optional>

#include "billcore/arrow.hpp"
#include "billcore/internal.hpp"
#include "client/handles.hpp"
#include "shared/guard.hpp"

using namespace billcore;

namespace {

// Moves a struct as Arrow's C data interface requires: the source is marked as released.
template <typename Struct>
void move(Struct& from, Struct* to) noexcept {
  *to = from;
  from.release = nullptr;
}

}  // namespace

billcore_status billcore_list_next_arrow(billcore_list* list, ArrowArray* array, ArrowSchema* schema,
                                         billcore_error** err) {
  const auto next = [&] {
    auto& flow = *internal::Access::flow(capi::handle(list).view);
    const auto page = flow.peek_page();
    if (!page) return billcore_status{BILLCORE_DONE};
    const auto batch = detail::make_batch(detail::choose_columns(list->table, std::nullopt), *page);
    const auto records = batch.export_array();
    if (schema != nullptr) move(*detail::export_schema(batch.columns()), schema);
    move(*records, array);
    flow.core().skip_page();
    return billcore_status{BILLCORE_OK};
  };
  return capi::call(err, next, array, capi::Maybe<ArrowSchema>{schema});
}
