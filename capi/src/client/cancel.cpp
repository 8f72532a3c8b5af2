// Tokens that cancel calls.
#include "billcore/cancel.h"

#include "client/handles.hpp"
#include "shared/convert.hpp"

using namespace billcore::capi;

billcore_status billcore_cancel_new(billcore_cancel** out, billcore_error** err) {
  return call(
      err, [&] { put_new(out); }, out);
}

void billcore_cancel_trigger(billcore_cancel* cancel) {
  if (cancel != nullptr) cancel->source.request_stop();
}

bool billcore_cancel_is_triggered(const billcore_cancel* cancel) {
  return cancel != nullptr && cancel->source.stop_requested();
}

void billcore_cancel_free(billcore_cancel* cancel) { delete cancel; }
