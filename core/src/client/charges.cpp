// Finds the orders that a charge of unknown outcome may have created, and decides whether the result is complete.
#include "billcore/charges.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/encoding.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/options.hpp"
#include "billcore/pager.hpp"
#include "call/answer.hpp"
#include "call/routes.hpp"
#include "http/libcurl.hpp"

namespace billcore {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int most_readings = 6;

[[noreturn]] void refuse(const char* problem) { throw Error(ErrorCode::invalid_argument, problem); }

/// The id in the path of a charge, /subscription/{id}/order; nullopt for other requests.
std::optional<std::string> charged_subscription(const ErrorDetail& request) {
  constexpr std::string_view before = "/subscription/";
  constexpr std::string_view behind = "/order";
  std::string_view path = request.path;
  if (request.method != "POST" || !path.starts_with(before) || !path.ends_with(behind)) return std::nullopt;
  if (path.size() <= before.size() + behind.size()) return std::nullopt;
  path.remove_prefix(before.size());
  path.remove_suffix(behind.size());
  if (path.find('/') != std::string_view::npos) return std::nullopt;
  std::string id;
  if (path.find('%') == std::string_view::npos) return std::string(path);
  if (!detail::decode_percent(path, false, id)) return std::nullopt;
  return id;
}

Instant earlier(Instant instant, microseconds by) noexcept {
  const auto since_epoch = instant.time_since_epoch();
  return since_epoch.count() < 0 && by > instant - Instant::min() ? Instant::min() : instant - by;
}

// Rounds down to a whole second: the service's times may be whole seconds, and an order created within the same second
// must not appear to be older than `instant`.
Instant whole_second(Instant instant) noexcept {
  constexpr microseconds second = std::chrono::seconds(1);
  return earlier(instant, (instant.time_since_epoch() % second + second) % second);
}

ListOperation orders_of(const Id& subscription, std::optional<std::int64_t> product_id) {
  OrderQuery query;
  query.product_id = product_id;
  query.per_page = detail::routes::max_per_page;  // one page of this size is almost always enough for the search
  return operations::subscriptions::orders(subscription, query);
}

std::int64_t steady_micros() noexcept {
  return std::chrono::duration_cast<microseconds>(detail::SteadyClock::now().time_since_epoch()).count();
}

std::optional<std::int64_t> readable_total(const Pagination& pagination) {
  std::int64_t total = 0;
  const auto found = pagination.value().find("total");
  if (!found || !detail::int64(found->node(), total) || total < 0) return std::nullopt;
  return total;
}

// A text that identifies an item: its id as received (7 and "7" differ), or its whole JSON text if it has no id.
std::string id_text(const Value& item) {
  const auto id = item.find("id");
  if (id && id->kind() == Value::Kind::string) return '"' + std::string(id->text());
  if (id && id->kind() == Value::Kind::integer) return detail::integer_text(id->node());
  return std::string(item.raw());
}

Error about(const ListOperation& list, std::int64_t number, const detail::Document& page, ErrorCode code,
            const std::string& problem) {
  ErrorDetail detail;
  detail.method = "GET";
  detail.path = list.path;
  if (const auto& info = page.info()) {
    detail.http_status = info->status();
    detail.attempts = info->attempts();
    detail.request_id = info->request_id();
  }
  auto message = detail::subject_of_page(list.path, number, detail.attempts) + problem;
  return {code, std::move(message), std::move(detail)};
}

}  // namespace

namespace operations {

ChargeSearch find_charges(const Error& error, microseconds skew, std::optional<std::int64_t> product_id) {
  const auto& request = error.detail();
  const auto subscription = charged_subscription(request);
  if (!subscription) refuse("the error is not about a charge: pass the id of the subscription, and since");
  if (!request.outcome_unknown) refuse("the outcome of this charge is known: there is nothing to look for");
  if (!request.attempted_at) {
    refuse("the error does not say when the charge was sent: pass the id of the subscription, and since");
  }
  if (skew < microseconds::zero()) refuse("skew must not be negative");
  const auto sent = std::min(*request.attempted_at, request.service_time.value_or(*request.attempted_at));
  return {orders_of(Id(*subscription), product_id), earlier(sent, skew),
          request.service_time ? ChargeSearch::Clock::known : ChargeSearch::Clock::from_first_answer};
}

ChargeSearch find_charges(const Id& subscription, Instant since, std::optional<std::int64_t> product_id) {
  return {orders_of(subscription, product_id), since, ChargeSearch::Clock::known};
}

}  // namespace operations

ChargeSearch::ChargeSearch(ListOperation orders, Instant since, Clock clock)
    : orders_(std::move(orders)), since_(whole_second(since)), clock_(clock) {}

void ChargeSearch::limit(milliseconds timeout) {
  if (timeout.count() <= 0) refuse("timeout must be more than 0");
  constexpr milliseconds longest = std::chrono::hours(24 * 365);
  deadline_.reset();
  if (timeout != no_timeout) deadline_ = steady_micros() + microseconds(std::min(timeout, longest)).count();
}

