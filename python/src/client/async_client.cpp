// AsyncClient: the client for asyncio.
#include "asyncio/awaitable.hpp"
#include "asyncio/loops.hpp"
#include "call/job.hpp"
#include "client/common.hpp"

namespace billcore::python {
namespace {

constexpr const char* async_client_doc =
    R"(The REST client for asyncio: what Client has, to be awaited.

The options are those of Client. Lists are read with `async for`; close() is awaited, or use `async with`. A cancelled
task ends its request; if that was a write that may have happened, the CancelledError has a note that says so. No thread
is made; each event loop gets connections of its own, at most 100 at once, further requests wait for one of them (within
their timeout). Threads: one event loop each. Service interface: Endpoints; Authentication; Errors.)";

/// Something that needs no request.
class DoneJob : public Job {
 public:
  explicit DoneJob(py::object result) : Job({}), result_(std::move(result)) {}
  [[nodiscard]] std::optional<Operation> next() override { return std::nullopt; }
  void take(Completed& /*completed*/) override {}
  [[nodiscard]] py::object result() override { return std::move(result_); }
  int traverse(visitproc visit, void* arg) const override {
    Py_VISIT(result_.ptr());
    return Job::traverse(visit, arg);
  }

 private:
  py::object result_;
};

class CloseJob final : public DoneJob {
 public:
  CloseJob(Client client, std::shared_ptr<Waiter> waiter)
      : DoneJob(py::none()), client_(std::move(client)), loops_(std::static_pointer_cast<Loops>(std::move(waiter))) {}
  [[nodiscard]] py::object result() override {
    if (client_.close()) loops_->close();
    return DoneJob::result();
  }

 private:
  Client client_;
  std::shared_ptr<Loops> loops_;
};

py::object close(const py::object& self) {
  const auto* const own = held_or_null<AwaitedClient>(self.ptr());
  if (own == nullptr) return make_awaitable(std::make_shared<DoneJob>(py::none()), "AsyncClient.close");
  return run(*own, std::make_unique<CloseJob>(own->client, own->waiter), "AsyncClient.close");
}

}  // namespace

void bind_async_client(py::module_& module) {
  static const Signature create("AsyncClient(" BILLCORE_CLIENT_PARAMETERS);
  auto type = py::class_<AwaitedClient>(module, "AsyncClient", collected<AwaitedClient>(),
                                        create.doc(async_client_doc).c_str(), py::metaclass(guarding_metaclass()));
  type.attr("__doc__") = async_client_doc;
  type.attr("__module__") = "billcore";
  constexpr auto new_loops = [] { return std::make_shared<Loops>(); };
  def_method(type, init_signature(), fast_call<init_client<AwaitedClient, new_loops>>, "Connects to nothing yet.");
  bind_common(type);
  static const Signature end("close(self)");
  type.def("close", &close,
           end.doc("Close idle connections; calls under way finish, later ones raise ConfigError.").c_str());
  type.def("__aenter__", [](const py::object& self) {
    return run(held<AwaitedClient>(self.ptr()), std::make_unique<DoneJob>(self), "AsyncClient.__aenter__");
  });
  type.def("__aexit__", [](const py::object& self, const py::args& /*args*/) { return close(self); });
}

}  // namespace billcore::python
