// Many reads, several at once.
#include "billcore/many.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "billcore/internal.hpp"
#include "client/handles.hpp"
#include "client/operation.hpp"
#include "shared/handles.hpp"

using namespace billcore::capi;
namespace internal = billcore::internal;

struct billcore_many {
  static constexpr const char* name = "billcore_many";
  std::shared_ptr<billcore::detail::BlockingMany> calls;
};

billcore_status billcore_many_new(const billcore_client* client, int32_t concurrency, bool ordered,
                                  const billcore_call_options* call, billcore_many** out, billcore_error** err) {
  return billcore::capi::call(
      err,
      [&] {
        const billcore::ManyOptions options{concurrency, ordered};
        *out = new billcore_many{internal::many(handle(client).view, options, call_options_of(call))};
      },
      out);
}

void billcore_many_free(billcore_many* many) { delete many; }

bool billcore_many_wants(const billcore_many* many) { return many != nullptr && many->calls->wants(); }

billcore_status billcore_many_add(billcore_many* many, billcore_operation* read, uint64_t number,
                                  billcore_error** err) {
  return call(err, [&] {
    auto& calls = *handle(many).calls;
    if (!is_get(read)) refuse("billcore_many_add takes reads of one record, such as orders.get");
    if (!calls.wants()) refuse("take a result first: billcore_many_wants says when a further read may be added");
    calls.add({std::string(), number, result_of(read)}, use(read).request);
  });
}

billcore_status billcore_many_next(billcore_many* many, uint64_t* number, billcore_result** result,
                                   billcore_error** failure, billcore_error** err) {
  return call(
      err,
      [&] {
        Reserved<billcore_resource> made;  // before the result is taken, which otherwise would be lost without memory
        auto next = handle(many).calls->next();
        if (!next) return;
        *number = next->key.number;
        if (next->value) {
          *result = made.make(*std::move(next->value), next->key.kind);
        } else {
          static_cast<void>(fail(failure, *next->error));
        }
      },
      number, result, failure);
}
