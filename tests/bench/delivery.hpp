// A signed delivery, and the fastest way to parse it with yyjson.
#pragma once

#include <billcore.h>
#include <yyjson.h>

#include <array>
#include <billcore/webhook.hpp>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace delivery {

using Digest = std::array<std::uint8_t, 32>;

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Delivery {
  std::shared_ptr<const std::string> body;
  std::string signature;
  std::string secret;
  Digest claimed{};  // the decoded signature, so that the measured time of the limit excludes the decoding

  [[nodiscard]] std::string_view text() const { return *body; }
  [[nodiscard]] billcore_str c_body() const { return {body->data(), body->size()}; }
  [[nodiscard]] billcore_str c_signature() const { return {signature.data(), signature.size()}; }
};

// Reads a delivery that bodies.py wrote.
inline Delivery read_delivery(const std::string& folder) {
  Delivery out{std::make_shared<const std::string>(read_file(folder + "/body")), read_file(folder + "/signature"),
               read_file(folder + "/secret")};
  for (std::size_t i = 0; i < out.claimed.size(); ++i) {
    const char* digits = out.signature.data() + 2 * i;
    std::from_chars(digits, digits + 2, out.claimed[i], 16);
  }
  return out;
}

// Parses each body into the same memory pool: the fastest way to parse with yyjson.
class ParseLimit {
 public:
  explicit ParseLimit(std::size_t body) : memory_(yyjson_read_max_memory_usage(body, YYJSON_READ_NOFLAG)) {}

  template <typename Read>
  bool parse(std::string_view body, Read&& read) {
    yyjson_alc pool;
    yyjson_alc_pool_init(&pool, memory_.data(), memory_.size());
    yyjson_doc* document =
        yyjson_read_opts(const_cast<char*>(body.data()), body.size(), YYJSON_READ_NOFLAG, &pool, nullptr);
    const bool good = document != nullptr && read(yyjson_doc_get_root(document));
    yyjson_doc_free(document);
    return good;
  }

 private:
  std::vector<char> memory_;
};

// Reads the event's id and name and the subscription's status, which a webhook handler reads first.
inline bool read_three(yyjson_val* root) {
  return yyjson_get_int(yyjson_obj_get(root, "id")) != 0 && yyjson_get_str(yyjson_obj_get(root, "name")) != nullptr &&
         yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "data"), "status")) != nullptr;
}

inline bool read_three(const billcore::Event& event) {
  const auto subscription = event.data_as<billcore::Subscription>();
  return !event.id().text().empty() && !event.name().empty() && subscription && !subscription->status().empty();
}

}  // namespace delivery
