// AsyncClient: the client for asyncio.
#include "asyncio/awaitable.hpp"
#include "asyncio/loops.hpp"
#include "call/job.hpp"
#include "client/common.hpp"

namespace billcore::python {
namespace {

/// A job that sends no request, because its result is known.
class DoneJob : public Job {
 public:
  explicit DoneJob(py::object result) : Job({}), result_(std::move(result)) {}
  [[nodiscard]] std::optional<Operation> next() override { return std::nullopt; }
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
  CloseJob(Client client, std::shared_ptr<Loops> loops)
      : DoneJob(py::none()), client_(std::move(client)), loops_(std::move(loops)) {}
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
  return run(*own, std::make_unique<CloseJob>(own->client, own->loops), "AsyncClient.close");
}

}  // namespace

void bind_async_client(py::module_& module) {
  auto type =
      open_class<AwaitedClient>(module, "AsyncClient", docs::async_client_init_signature, docs::about_async_client);
  constexpr auto new_loops = [] { return std::make_shared<Loops>(); };
  def_method(type, init_signature<AwaitedClient>(), fast_call<init_client<AwaitedClient, new_loops>>,
             docs::async_client_init);
  bind_common(type);
  def<docs::async_client_close_signature>(type, docs::async_client_close,
                                          [](const py::object& self) { return close(self); });
  static const Signature enter("__aenter__(self, /)");
  def(type, enter, "Returns the client.", [](const py::object& self) {
    return run(held<AwaitedClient>(self.ptr()), std::make_unique<DoneJob>(self), "AsyncClient.__aenter__");
  });
  static const Signature exit("__aexit__(self, /, *error)");
  def(type, exit, "Closes the client.", [](const py::object& self, const Call& /*call*/) { return close(self); });
}

}  // namespace billcore::python
