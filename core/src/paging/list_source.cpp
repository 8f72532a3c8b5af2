#include "paging/list_source.hpp"

#include <time.h>

#include <utility>

namespace billcore::detail {
namespace {

// As of the kernel's last tick, which costs a fourth of the exact time.
std::int64_t coarse_milliseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

// The engine on loan, and what is on its way over it.
struct ListSource::Line {
  Line(const SessionPtr& session, const ListOperation& list, const CallOptions& options)
      : lease(session->terms().shared->pool.lease()), reader(session, *lease, list, options) {}

  EnginePool::Lease lease;
  ListReader reader;
  std::int64_t tended = coarse_milliseconds();
};

ListSource::ListSource(SessionPtr session, ListOperation list, CallOptions options)
    : session_(std::move(session)), list_(std::move(list)), options_(std::move(options)) {}

ListSource::~ListSource() { stop(); }

ListReader& ListSource::reader() {
  session_->require_open();
  leave_behind();
  if (line_ == nullptr) line_ = std::make_unique<Line>(session_, list_, options_);
  return line_->reader;
}

std::shared_ptr<const Document> ListSource::fetch(const Wanted& wanted) {
  auto& pages = reader();
  if (wanted.anew) pages.drop();
  pages.request(wanted.page, wanted.last, wanted.count);
  pages.expect(wanted.page, nullptr);
  bool whole = false;
  try {
    whole = (*line_->lease).drive([&] { return pages.has(wanted.page); }, session_->terms().options.interrupt);
  } catch (...) {
    pages.give_up();
    throw;
  }
  if (!whole) {
    pages.give_up();
    const auto operation = list_.page(wanted.page);
    throw interrupted({operation.method, operation.path, *session_->terms().answers, 1, operation.page}, {});
  }
  auto document = pages.take(wanted.page);
  if (pages.empty()) stop();  // the engine is free for others
  return document;
}

void ListSource::ahead(const Wanted& wanted) {
  if (wanted.page > wanted.last) return;
  auto& pages = reader();
  if (wanted.anew) pages.drop();
  pages.request(wanted.page, wanted.last, wanted.count);
  move_on();  // they are to leave now, not when somebody waits for them
}

// What a forked child has of its parent's stays as it is.
void ListSource::leave_behind() noexcept {
  if (line_ != nullptr && !line_->lease.is_ours()) static_cast<void>(line_.release());
}

void ListSource::move_on() {
  line_->tended = coarse_milliseconds();
  line_->reader.notice_pause();
  static_cast<void>((*line_->lease).drive([] { return true; }, nullptr));
}

void ListSource::tend() noexcept try {
  // A consumer that only reads comes by every 50 ns, and would spend more time here than on its items.
  if (line_ == nullptr || coarse_milliseconds() == line_->tended || !line_->lease.is_ours()) return;
  move_on();
} catch (...) {
  // Whoever waits for the page will be told.
}

void ListSource::stop() noexcept {
  leave_behind();
  line_.reset();
}

}  // namespace billcore::detail
