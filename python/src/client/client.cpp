// Client: the client whose calls wait.
#include "client/client.hpp"

#include "call/job.hpp"
#include "call/json_text.hpp"
#include "client/common.hpp"

namespace billcore::python {
namespace {

constexpr const char* client_doc =
    R"(The REST client: every operation of the service. Reads are repeated where that may help, writes never.

base_url: address of the service up to and including the account segment; left out, BILLCORE_BASE_URL.
api_key: left out, BILLCORE_API_KEY. timeout: seconds for a whole call with all its attempts, None for no deadline.
max_retries: further attempts where one is safe: of a read when no connection came about, the answer broke off, or
its status is 408, 429 or 5xx; of a write only when nothing of it was sent; 0 means exactly one send.
concurrency: pages of a list on their way at once. proxy: its URL (http, https, socks4, socks4a, socks5, socks5h), ''
for none; left out, HTTPS_PROXY, ALL_PROXY and NO_PROXY count, but never for loopback. ca_bundle: file of PEM
certificates to trust; left out, SSL_CERT_FILE, SSL_CERT_DIR or the system's. client_certificate: file of PEM with a
certificate and its key, for a service that asks for one. headers: sent with every request. http2: True offers it,
False does not; None offers it where the libcurl in use withstands floods of small frames. allow_insecure_http: allow
http to hosts that are not loopback. request_id_header: header whose value errors show as request_id. max_response:
larger answers are refused (bytes). hooks: told of every attempt, see Hooks. Raises ConfigError when an option cannot
work. Threads: may be shared by any number; works in the child of a fork.
Service interface: Endpoints; Authentication; Errors.)";

}  // namespace

void bind_client(py::module_& module) {
  static const Signature create("Client(" BILLCORE_CLIENT_PARAMETERS);
  auto type = py::class_<SyncClient>(module, "Client", collected<SyncClient>(), create.doc(client_doc).c_str(),
                                     py::metaclass(guarding_metaclass()));
  type.attr("__doc__") = client_doc;
  type.attr("__module__") = "billcore";
  constexpr auto no_waiter = [] { return std::shared_ptr<Waiter>(); };
  def_method(type, init_signature(), fast_call<init_client<SyncClient, no_waiter>>, "Connects to nothing yet.");
  bind_common(type);
  static const Signature close("close(self)");
  const auto end = [](const py::object& self) {
    if (auto* const own = held_or_null<SyncClient>(self.ptr())) without_gil([&] { own->client.close(); });
  };
  type.def("close", end,
           close.doc("Close idle connections; calls under way finish, later ones raise ConfigError.").c_str());
  type.def("__enter__", [](const py::object& self) {
    static_cast<void>(held<SyncClient>(self.ptr()));
    return self;
  });
  type.def("__exit__", [end](const py::object& self, const py::args& /*args*/) { end(self); });
}

py::object request(const Sender& sender, const std::vector<py::handle>& values) {
  RequestOptions options;
  const auto method = utf8(values[0], "method");
  const auto path = utf8(values[1], "path");
  if (given(values[2])) options.query = query_pairs(values[2]);
  if (!left_out(values[3])) options.json = json_text(values[3], "json");
  if (!left_out(values[4])) options.raise_on_error = boolean(values[4], "raise_on_error");
  return run(sender,
             std::make_unique<ResponseJob>(operations::request(method, path, options), options.raise_on_error,
                                           call_options(values[5])),
             "request");
}

}  // namespace billcore::python
