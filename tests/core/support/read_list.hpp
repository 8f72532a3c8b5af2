// Reads a list in the way that the conformance driver's request names; see tests/conformance/README.md.
#pragma once

#include <nanoarrow/nanoarrow.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/arrow.hpp"
#include "billcore/client.hpp"
#include "support/wire_arguments.hpp"

namespace billcore::test {

/// Appends the texts of the column `raw`, the only column of the array.
inline void append_column(const ArrowArray& array, std::vector<std::string>& out) {
  const auto& column = *array.children[0];
  const auto* const ends = static_cast<const std::int32_t*>(column.buffers[1]);
  const auto* const bytes = static_cast<const char*>(column.buffers[2]);
  for (std::int64_t row = 0; row < array.length; ++row) out.emplace_back(bytes + ends[row], bytes + ends[row + 1]);
}

/// Reads the rest of the list as an Arrow stream. A stream tells only the text of an error, not its code.
template <typename T>
void read_stream(const Pager<T>& pager, std::vector<std::string>& out) {
  ArrowArrayStream stream{};
  export_arrow(pager, &stream, ArrowFields({"raw"}));
  for (;;) {
    ArrowArray array{};
    if (stream.get_next(&stream, &array) != 0) {
      const std::string message = stream.get_last_error(&stream);
      stream.release(&stream);
      throw Error(ErrorCode::internal, message);
    }
    if (array.release == nullptr) break;
    append_column(array, out);
    array.release(&array);
  }
  stream.release(&stream);
}

template <typename T>
void read_list(Pager<T>& pager, const Value& take, std::vector<std::string>& out) {
  const auto keep = [&out](const std::optional<T>& item) {
    if (item) out.push_back(raw(*item));
    return item.has_value();
  };
  const auto keep_page = [&](const std::optional<Page<T>>& page) {
    if (!page) return false;
    for (const auto& item : page->items()) out.push_back(raw(item));
    return true;
  };
  if (take.kind() == Value::Kind::integer) {
    for (auto left = take.integer(); left > 0; --left) {
      if (!keep(pager.next())) return;
    }
    return pager.stop();
  }
  const auto way = take.text();
  if (way == "first") {
    keep(pager.first());
  } else if (way == "all" || way == "first-all") {
    const auto first = way == "first-all" ? pager.first() : std::nullopt;
    for (const auto& item : pager) out.push_back(raw(item));
    if (first && (out.empty() || out.front() != raw(*first))) throw std::runtime_error("first() is another item");
  } else if (way == "pages") {
    while (keep_page(pager.next_page())) {
    }
  } else if (way == "collect") {
    for (const auto& item : pager.collect()) out.push_back(raw(item));
  } else if (way == "mixed") {
    while (keep(pager.next())) keep_page(pager.next_page());
  } else if (way == "arrow") {
    read_stream(pager, out);
  } else {
    throw std::runtime_error("unknown take " + std::string(way));
  }
}

}  // namespace billcore::test
