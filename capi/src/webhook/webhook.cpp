// Signatures: one-shot functions, verifiers and streams.
#include "billcore/webhook.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/webhook.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

using billcore::Verifier;
using namespace billcore::capi;

namespace {

/// `secret` (if it is given), followed by the secrets in the options.
std::vector<std::string_view> secrets_of(billcore_str secret, const billcore_verifier_options* options) {
  std::vector<std::string_view> out;
  if (const auto first = optional_view(secret)) out.push_back(*first);
  if (options != nullptr) out.insert(out.end(), options->secrets.begin(), options->secrets.end());
  return out;
}

std::vector<std::pair<std::string_view, std::string_view>> fields_of(const billcore_headers* headers) {
  if (headers == nullptr) return {};
  return {headers->fields.begin(), headers->fields.end()};
}

/// The accounts in the options, which must have at least one, with their secrets.
std::vector<billcore::AccountSecrets> accounts_of(billcore_str secret, const billcore_verifier_options& options) {
  const auto& accounts = options.accounts;
  const auto refuse = [](const char* problem) { throw billcore::Error(billcore::ErrorCode::config, problem); };
  if (optional_view(secret) || accounts.front().first > 0) {
    refuse("a secret has no account, but others have: add each account before its secrets");
  }
  if (options.any_key_length) refuse("a verifier for accounts allows no other key length: leave out that option");
  std::vector<billcore::AccountSecrets> out;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const auto end = i + 1 < accounts.size() ? accounts[i + 1].first : options.secrets.size();
    auto& added = out.emplace_back();
    added.account = accounts[i].name;
    for (auto n = accounts[i].first; n < end; ++n) added.secrets.emplace_back(options.secrets[n]);
  }
  return out;
}

Verifier make_verifier(billcore_str secret, const billcore_verifier_options* given) {
  const auto secrets = secrets_of(secret, given);
  const auto options = given != nullptr ? given->options : billcore::VerifierOptions();
  if (given != nullptr && !given->accounts.empty()) {
    return Verifier::for_accounts(accounts_of(secret, *given), options);
  }
  if (given != nullptr && given->any_key_length) return Verifier::allowing_any_key_length(secrets, options);
  return Verifier(secrets, options);
}

}  // namespace

billcore_status billcore_webhook_verify(billcore_str body, billcore_str signature, billcore_str secret,
                                        billcore_error** err) {
  return call(
      err, [&] { static_cast<void>(billcore::webhooks::verify(view(body), optional_view(signature), view(secret))); });
}

billcore_status billcore_webhook_unwrap(billcore_str body, billcore_str signature, billcore_str secret,
                                        billcore_event** out, billcore_error** err) {
  return call(
      err, [&] { put_new(out, billcore::webhooks::unwrap(view(body), optional_view(signature), view(secret))); }, out);
}

billcore_status billcore_webhook_parse_unverified(billcore_str raw, billcore_event** out, billcore_error** err) {
  return call(
      err, [&] { put_new(out, billcore::webhooks::parse_unverified(view(raw))); }, out);
}

billcore_status billcore_webhook_sign(billcore_str body, billcore_str secret, billcore_buf* out, billcore_error** err) {
  return call(
      err, [&] { put(out, billcore::webhooks::sign(view(body), view(secret))); }, out);
}

billcore_status billcore_webhook_explain(billcore_str body, billcore_str signature, billcore_str secret,
                                         const billcore_verifier_options* options, billcore_buf* out,
                                         billcore_error** err) {
  return billcore_webhook_explain_with_headers(body, signature, nullptr, secret, options, out, err);
}

billcore_status billcore_webhook_explain_with_headers(billcore_str body, billcore_str signature,
                                                      const billcore_headers* headers, billcore_str secret,
                                                      const billcore_verifier_options* options, billcore_buf* out,
                                                      billcore_error** err) {
  return call(
      err,
      [&] {
        const auto fields = fields_of(headers);
        const auto secrets = secrets_of(secret, options);
        put(out, billcore::webhooks::explain(view(body), optional_view(signature), secrets, fields));
      },
      out);
}

billcore_status billcore_verifier_options_new(billcore_verifier_options** out, billcore_error** err) {
  return call(
      err, [&] { put_new(out); }, out);
}

billcore_status billcore_verifier_options_set_header(billcore_verifier_options* options, billcore_str name,
                                                     billcore_error** err) {
  return call(err, [&] { handle(options).options.header = text(name); });
}

billcore_status billcore_verifier_options_set_max_body(billcore_verifier_options* options, size_t bytes,
                                                       billcore_error** err) {
  return call(err, [&] { handle(options).options.max_body = bytes; });
}