milliseconds ChargeSearch::time_left() const {
  if (!deadline_) return no_timeout;
  return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(microseconds(*deadline_ - steady_micros())));
}

std::optional<Operation> ChargeSearch::next() {
  if (!done_ && has_read() && deadline_ && steady_micros() >= *deadline_) {
    give_up(ErrorCode::timeout, "the time-out passed before the list was read twice with the same result");
  }
  if (done_) return std::nullopt;
  return orders_.page(reading_.pages + 1);
}

void ChargeSearch::take(Completed& completed) {
  if (!has_read()) return take(completed.list());
  try {
    take(completed.list());
  } catch (const Error& error) {
    give_up(error.code(), error.message());
  }
}

void ChargeSearch::take(const std::shared_ptr<const detail::Document>& page) {
  const auto number = reading_.pages + 1;
  const Value root(page, page->root());
  const auto data = *root.find("data");
  const Pagination pagination(*root.find("pagination"));
  const auto current = pagination.current_page();
  const auto last = pagination.total_pages();
  const auto count = detail::size(data.node());
  if (number > 1 && number > last) {  // the list has become shorter since the previous page was read
    reading_.moved = true;
    return end_reading();
  }
  if (current != number) {
    throw about(orders_, number, *page, ErrorCode::pagination,
                "received page " + std::to_string(current) + " instead: the service does not honour `page`");
  }
  if (count == 0 && number < last) {
    throw about(orders_, number, *page, ErrorCode::pagination,
                "the page is empty, yet says that there are " + std::to_string(last) + " pages");
  }
  adjust_clock(*page);
  reading_.pages = number;
  reading_.items += static_cast<std::int64_t>(count);
  const auto total = readable_total(pagination);
  reading_.moved = reading_.moved || (number > 1 && total != reading_.total);
  reading_.total = total;
  reading_.trace += reading_.total ? std::to_string(*reading_.total) : "-";
  reading_.trace.push_back('\n');
  take_items(data);
  if (reading_.reached || number >= last) end_reading();
}

void ChargeSearch::take_items(const Value& data) {
  for (const auto& member : data) {
    const auto item = member.value();
    auto id = id_text(item);
    reading_.trace.append(id).push_back('\n');
    if (!reading_.ids.insert(id).second && reading_.pages > 1) reading_.moved = true;
    if (reading_.reached || Order(item).created_at().at < since_) {
      reading_.reached = true;
      continue;
    }
    reading_.found.push_back(item);
    if (ids_.insert(std::move(id)).second) found_.push_back(item);
  }
}

void ChargeSearch::end_reading() {
  ++readings_;
  const bool counts_agree = reading_.reached || !reading_.total || *reading_.total == reading_.items;
  const bool is_proof = !reading_.moved && (reading_.pages == 1 || reading_.trace == previous_);
  if (counts_agree && is_proof) {
    found_ = std::move(reading_.found);
    done_ = true;
  } else if (readings_ >= most_readings) {
    give_up(ErrorCode::pagination, !reading_.moved && !counts_agree
                                       ? "the list says that it has " + std::to_string(*reading_.total) +
                                             " orders and gave " + std::to_string(reading_.items)
                                       : "the list changed each time it was read");
  } else {
    previous_ = std::move(reading_.trace);
    reading_ = Reading();
  }
}

void ChargeSearch::give_up(ErrorCode cause, std::string why) {
  cause_ = cause;
  why_ = std::move(why);
  done_ = true;
}

// Moves since_ back if the local clock is ahead of the service's clock. The difference of the clocks at the time of the
// charge is unknown, so the function uses the present difference.
void ChargeSearch::adjust_clock(const detail::Document& page) {
  if (std::exchange(clock_, Clock::known) == Clock::known || page.info() == nullptr) return;
  for (const auto& [name, value] : page.info()->headers()) {
    if (name != "date") continue;
    const auto date = detail::parse_http_date(value);
    if (!date) return;
    const auto ahead =
        std::chrono::floor<microseconds>(std::chrono::system_clock::now()) - Instant(std::chrono::seconds(*date));
    if (ahead > microseconds::zero()) since_ = whole_second(earlier(since_, ahead));
    return;
  }
}

std::vector<Order> ChargeSearch::result() const {
  if (cause_ == ErrorCode::ok) return {found_.begin(), found_.end()};
  ErrorDetail detail;
  detail.method = "GET";
  detail.path = orders_.path;
  detail.cause = cause_;
  detail.cause_message = why_;
  auto found = found_;
  std::stable_sort(found.begin(), found.end(),
                   [](const Value& a, const Value& b) { return Order(a).created_at().at > Order(b).created_at().at; });
  auto message = "GET " + orders_.path + ": orders may be missing (" + why_ + "); " + std::to_string(found.size()) +
                 " found so far: search again before you charge again";
  detail.found = std::make_shared<const std::vector<Value>>(std::move(found));
  throw Error(ErrorCode::possibly_missed, std::move(message), std::move(detail));
}

}  // namespace billcore
