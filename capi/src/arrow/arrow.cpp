// Lists as columns: gets pages from libbillcore, reads the JSON of the items and writes Arrow arrays.
#include "billcore/arrow.h"

#include <optional>

#include "billcore/arrow.hpp"
#include "shared/guard.hpp"
#include "shared/pages.hpp"

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
    std::optional<detail::PageData> page;
    std::int32_t kind = 0;
    const auto status = billcore_private_page(list, &page, &kind, err);
    if (status != BILLCORE_OK) return status;
    const auto batch =
        detail::make_batch(detail::choose_columns(static_cast<detail::Table>(kind), std::nullopt), *page);
    const auto records = batch.export_array();
    if (schema != nullptr) move(*detail::export_schema(batch.columns()), schema);
    move(*records, array);
    billcore_private_skip_page(list);
    return billcore_status{BILLCORE_OK};
  };
  return capi::call(err, next, array, capi::Maybe<ArrowSchema>{schema});
}
