// The work of one Python call, independent of how the call waits: a blocking call sends and waits, an awaited call
// starts and is resumed.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "billcore/client.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/detail/outcome.hpp"
#include "call/bound_client.hpp"
#include "call/response.hpp"

namespace billcore::python {

class LoopJob;

/// The note in the exception about a write that ended with an exception that is not an Error.
inline constexpr const char* result_is_lost =
    "the call had ended already, and its result is lost: look before you send it again";

class Job {
 public:
  explicit Job(CallOptions options) : options_(std::move(options)) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The operation to send now; nullopt if the result is available. Requires the GIL.
  [[nodiscard]] virtual std::optional<Operation> next() = 0;
  /// Takes the result of the operation from next(). Called without the GIL: must not touch Python objects.
  virtual void take(Completed& completed) = 0;
  /// Non-null for a job that waits in its own way in an event loop; null: next() and take() are enough.
  [[nodiscard]] virtual LoopJob* loop_job() noexcept { return nullptr; }
  /// The result, or a Python error. Requires the GIL.
  [[nodiscard]] virtual py::object result() = 0;
  /// Called before the caller's code (such as a signal handler) may run while the caller does not have the result yet.
  virtual void release() noexcept {}
  /// Called when the result never reached the caller.
  virtual void take_back() noexcept {}
  /// Is the operation a write?
  [[nodiscard]] virtual bool is_write() const noexcept { return false; }
  /// One line about a finished write, for a caller that does not get its result; else empty.
  [[nodiscard]] virtual std::string outcome() const { return {}; }
  /// Like outcome(), for the log; nullopt if no write can have happened. `error` is the exception that ended the call,
  /// or null.
  [[nodiscard]] virtual std::optional<LostResult> lost(const std::exception_ptr& /*error*/) const { return {}; }
  /// Visits references for the garbage collector; must be called by the only owner.
  virtual int traverse(visitproc visit, void* arg) const {
    return options_.hooks.use_count() == 1 ? traverse_hooks(options_.hooks, visit, arg) : 0;
  }

  [[nodiscard]] const CallOptions& options() const noexcept { return options_; }
  void set_timeout(std::chrono::milliseconds timeout) noexcept { options_.timeout = timeout; }
  void set_hooks(std::shared_ptr<Hooks> hooks) noexcept { options_.hooks = std::move(hooks); }

 private:
  CallOptions options_;
};

/// One operation and its result.
class SingleJob : public Job {
 public:
  SingleJob(Operation operation, CallOptions options) : Job(std::move(options)), operation_(std::move(operation)) {
    if (operation_->is_write()) request_ = {operation_->method, operation_->path, operation_->route};
  }
  [[nodiscard]] std::optional<Operation> next() override { return std::exchange(operation_, std::nullopt); }
  [[nodiscard]] bool is_write() const noexcept override { return !request_.method.empty(); }
  [[nodiscard]] std::string outcome() const override { return outcome_with(std::nullopt); }
  [[nodiscard]] std::optional<LostResult> lost(const std::exception_ptr& error) const override;

 protected:
  [[nodiscard]] std::string outcome_with(const std::optional<Value>& data) const {
    if (!is_write() || answer_ == nullptr) return {};
    return detail::interrupted_after_answer(request_.method + ' ' + request_.path + ": ", answer_->status(), data);
  }
  void set_answer(std::shared_ptr<const ResponseInfo> answer) noexcept { answer_ = std::move(answer); }

 private:
  std::optional<Operation> operation_;
  LostResult request_;  // set for a write
  std::shared_ptr<const ResponseInfo> answer_;
};

class ResourceJob : public SingleJob {
 public:
  ResourceJob(View type, Operation operation, CallOptions options)
      : SingleJob(std::move(operation), std::move(options)), type_(type) {}
  void take(Completed& completed) override {
    value_ = completed.resource();
    set_answer(value_->document()->info());
  }
  [[nodiscard]] py::object result() override { return view(type_, *value_); }
  [[nodiscard]] std::string outcome() const override { return SingleJob::outcome_with(value_); }

 private:
  View type_;
  std::optional<Value> value_;
};

class ResponseJob : public SingleJob {
 public:
  ResponseJob(Operation operation, bool raise_on_error, CallOptions options)
      : SingleJob(std::move(operation), std::move(options)), raise_on_error_(raise_on_error) {}
  void take(Completed& completed) override {
    response_ = completed.response(raise_on_error_);
    set_answer(response_->response_info());
  }
  [[nodiscard]] py::object result() override { return make_response(*std::move(response_)); }

 private:
  bool raise_on_error_;
  std::optional<Response> response_;
};

/// Ignores the content of the answer: the result is None.
class EmptyJob final : public ResponseJob {
 public:
  EmptyJob(Operation operation, CallOptions options) : ResponseJob(std::move(operation), true, std::move(options)) {}
  [[nodiscard]] py::object result() override { return py::none(); }
};

}  // namespace billcore::python
