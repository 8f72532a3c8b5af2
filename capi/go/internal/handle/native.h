/* Shared by the packages of this module: results by value, so that Go passes no pointers to pointers. */
#ifndef BILLCORE_GO_NATIVE_H
#define BILLCORE_GO_NATIVE_H

#include <billcore/error.h>

typedef struct bg_made {
  void* out;
  billcore_error* err;
  billcore_status status;
} bg_made;

static inline billcore_str bg_str(const char* data, size_t len) {
  billcore_str text = {data, len};
  return text;
}

#endif
