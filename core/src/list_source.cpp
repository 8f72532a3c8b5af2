#include "list_source.hpp"

#include <unistd.h>

#include <utility>

namespace billcore::detail {

// The engine on loan, and what is on its way over it.
struct ListSource::Line {
  Line(const SessionPtr& session, const ListOperation& list, const CallOptions& options)
      : lease(session->terms().shared->pool.lease()), reader(session, *lease, list, options) {}

  EnginePool::Lease lease;
  ListReader reader;
  pid_t pid = getpid();
  SteadyClock::time_point tended = SteadyClock::now();
};

ListSource::ListSource(SessionPtr session, ListOperation list, CallOptions options)
    : session_(std::move(session)), list_(std::move(list)), options_(std::move(options)) {}

ListSource::~ListSource() { stop(); }

ListReader& ListSource::reader() {
  session_->require_open();
  if (line_ != nullptr && line_->pid != getpid()) static_cast<void>(line_.release());  // the parent's
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

void ListSource::move_on() {
  line_->tended = SteadyClock::now();
  line_->reader.notice_pause();
  static_cast<void>((*line_->lease).drive([] { return true; }, nullptr));
}

void ListSource::tend() noexcept try {
  // A consumer that only reads comes by every 100 ns, and would spend more time here than on its items.
  constexpr auto often_enough = std::chrono::milliseconds(1);
  if (line_ == nullptr || line_->pid != getpid() || SteadyClock::now() - line_->tended < often_enough) return;
  move_on();
} catch (...) {
  // Whoever waits for the page will be told.
}

void ListSource::stop() noexcept {
  if (line_ != nullptr && line_->pid != getpid()) static_cast<void>(line_.release());
  line_.reset();
}

}  // namespace billcore::detail
