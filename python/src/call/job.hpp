// The work of one Python call. A Job does not depend on how the call waits: a blocking call waits in its thread, and
// the event loop resumes an awaited call.
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

class LoopEngine;
struct PendingCall;

/// The exception's note for an interrupted write that had already ended with an exception other than Error.
inline constexpr const char* result_is_lost =
    "the call had ended already, and its result is lost: look before you send it again";

class Job {
 public:
  explicit Job(CallOptions options) : options_(std::move(options)) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// In a blocking call: returns the operation that the caller must send now; nullopt if result() is available. A job
  /// that reads a list always returns nullopt: next() reads the pages itself before it returns. Requires the GIL.
  [[nodiscard]] virtual std::optional<Operation> next() = 0;
  /// Receives the result of the operation that next() returned. Not called for a job that returns none. Called without
  /// the GIL: must not touch Python objects.
  virtual void take(Completed& /*completed*/) {}
  /// In an awaited call: starts the next operation, or a wait for a page, in an event loop and returns it; null if
  /// result() is available. By default, starts the operation that next() returns. `self` is a shared pointer to this job.
  [[nodiscard]] virtual std::shared_ptr<PendingCall> proceed(LoopEngine& engine, const Client& client, py::handle loop,
                                                             const std::shared_ptr<Job>& self);
  /// Returns the result, or raises a Python error. Requires the GIL.
  [[nodiscard]] virtual py::object result() = 0;
  /// Unlocks the job's list, if any. Call release() before the user's code, such as a signal handler, may run.
  virtual void release() noexcept {}
  /// Undoes result() when the caller did not get the result: puts the items back into the list.
  virtual void take_back() noexcept {}
  /// Is the operation a write?
  [[nodiscard]] virtual bool is_write() const noexcept { return false; }
  /// Returns one line about a finished write, for a caller that does not get the result of the write. Returns an empty
  /// text if the job has no finished write.
  [[nodiscard]] virtual std::string outcome() const { return {}; }
  /// Like outcome(), for the log; nullopt if no write can have happened. `error` is the exception that ended the call,
  /// or null.
  [[nodiscard]] virtual std::optional<LostResult> lost(const std::exception_ptr& /*error*/) const { return {}; }
  /// Visits references for the garbage collector. Call this function only if the job has a single owner.
  virtual int traverse(visitproc visit, void* arg) const {
    return options_.hooks.use_count() == 1 ? traverse_hooks(options_.hooks, visit, arg) : 0;
  }

  [[nodiscard]] const CallOptions& options() const noexcept { return options_; }
  void set_timeout(std::chrono::milliseconds timeout) noexcept { options_.timeout = timeout; }
  void set_hooks(std::shared_ptr<Hooks> hooks) noexcept { options_.hooks = std::move(hooks); }

 private:
  CallOptions options_;
};

/// A job that sends one operation.
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
  LostResult request_;  // method, path and route of a write; empty for a read
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

/// A job whose result is None: it ignores the content of the answer.
class EmptyJob final : public ResponseJob {
 public:
  EmptyJob(Operation operation, CallOptions options) : ResponseJob(std::move(operation), true, std::move(options)) {}
  [[nodiscard]] py::object result() override { return py::none(); }
};

}  // namespace billcore::python
