#include "client/many.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "call/retry.hpp"
#include "paging/page_fetcher.hpp"

namespace billcore::detail {

Got<Value> got(ReadResult result) {
  return {std::move(result.key.id), std::move(result.value), std::move(result.error)};
}

std::int64_t integer_of(const Id& id) {
  std::int64_t number = 0;
  const char* const end = id.text().data() + id.text().size();
  const auto read = std::from_chars(id.text().data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) {
    throw Error(ErrorCode::invalid_argument, "the id of a product must be an integer of at most 64 bits");
  }
  return number;
}

struct ManyCalls::Slot {
  Slot(ReadKey which, Operation what) : key(std::move(which)), operation(std::move(what)) {}

  ReadKey key;
  Operation operation;
  Deadline until;
  std::optional<Answer> answer;  // parsed only in take(), because the document takes four times the answer's memory
  std::exception_ptr error;
  bool here = false;
  bool neglected = false;  // the call was in flight during a pause in which the engine was not driven
  std::optional<Call> call;
};

ManyCalls::ManyCalls(SessionPtr session, const ManyOptions& options, CallOptions call)
    : session_(std::move(session)),
      options_(options),
      call_(std::move(call)),
      allowed_(std::numeric_limits<std::int64_t>::max()) {
  if (options_.concurrency < 1) {
    throw Error(ErrorCode::invalid_argument, "concurrency must be at least 1: the number of calls in flight at once");
  }
  session_->require_open();
  static_cast<void>(session_->deadline(call_));
  if (call_.total_timeout) static_cast<void>(deadline_after(*call_.total_timeout, "total_timeout"));
}

ManyCalls::~ManyCalls() = default;

bool ManyCalls::wants() const noexcept {
  const auto most = std::min<std::int64_t>(
      connections_ > 0 ? std::min(connections_, options_.concurrency) : options_.concurrency, allowed_);
  return in_flight_ < most && static_cast<std::int64_t>(slots_.size()) < 2 * std::int64_t{options_.concurrency};
}

void ManyCalls::begin(Engine& engine, Slot& slot) {
  slot.until = earlier(session_->deadline(call_), total_);
  slot.here = slot.neglected = false;
  slot.error = nullptr;
  slot.answer.reset();
  // The call gets its deadline after its start, because libcurl's own time-out would count the caller's pauses.
  slot.call.emplace(session_->settings(), engine, slot.operation, std::nullopt, session_->hooks(call_));
  ++in_flight_;
  slot.call->start([this, &slot] { ended(slot); });
  if (!slot.here) slot.call->expire_at(slot.until);
}

void ManyCalls::add(Engine& engine, ReadKey key, Operation get) {
  session_->require_open();
  if (!total_ && call_.total_timeout) total_ = deadline_after(*call_.total_timeout, "total_timeout");
  if (is_late()) throw total_error();
  slots_.push_back(std::make_unique<Slot>(std::move(key), std::move(get)));
  try {
    begin(engine, *slots_.back());
  } catch (...) {
    slots_.pop_back();
    throw;
  }
}

void ManyCalls::ended(Slot& slot) noexcept {
  try {
    slot.answer = slot.call->answer();
    require_success(slot.call->request(), *slot.answer);
  } catch (...) {
    slot.error = std::current_exception();
  }
  allowed_ = allowed_pages(allowed_, in_flight_, slot.call->was_limited());
  --in_flight_;
  slot.here = true;
  if (options_.ordered ? &slot != slots_.front().get() : false) return;
  if (const auto ready = std::exchange(ready_, nullptr)) ready();
}

bool ManyCalls::has(Engine& engine) {
  const auto is_here = [](const auto& slot) { return slot->here; };
  const auto found = options_.ordered || slots_.empty() ? slots_.begin() : std::ranges::find_if(slots_, is_here);
  if (found == slots_.end() || !(*found)->here) return false;
  if (!(*found)->error || !(*found)->neglected || is_late()) return true;
  begin(engine, **found);
  return has(engine);
}

ReadResult ManyCalls::take() {
  const auto found = std::ranges::find_if(slots_, [](const auto& slot) { return slot->here; });
  auto& slot = **found;
  ReadResult got{slot.key};
  try {
    if (slot.error) std::rethrow_exception(slot.error);
    got.value = read_resource(slot.call->request(), *std::move(slot.answer));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::timeout && is_late()) throw total_error();
    got.error = error;
  } catch (const std::bad_alloc&) {  // has() reads the record again
    slot.error = std::current_exception();
    slot.neglected = true;
    throw;
  }
  slots_.erase(found);
  return got;
}

