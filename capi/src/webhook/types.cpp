// The functions of billcore/types.h: texts, buffers and the version.
#include "billcore/types.h"

#include <cstdint>
#include <cstring>
#include <string_view>
static_assert(std::string_view(BILLCORE_VERSION) == BILLCORE_PROJECT_VERSION, "billcore/types.h has another version");

billcore_str billcore_str_from(const char* text) {
  return text == nullptr ? billcore_str{} : billcore_str{text, std::strlen(text)};
}

bool billcore_same_id(billcore_str a, billcore_str b) {
  if (a.data == nullptr || b.data == nullptr || a.len != b.len) return false;
  if (a.len >= PTRDIFF_MAX) return false;  // no object is this large: the length is negative or uninitialised
  return std::memcmp(a.data, b.data, a.len) == 0;
}

void billcore_buf_free(billcore_buf* buf) {
  if (buf == nullptr) return;
  delete[] buf->data;
  *buf = {};
}

const char* billcore_version(void) { return BILLCORE_PROJECT_VERSION; }
