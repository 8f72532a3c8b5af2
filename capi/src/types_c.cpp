// Texts, buffers, the version.
#include <cstring>
#include <string_view>

#include "billcore/types.h"
static_assert(std::string_view(BILLCORE_VERSION) == BILLCORE_PROJECT_VERSION, "billcore/types.h has another version");

billcore_str billcore_str_from(const char* text) {
  return text == nullptr ? billcore_str{} : billcore_str{text, std::strlen(text)};
}

void billcore_buf_free(billcore_buf* buf) {
  if (buf == nullptr) return;
  delete[] buf->data;
  *buf = {};
}

const char* billcore_version(void) { return BILLCORE_PROJECT_VERSION; }
