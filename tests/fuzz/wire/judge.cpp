#include "judge.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "answer.hpp"
#include "call/status_table.hpp"
#include "support.hpp"

namespace billcore::fuzz {
namespace {

constexpr std::int64_t margin = 100'000;  // microseconds that a call may take beyond its deadline
constexpr std::int64_t close_to_it = 10'000;
constexpr std::uint64_t most_waits = 20'000;

using Requests = std::vector<const Received*>;

void require_of(const Call& call, bool kept, const char* promise) {
  if (!kept) {
    std::fprintf(stderr, "call %d (%c) ended with %s\n", call.number, call.kind,
                 call.error ? call.error->what() : call.result.c_str());
  }
  require(kept, promise);
}

Requests requests_of(const Call& call, const Witness& peer) {
  Requests out;
  for (const auto& request : peer.received()) {
    // A partly received request could not be matched to its call, but requests are so short that this does not
    // happen.
    if (request.call == call.number) out.push_back(&request);
  }
  return out;
}

std::string_view sent_behind(const Witness& peer, const Received& request) {
  return std::string_view(peer.sent(request.connection).bytes).substr(request.sent_before);
}

// Whether the peer sent only plain answers to earlier requests before `request` arrived. Otherwise it is unknown where
// the answer to `request` begins.
bool is_aligned(const Witness& peer, const Received& request) {
  if (peer.sent(request.connection).odd) return false;
  std::size_t end = 0;
  for (const auto& other : peer.received()) {
    if (other.connection != request.connection) continue;
    if (other.sent_before != end) return false;
    if (&other == &request) return true;
    const auto answer = plain_answer(sent_behind(peer, other));
    if (!answer) return false;
    end += answer->size;
  }
  return false;
}

bool names_status(const Sent& sent, int status) {
  if (sent.any_status) return true;
  const auto& text = sent.bytes;
  for (auto at = text.find("HTTP/"); at != std::string::npos; at = text.find("HTTP/", at + 1)) {
    const auto line = std::string_view(text).substr(at, text.find('\n', at) - at);
    if (line.find(std::to_string(status)) != std::string_view::npos) return true;
  }
  return false;
}

bool has_sent_status(const Witness& peer, const Requests& requests, int status) {
  return std::any_of(requests.begin(), requests.end(),
                     [&](const Received* request) { return names_status(peer.sent(request->connection), status); });
}

// Whether the peer has sent `status` on a connection from which it read no request, as an overloaded server may do.
bool has_answered_unread(const Witness& peer, int status) {
  for (std::size_t i = 0; i < peer.connections(); ++i) {
    const auto& received = peer.received();
    const bool unread =
        std::none_of(received.begin(), received.end(), [i](const auto& each) { return each.connection == i; });
    if (unread && names_status(peer.sent(i), status)) return true;
  }
  return false;
}

// Whether the token is complete: an error's text may be truncated within a token and end in dots.
bool is_whole(std::string_view token, const std::string& nonce) {
  const auto digit = [&](std::size_t at) { return token[nonce.size() + at] >= '0' && token[nonce.size() + at] <= '9'; };
  return token.size() == nonce.size() + 6 && digit(1) && digit(2) && digit(4) && digit(5);
}

// Requires that no complete token in the text names a call other than `call`. If `page` > 0, a token of `call` must
// also name this page of the list.
void require_own(std::string_view text, const Call& call, const std::string& nonce, int page = 0) {
  for (auto at = text.find(nonce); at != std::string_view::npos; at = text.find(nonce, at + 1)) {
    const auto token = text.substr(at, nonce.size() + 6);
    if (!is_whole(token, nonce) || token == token_of(nonce, 0, 0)) continue;
    const auto own = token_of(nonce, call.number, page);
    const bool same = page > 0 ? token == own : token.substr(0, nonce.size() + 3) == own.substr(0, nonce.size() + 3);
    require_of(call, same, "a call gets only its own answer");
  }
}

ErrorCode code_for(int status) {
  for (const auto& row : detail::status_table) {
    if (status >= row.first && status <= row.last) return row.error;
  }
  return ErrorCode::api;
}

bool holds_object(const std::string& body) {
  try {
    const auto data = parse(body).find("data");
    return data && data->is_object();
  } catch (const Error&) {
    return false;
  }
}

// Checks the result of a write against what the peer received, by the rules in README, "When a write fails".
void judge_write(const Call& call, const Witness& peer, const Requests& requests) {
  require_of(call, requests.size() <= 1, "a write is not sent twice");
  const bool received = !requests.empty();
  const auto is_own_word = [&](int status) {
    return received ? has_sent_status(peer, requests, status) : has_answered_unread(peer, status);
  };
  if (!call.error) {
    require_of(call, received ? !peer.sent(requests.front()->connection).bytes.empty() : is_own_word(call.status),
               "a write that succeeded was received");
    return;
  }
  const auto& detail = call.error->detail();
  const auto status = detail.http_status;
  switch (call.error->code()) {
    case ErrorCode::bad_request:
    case ErrorCode::authentication:
    case ErrorCode::payment:
    case ErrorCode::permission_denied:
    case ErrorCode::not_found:
    case ErrorCode::conflict:
    case ErrorCode::validation:
    case ErrorCode::rate_limit:
    case ErrorCode::api:
    case ErrorCode::server:
      require_of(call, call.error->code() == code_for(status), "an error of the service matches its status");
      require_of(call, is_own_word(status), "a refusal was sent by the peer");
      require_of(call, detail.outcome_unknown == (status < 400 || status == 408 || status >= 500),
                 "a 4xx except 408 is final; with another status the outcome is unknown");
      return;
    case ErrorCode::decode:
      require_of(call, status >= 200 && status < 300 && is_own_word(status) && !detail.outcome_unknown,
                 "a success answer that cannot be decoded means that the write was done");
      return;
    case ErrorCode::outcome_unknown:
      require_of(call, detail.outcome_unknown && detail.attempted_at,
                 "outcome_unknown is set, with the time of the attempt");
      return;
    case ErrorCode::interrupted:
      require_of(call, call.told_to_end, "only an interrupted call has the code interrupted");
      require_of(call, !received || detail.outcome_unknown || status != 0,
                 "an interrupted write that was received is not reported as unsent");
      require_of(call, status == 0 || detail.cause != ErrorCode::ok || is_own_word(status),
                 "a status was sent by the peer");
      return;
    case ErrorCode::connection:
    case ErrorCode::timeout:
    case ErrorCode::tls:
    case ErrorCode::transport:
      require_of(call, !received && !detail.outcome_unknown, "a write that was received is not reported as not done");
      return;
    default:
      require_of(call, false, "a write fails with one of the errors in README's table");
  }
}

void judge_read(const Call& call, const Witness& peer, const Requests& requests) {
  if (call.kind != 'l') {
    require_of(call, requests.size() <= static_cast<std::size_t>(call.max_retries) + 1,
               "no read is sent more often than allowed");
  }
  const auto is_own_word = [&](int status) {
    return has_sent_status(peer, requests, status) || has_answered_unread(peer, status);
  };
  if (!call.error) {
    require_of(call, !requests.empty() || is_own_word(call.status), "a read that succeeded was received");
    return;
  }
  const auto& detail = call.error->detail();
  require_of(call, !detail.outcome_unknown, "the outcome of a read is never unknown");
  switch (call.error->code()) {
    case ErrorCode::interrupted:
      require_of(call, call.told_to_end, "only an interrupted call has the code interrupted");
      return;
    case ErrorCode::pagination:
      require_of(call, call.kind == 'l', "only lists have pages");
      return;
    case ErrorCode::decode:
    case ErrorCode::connection:
    case ErrorCode::timeout:
    case ErrorCode::transport:
      return;
    default:
      require_of(call, call.error->code() == code_for(detail.http_status) && is_own_word(detail.http_status),
                 "an error of the service matches its status");
  }
}

// Checks the result of the call against the last answer that the peer sent to the call, if this answer was plain (see
// answer.hpp) and was sent before the call's deadline.
void judge_plain(const Call& call, const Witness& peer, const Requests& requests) {
  if (requests.empty() || call.kind == 'l' || call.told_to_end) return;
  const auto& request = *requests.back();
  const auto behind = sent_behind(peer, request);
  if (!is_aligned(peer, request)) return;
  const auto answer = plain_beginning(behind);
  if (answer && !answer->whole) {
    require_of(call,
               call.error && (call.error->detail().outcome_unknown || !call.write) &&
                   (call.error->code() == ErrorCode::timeout || call.error->code() == ErrorCode::connection ||
                    call.error->code() == ErrorCode::decode || call.error->code() == ErrorCode::outcome_unknown),
               "a truncated answer is not a success");
    return;
  }
  if (!answer || answer->body.size() > call.max_response) return;
  const auto& times = peer.sent(request.connection).times;
  const auto whole = std::find_if(times.begin(), times.end(),
                                  [&](const auto& each) { return each.first >= request.sent_before + answer->size; });
  if (whole == times.end() || whole->second > call.begin + call.timeout - close_to_it) return;
  const int status = answer->status;
  const bool repeats = !call.write && (status == 408 || status == 429 || status >= 500);
  if (repeats) return;
  require_of(call,
             !call.error || (call.error->code() != ErrorCode::timeout && call.error->code() != ErrorCode::connection &&
                             call.error->code() != ErrorCode::outcome_unknown),
             "a plain answer is read");
  if (call.kind == 'q' || call.kind == 'Q') {
    require_of(call, !call.error && call.status == status, "any complete answer is returned");
  } else if (status < 200 || status >= 300) {
    require_of(call, call.error && call.error->code() == code_for(status) && call.error->detail().http_status == status,
               "an error of the service matches its status");
  } else if (call.kind == 'd' || call.kind == 'w') {
    require_of(call, !call.error && call.status == status, "any body is accepted where none is specified");
  } else if (holds_object(answer->body)) {
    require_of(call, !call.error || call.error->code() == ErrorCode::decode, "an answer as specified is returned");
    require_of(call, !call.error || answer->body.size() > 512, "an answer as specified is returned");
  } else {
    require_of(call, call.error && call.error->code() == ErrorCode::decode, "an answer not as specified is refused");
  }
}

}  // namespace

void judge(const Call& call, const Witness& peer, const std::string& nonce, const std::vector<GivenPage>& pages) {
  const auto requests = requests_of(call, peer);
  require_of(call, call.end - call.begin <= call.timeout + margin || call.kind == 'l', "a call ends by its deadline");
  require_of(call, call.waits < most_waits, "a call does not spin");
  if (call.write) {
    judge_write(call, peer, requests);
  } else {
    judge_read(call, peer, requests);
  }
  if (call.error) {
    const auto& error = *call.error;
    const auto& detail = error.detail();
    require_readable(error);
    for (const auto* text : {&error.message(), &detail.api_code, &detail.api_message, &detail.body, &detail.request_id,
                             &detail.path, &detail.cause_message}) {
      require_own(*text, call, nonce);
      require_of(call, text->find(peer_key) == std::string::npos, "no error shows the key");
    }
  }
  require_own(call.result, call, nonce);
  for (const auto& page : pages) require_own(page.text, call, nonce, static_cast<int>(page.number));
  judge_plain(call, peer, requests);
}

void judge_connections(const Witness& peer) {
  std::map<std::size_t, const Received*> last;
  for (const auto& request : peer.received()) {
    if (!request.whole) continue;
    const auto* const before = std::exchange(last[request.connection], &request);
    if (before == nullptr || !is_aligned(peer, *before)) continue;
    const auto answer = plain_answer(sent_behind(peer, *before));
    if (!answer) continue;
    require(before->sent_before + answer->size >= request.sent_before,
            "a connection with unsolicited bytes carries no further request");
    require(before->sent_before + answer->size <= request.sent_before, "an answer is read to its end");
  }
}

}  // namespace billcore::fuzz
