#include "json/layout.hpp"

#include <algorithm>

namespace billcore::detail {

bool Layout::learn(const yyjson_val* object) noexcept {
  count_ = plain_ = object->tag >> YYJSON_TAG_BIT;
  if (count_ == 0 || count_ > most_members) return false;
  last_.fill(none);
  const yyjson_val* key = object + 1;
  for (std::size_t place = 0; place < count_; ++place, key = next_of(key + 1)) {
    lengths_[place] = low_length(key);
    auto& last = last_[hash(lengths_[place])];
    before_[place] = last;
    last = static_cast<std::uint8_t>(place);
  }
  return true;
}

bool Layout::is_alike(const yyjson_val* object) noexcept {
  if (!yyjson_is_obj(const_cast<yyjson_val*>(object)) || object->tag >> YYJSON_TAG_BIT != count_) return false;
  const yyjson_val* key = object + 1;
  std::size_t place = 0;
  for (; place < plain_; ++place, key += 2) {
    if (low_length(key) != lengths_[place]) return false;
    if (unsafe_yyjson_is_ctn(const_cast<yyjson_val*>(key + 1))) break;
  }
  const auto plain = std::min(place + 1, plain_);
  for (; place < count_; ++place, key = next_of(key + 1)) {
    if (low_length(key) != lengths_[place]) return false;
  }
  plain_ = plain;
  return true;
}

std::unique_ptr<const Layout> Layout::mark(yyjson_val* array) {
  std::size_t left = unsafe_yyjson_get_len(array);
  if (left < 2) return nullptr;
  yyjson_val* item = array + 1;
  auto layout = std::make_unique<Layout>();
  if (!yyjson_is_obj(item) || !layout->learn(item)) return nullptr;
  for (; left > 0; --left, item = unsafe_yyjson_get_next(item)) {
    if (layout->is_alike(item)) item->tag |= mark_bit;
  }
  return layout;
}

const yyjson_val* Layout::find(const yyjson_val* object, std::string_view name) const noexcept {
  const auto wanted = static_cast<std::uint32_t>(name.size());
  const yyjson_val* found = nullptr;
  const yyjson_val* key = name_at(object, plain_ - 1);
  for (std::size_t place = plain_; place < count_; ++place) {
    key = next_of(key + 1);
    if (lengths_[place] == wanted && is_named(key, name)) found = key + 1;
  }
  if (found != nullptr) return found;
  for (std::size_t place = last_[hash(name.size())]; place != none; place = before_[place]) {
    if (place < plain_ && is_named(name_at(object, place), name)) return name_at(object, place) + 1;
  }
  return nullptr;
}

}  // namespace billcore::detail
