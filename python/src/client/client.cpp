// Client: the blocking client.
#include "client/client.hpp"

#include "asyncio/awaitable.hpp"
#include "call/job.hpp"
#include "call/json_text.hpp"
#include "client/common.hpp"

namespace billcore::python {
void bind_client(py::module_& module) {
  auto type = open_class<SyncClient>(module, "Client", docs::client_init_signature, docs::about_client);
  constexpr auto no_loops = [] { return std::shared_ptr<Loops>(); };
  def_method(type, init_signature<SyncClient>(), fast_call<init_client<SyncClient, no_loops>>, docs::client_init);
  bind_common(type);
  const auto end = [](const py::object& self) {
    if (auto* const own = held_or_null<SyncClient>(self.ptr())) without_gil([&] { own->client.close(); });
  };
  def<docs::client_close_signature>(type, docs::client_close, end);
  type.def("__enter__", [](const py::object& self) {
    static_cast<void>(held<SyncClient>(self.ptr()));
    return self;
  });
  static const Signature exit("__exit__(self, /, *error)");
  def(type, exit, "Closes the client.", [end](const py::object& self, const Call& /*call*/) { end(self); });
}

py::object request(const BoundClient& bound, const std::vector<py::handle>& values) {
  const arguments::Request from(values);
  RequestOptions options;
  const auto method = utf8(from.method, "method");
  const auto path = utf8(from.path, "path");
  if (given(from.query)) options.query = query_pairs(from.query);
  if (!left_out(from.json)) options.json = json_text(from.json, "json");
  if (!left_out(from.raise_on_error)) options.raise_on_error = boolean(from.raise_on_error, "raise_on_error");
  return run(bound,
             std::make_unique<ResponseJob>(operations::request(method, path, options), options.raise_on_error,
                                           call_options(from.timeout)),
             "request");
}

}  // namespace billcore::python
