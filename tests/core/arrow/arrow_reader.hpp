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
#include "paging/page_flow.hpp"
#include "support/json_text.hpp"

namespace billcore::test::arrow {

using Texts = std::vector<std::string>;

inline std::shared_ptr<const detail::Document> page(const std::vector<Texts>& pages, std::int64_t number) {
  std::size_t total = 0;
  for (const auto& items : pages) total += items.size();
  return parse("{\"data\":" + array_of(pages.at(static_cast<std::size_t>(number) - 1)) +
               ",\"pagination\":{\"total\":" + std::to_string(total) + ",\"current_page\":" + std::to_string(number) +
               ",\"total_pages\":" + std::to_string(pages.size()) + "}}")
      .document();
}

/// A page source that returns the given pages and fails at the given page numbers.
class Source final : public detail::PageSource {
 public:
  Source(std::vector<Texts> pages, std::vector<int> failing) : pages_(std::move(pages)), failing_(std::move(failing)) {}
  std::shared_ptr<const detail::Document> fetch(const detail::Wanted& wanted) override {
    const auto number = static_cast<int>(wanted.page);
    if (!failing_.empty() && failing_.front() == number) {
      failing_.erase(failing_.begin());
      throw Error(ErrorCode::server, "the service answered 500");
    }
    return page(pages_, number);
  }
  void ahead(const detail::Wanted& /*wanted*/) override {}
  void tend() noexcept override {}
  void stop() noexcept override {}

 private:
  std::vector<Texts> pages_;
  std::vector<int> failing_;
};

template <typename T>
Pager<T> pager_of(std::vector<Texts> pages, std::vector<int> failing = {}) {
  return Pager<T>(std::make_shared<detail::PageFlow>(detail::PagerOptions{},
                                                     std::make_unique<Source>(std::move(pages), std::move(failing))));
}

struct Schema : ArrowSchema {
  Schema() : ArrowSchema{} {}
  ~Schema() {
    if (release != nullptr) release(this);
  }
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;
};
struct Array : ArrowArray {
  Array() : ArrowArray{} {}
  ~Array() {
    if (release != nullptr) release(this);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
};

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
  ~Reader() {
    if (stream_.release != nullptr) stream_.release(&stream_);
  }
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

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
  ArrowArrayStream stream_{};
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
