// Makes lists from the pages that a test defines, and reads the Arrow streams that are exported from these lists.
#pragma once

#include <gtest/gtest.h>
#include <nanoarrow/nanoarrow.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/arrow_columns.hpp"
#include "billcore/arrow.hpp"
#include "billcore/error.hpp"
#include "support/pages.hpp"

namespace billcore::test::arrow {

using Texts = std::vector<std::string>;

/// A list of the given pages, which fails once at each of the given page numbers, in this order.
template <typename T>
Pager<T> pager_of(std::vector<Texts> pages, std::vector<std::int64_t> failing = {}) {
  const auto fetch = [pages = std::move(pages), failing = std::move(failing)](std::int64_t number) mutable {
    if (!failing.empty() && failing.front() == number) {
      failing.erase(failing.begin());
      throw Error(ErrorCode::server, "the service answered 500");
    }
    std::size_t total = 0;
    for (const auto& items : pages) total += items.size();
    return document({{},
                     number,
                     static_cast<std::int64_t>(pages.size()),
                     static_cast<std::int64_t>(total),
                     pages.at(static_cast<std::size_t>(number) - 1)});
  };
  return Pager<T>(std::make_shared<detail::PageFlow>(detail::PagerOptions{}, std::make_unique<FunctionSource>(fetch)));
}

/// One of the structures of the Arrow C interface, released when it is destroyed.
template <typename T>
struct Owned : T {
  Owned() : T{} {}
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};
using Schema = Owned<ArrowSchema>;
using Array = Owned<ArrowArray>;

/// Returns one value of a column as text; "null" for a null.
inline std::string shown(const ArrowArrayView* column, std::int64_t row) {
  if (ArrowArrayViewIsNull(column, row) != 0) return "null";
  switch (column->storage_type) {
    case NANOARROW_TYPE_STRING: {
      const auto text = ArrowArrayViewGetStringUnsafe(column, row);
      return {text.data, static_cast<std::size_t>(text.size_bytes)};
    }
    case NANOARROW_TYPE_DECIMAL128: {
      ArrowDecimal decimal{};
      ArrowDecimalInit(&decimal, 128, detail::decimal_digits, detail::decimal_scale);
      ArrowArrayViewGetDecimalUnsafe(column, row, &decimal);
      ArrowBuffer digits{};
      ArrowBufferInit(&digits);
      EXPECT_EQ(ArrowDecimalAppendDigitsToBuffer(&decimal, &digits), NANOARROW_OK);
      std::string out(reinterpret_cast<const char*>(digits.data), static_cast<std::size_t>(digits.size_bytes));
      ArrowBufferReset(&digits);
      return out;
    }
    default:
      return std::to_string(ArrowArrayViewGetIntUnsafe(column, row));
  }
}

/// An Arrow stream and the data read from it.
class Reader {
 public:
  ArrowArrayStream* stream() { return &stream_; }
  void release() { stream_.release(&stream_); }
  /// Returns each row of the next batch as its values joined by '|'; returns no rows at the end. Sets `status` to the
  /// result of get_next.
  Texts next() {
    Schema schema;
    EXPECT_EQ(stream_.get_schema(&stream_, &schema), 0);
    Array array;
    status = stream_.get_next(&stream_, &array);
    if (status != 0) {
      EXPECT_EQ(array.release, nullptr);
      problem = stream_.get_last_error(&stream_);
      return {};
    }
    return array.release == nullptr ? Texts() : rows(schema, array);
  }

  static Texts rows(const ArrowSchema& schema, const ArrowArray& array) {
    ArrowArrayView view{};
    EXPECT_EQ(ArrowArrayViewInitFromSchema(&view, &schema, nullptr), NANOARROW_OK);
    EXPECT_EQ(ArrowArrayViewSetArray(&view, &array, nullptr), NANOARROW_OK);
    ArrowError error{};
    EXPECT_EQ(ArrowArrayViewValidate(&view, NANOARROW_VALIDATION_LEVEL_FULL, &error), NANOARROW_OK) << error.message;
    Texts out;
    for (std::int64_t row = 0; row < array.length; ++row) {
      std::string line;
      for (std::int64_t i = 0; i < array.n_children; ++i)
        line.append(i > 0 ? "|" : "").append(shown(view.children[i], row));
      out.push_back(line);
    }
    ArrowArrayViewReset(&view);
    return out;
  }

  int status = 0;
  std::string problem;

 private:
  Owned<ArrowArrayStream> stream_;
};

template <typename T>
Texts rows_of(const Texts& items, const ArrowFields& fields) {
  Reader reader;
  export_arrow(pager_of<T>({items}), reader.stream(), fields);
  auto out = reader.next();
  EXPECT_EQ(reader.status, 0) << reader.problem;
  return out;
}

}  // namespace billcore::test::arrow
