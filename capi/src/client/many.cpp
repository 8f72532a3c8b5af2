// Many reads, several at once.
#include "billcore/many.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "billcore/internal.hpp"
#include "client/handles.hpp"
#include "client/loop.hpp"
#include "client/operation.hpp"
#include "shared/handles.hpp"

using namespace billcore::capi;
namespace internal = billcore::internal;

namespace {

internal::LoopMany& reads_on_loop(billcore_many& many) {
  if (!many.on_loop->reads) refuse("the loop of the reads was freed: make a new one");
  return *many.on_loop->reads;
}

}  // namespace

billcore_status billcore_many_new(const billcore_client* client, int32_t concurrency, bool ordered,
                                  const billcore_call_options* call, billcore_many** out, billcore_error** err) {
  return billcore::capi::call(
      err,
      [&] {
        const billcore::ManyOptions options{concurrency, ordered};
        *out = new billcore_many{.calls = internal::many(handle(client).view, options, call_options_of(call))};
      },
      out);
}

void billcore_many_free(billcore_many* many) { delete many; }

bool billcore_many_wants(const billcore_many* many) {
  if (many == nullptr) return false;
  if (many->calls != nullptr) return many->calls->wants();
  return many->on_loop->reads && many->on_loop->reads->wants();
}

billcore_status billcore_many_add(billcore_many* many, billcore_operation* read, uint64_t number,
                                  billcore_error** err) {
  return call(err, [&] {
    auto& self = handle(many);
    if (!is_get(read)) refuse("billcore_many_add takes reads of one record, such as orders.get");
    if (self.calls == nullptr) static_cast<void>(reads_on_loop(self));
    if (!billcore_many_wants(many))
      refuse("take a result first: billcore_many_wants says when a further read may be added");
    billcore::detail::ReadKey key{std::string(), number, result_of(read)};
    if (self.calls != nullptr) {
      self.calls->add(std::move(key), use(read).request);
    } else {
      reads_on_loop(self).add(std::move(key), use(read).request);
    }
  });
}

billcore_status billcore_many_next(billcore_many* many, uint64_t* number, billcore_result** result,
                                   billcore_error** failure, billcore_error** err) {
  return call(
      err,
      [&] {
        Reserved<billcore_resource> made;  // before the result is taken, which otherwise would be lost without memory
        auto& self = handle(many);
        std::optional<billcore::detail::ReadResult> next;
        if (self.calls != nullptr) {
          next = self.calls->next();
        } else if (auto& reads = reads_on_loop(self); reads.has()) {
          next = reads.take();
        } else if (!reads.empty()) {
          return billcore_status{BILLCORE_DONE};
        }
        if (!next) return billcore_status{BILLCORE_OK};
        *number = next->key.number;
        if (next->value) {
          *result = made.make(*std::move(next->value), next->key.kind);
        } else {
          static_cast<void>(fail(failure, *next->error));
        }
        return billcore_status{BILLCORE_OK};
      },
      number, result, failure);
}
