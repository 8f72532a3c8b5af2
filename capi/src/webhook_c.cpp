// Signatures: one-shot functions and verifiers.
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/webhook.h"
#include "billcore/webhook.hpp"
#include "convert.hpp"
#include "handles.hpp"

using billcore::Verifier;
using namespace billcore::capi;

namespace {

std::vector<std::string_view> views(const billcore_str* texts, size_t count) {
  if (texts == nullptr && count > 0) refuse("an array is NULL, but its count is not 0");
  std::vector<std::string_view> out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) out.push_back(view(texts[i]));
  return out;
}

Verifier make_verifier(const std::vector<std::string_view>& secrets, const billcore_verifier_options* given) {
  const billcore_verifier_options options = given != nullptr ? *given : billcore_verifier_options{};
  if (options.any_key_length) return Verifier::allowing_any_key_length(secrets, options.options);
  return Verifier(secrets, options.options);
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

billcore_status billcore_webhook_sign(billcore_str body, billcore_str secret, billcore_buf* out, billcore_error** err) {
  return call(
      err, [&] { put(out, billcore::webhooks::sign(view(body), view(secret))); }, out);
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

billcore_status billcore_verifier_options_allow_any_key_length(billcore_verifier_options* options,
                                                               billcore_error** err) {
  return call(err, [&] { handle(options).any_key_length = true; });
}

void billcore_verifier_options_free(billcore_verifier_options* options) { delete options; }

billcore_status billcore_verifier_new(const billcore_str* secrets, size_t count,
                                      const billcore_verifier_options* options, billcore_verifier** out,
                                      billcore_error** err) {
  return call(
      err, [&] { put_new(out, make_verifier(views(secrets, count), options)); }, out);
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

billcore_status billcore_verifier_unwrap_request(const billcore_verifier* verifier, billcore_str body,
                                                 const billcore_str* names, const billcore_str* values, size_t count,
                                                 billcore_event** out, billcore_error** err) {
  return get_new(
      verifier,
      [&](const Verifier& keys) {
        const auto name_views = views(names, count);
        const auto value_views = views(values, count);
        std::vector<std::pair<std::string_view, std::string_view>> fields;
        fields.reserve(count);
        for (size_t i = 0; i < count; ++i) fields.emplace_back(name_views[i], value_views[i]);
        return keys.unwrap_request(view(body), fields);
      },
      out, err);
}

void billcore_verifier_free(billcore_verifier* verifier) { delete verifier; }
