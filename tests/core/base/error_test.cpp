#include "billcore/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

namespace billcore {
namespace {

TEST(ErrorCodeTable, RowsStandAtTheirNumbers) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < error_code_table.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(error_code_table[i].code), i) << "numbers are never reused or moved";
    EXPECT_TRUE(names.insert(error_code_table[i].name).second);
  }
}

TEST(Error, CopyingCannotThrow) {
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
  ErrorDetail detail;
  detail.http_status = 402;
  const Error error(ErrorCode::payment, "declined", detail);
  const Error copy = error;
  EXPECT_STREQ(copy.what(), "declined");
  EXPECT_EQ(copy.detail().http_status, 402);
}

}  // namespace
}  // namespace billcore