billcore_status billcore_verifier_options_set_freshness_ms(billcore_verifier_options* options, int64_t milliseconds,
                                                           billcore_error** err) {
  return call(err, [&] {
    // The value is clamped, because the core converts it to microseconds, and the conversion could overflow.
    constexpr auto most = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds::max());
    handle(options).options.freshness = std::clamp(std::chrono::milliseconds(milliseconds), -most, most);
  });
}

billcore_status billcore_verifier_options_set_clock(billcore_verifier_options* options, billcore_clock clock,
                                                    void* context, billcore_release release, billcore_error** err) {
  using std::chrono::microseconds;
  return call(err, [&] {
    auto kept = owned(context, release);
    auto& to = handle(options).options.clock;
    to = nullptr;
    if (clock != nullptr) {
      to = [clock, kept = std::move(kept)] {
        return std::chrono::sys_time<microseconds>(microseconds(clock(kept.get())));
      };
    }
  });
}

billcore_status billcore_verifier_options_allow_any_key_length(billcore_verifier_options* options,
                                                               billcore_error** err) {
  return call(err, [&] { handle(options).any_key_length = true; });
}

billcore_status billcore_verifier_options_add_secret(billcore_verifier_options* options, billcore_str secret,
                                                     billcore_error** err) {
  return call(err, [&] { handle(options).secrets.push_back(text(secret)); });
}

billcore_status billcore_verifier_options_add_account(billcore_verifier_options* options, billcore_str account,
                                                      billcore_error** err) {
  return call(err, [&] {
    auto& to = handle(options);
    to.accounts.push_back({text(account), to.secrets.size()});
  });
}

void billcore_verifier_options_free(billcore_verifier_options* options) { delete options; }

billcore_status billcore_verifier_new(billcore_str secret, const billcore_verifier_options* options,
                                      billcore_verifier** out, billcore_error** err) {
  return call(
      err, [&] { put_new(out, make_verifier(secret, options)); }, out);
}

billcore_status billcore_verifier_verify(const billcore_verifier* verifier, billcore_str body, billcore_str signature,
                                         size_t* secret_index, billcore_error** err) {
  return call(
      err,
      [&] {
        const auto verified = handle(verifier).view.verify(view(body), optional_view(signature));
        if (secret_index != nullptr) *secret_index = verified.secret_index();
      },
      Maybe<size_t>{secret_index});
}

billcore_status billcore_verifier_unwrap(const billcore_verifier* verifier, billcore_str body, billcore_str signature,
                                         billcore_event** out, billcore_error** err) {
  return get_new(
      verifier, [&](const Verifier& keys) { return keys.unwrap(view(body), optional_view(signature)); }, out, err);
}

billcore_status billcore_headers_new(billcore_headers** out, billcore_error** err) {
  return call(
      err, [&] { put_new(out); }, out);
}

billcore_status billcore_headers_add(billcore_headers* headers, billcore_str name, billcore_str value,
                                     billcore_error** err) {
  return call(err, [&] { handle(headers).fields.emplace_back(text(name), text(value)); });
}

void billcore_headers_free(billcore_headers* headers) { delete headers; }

billcore_status billcore_verifier_unwrap_request(const billcore_verifier* verifier, billcore_str body,
                                                 const billcore_headers* headers, billcore_event** out,
                                                 billcore_error** err) {
  return get_new(
      verifier, [&](const Verifier& keys) { return keys.unwrap_request(view(body), fields_of(headers)); }, out, err);
}

size_t billcore_verifier_secret_count(const billcore_verifier* verifier) {
  return verifier != nullptr ? verifier->view.secret_count() : 0;
}

billcore_status billcore_verifier_matches(const billcore_verifier* verifier, size_t secret_index, uint64_t* out,
                                          billcore_error** err) {
  return call(
      err, [&] { *out = item_at(handle(verifier).view.matches(), secret_index); }, out);
}

void billcore_verifier_free(billcore_verifier* verifier) { delete verifier; }

billcore_status billcore_verifier_stream_new(const billcore_verifier* verifier, billcore_verifier_stream** out,
                                             billcore_error** err) {
  return get_new(verifier, &Verifier::stream, out, err);
}

billcore_status billcore_verifier_stream_update(billcore_verifier_stream* stream, billcore_str piece,
                                                billcore_error** err) {
  return call(err, [&] { handle(stream).view.update(view(piece)); });
}

billcore_status billcore_verifier_stream_finish(billcore_verifier_stream* stream, billcore_str signature,
                                                size_t* secret_index, billcore_error** err) {
  return call(
      err,
      [&] {
        const auto index = handle(stream).view.finish(optional_view(signature));
        if (secret_index != nullptr) *secret_index = index;
      },
      Maybe<size_t>{secret_index});
}

void billcore_verifier_stream_free(billcore_verifier_stream* stream) { delete stream; }