Error ManyCalls::total_error() const {
  ErrorDetail detail;
  if (!slots_.empty()) detail = detail_of(slots_.front()->call->request());
  return {ErrorCode::timeout, "get_many: total_timeout has passed; ask again for the ids that have no result yet",
          std::move(detail)};
}

Error ManyCalls::interruption() const {
  if (slots_.empty()) return {ErrorCode::interrupted, "get_many: interrupted, and no read was left"};
  return interruption_error(slots_.front()->call->request(), {});
}

void ManyCalls::resume() {
  if (!paused_) return;
  const auto length = SteadyClock::now() - *std::exchange(paused_, std::nullopt);
  if (length < noticeable_pause) return;
  for (const auto& slot : slots_) {
    if (slot->here) continue;
    slot->neglected = true;
    if (!slot->until) continue;
    slot->until = earlier(*slot->until + length, total_);
    slot->call->expire_at(slot->until);
  }
}

void ManyCalls::clear() noexcept {
  slots_.clear();
  in_flight_ = 0;
}

void ManyCalls::abandon() noexcept {
  for (auto& slot : slots_) static_cast<void>(slot.release());
}

void ManyCalls::begin_again(Engine& engine) {
  auto theirs = std::exchange(slots_, {});
  in_flight_ = 0;
  for (auto& each : theirs) {
    const auto* const slot = each.release();
    add(engine, slot->key, slot->operation);
  }
}

BlockingMany::BlockingMany(SessionPtr session, const ManyOptions& options, CallOptions call)
    : calls_(std::move(session), options, std::move(call)) {}

BlockingMany::~BlockingMany() { stop(); }

const Operation& ManyCalls::first() const noexcept { return slots_.front()->operation; }

Engine& BlockingMany::engine(const Operation& first) {
  const bool is_forked = lease_ != nullptr && !lease_->is_ours();
  if (is_forked) static_cast<void>(lease_.release());
  if (lease_ == nullptr) {
    const auto& session = *calls_.session();
    const auto& options = calls_.options();
    lease_.reset(new EnginePool::Lease(  // a Lease does not move
        session.lease(first, calls_.concurrency(), session.deadline(options), options)));
    if (!session.settings().state->pool.options().http2) calls_.limit((**lease_).max_connections());
  }
  if (is_forked) calls_.begin_again(**lease_);
  return **lease_;
}

void BlockingMany::add(ReadKey key, Operation get) {
  auto& with = engine(get);
  calls_.resume();
  calls_.add(with, std::move(key), std::move(get));
}

std::optional<ReadResult> BlockingMany::next() {
  if (calls_.empty()) {
    stop();  // return the engine to the pool
    return std::nullopt;
  }
  auto& with = engine(calls_.first());
  struct Pause {
    ManyCalls& calls;
    ~Pause() { calls.pause(); }
  } const pause{calls_};
  calls_.resume();
  const auto& options = calls_.options();
  const auto drive = [&](const std::function<bool()>& until) {
    const bool whole = until() || (!options.cancel.stop_requested() &&
                                   with.drive(until, calls_.session()->interrupt_of(options), options.cancel));
    if (!whole) throw calls_.interruption();
  };
  drive([&] { return calls_.has(with); });
  if (!calls_.session()->settings().state->pool.has_spare()) {  // see EnginePool
    drive([&] { return !calls_.in_flight(); });
    lease_.reset();
  }
  return calls_.take();
}

void BlockingMany::stop() noexcept {
  if (lease_ != nullptr && !lease_->is_ours()) {
    calls_.abandon();
    static_cast<void>(lease_.release());
  }
  calls_.clear();
  lease_.reset();
}

}  // namespace billcore::detail

namespace billcore {

AnyMany::AnyMany(std::shared_ptr<detail::BlockingMany> calls, IdSource ids, Request request)
    : calls_(std::move(calls)), ids_(std::move(ids)), request_(std::move(request)) {}

std::optional<Got<Value>> AnyMany::next_value() {
  while (calls_->wants()) {
    auto id = ids_();
    if (!id) break;
    auto operation = request_(*id);
    calls_->add({*std::move(id)}, std::move(operation));
  }
  auto result = calls_->next();
  if (!result) return std::nullopt;
  return detail::got(*std::move(result));
}

void AnyMany::stop() noexcept { calls_->stop(); }

}  // namespace billcore
