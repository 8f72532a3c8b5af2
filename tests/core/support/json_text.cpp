#include "json_text.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "billcore/detail/document.hpp"

namespace billcore::test {

Value parse(std::string text) {
  auto document = detail::Document::parse(SharedText::own(std::move(text)));
  const auto* root = document->root();
  return {std::move(document), root};
}

Value parse_fixture(const std::string& name) {
  const std::string path = BILLCORE_FIXTURES "/" + name;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return parse(text.str());
}

std::string quoted(std::string_view text) {
  JsonObject holder;
  holder.set("", text);
  const auto json = holder.dump();  // {"":"…"}
  return json.substr(4, json.size() - 5);
}

std::string quoted_or_null(const std::optional<std::string_view>& text) { return text ? quoted(*text) : "null"; }

std::string array_of(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += item;
  }
  return out + ']';
}

std::string page_text(const Made& page) {
  std::vector<std::string> items;
  for (const auto& id : page.ids) items.push_back("{\"id\":" + id + '}');
  items.insert(items.end(), page.others.begin(), page.others.end());
  const auto total = page.total < 0 ? std::string() : "\"total\":" + std::to_string(page.total) + ',';
  return "{\"data\":" + array_of(items) + ",\"pagination\":{" + total +
         "\"current_page\":" + std::to_string(page.current) + ",\"total_pages\":" + std::to_string(page.pages) +
         ",\"links\":{\"next\":\"https://elsewhere.example/\",\"previous\":null}}}";
}

std::string base64_decoded(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const auto digit = digits.find(c);
    if (digit == std::string_view::npos) throw std::runtime_error("not base64");
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
  }
  return out;
}

std::string bytes_of(const Value& value) {
  if (value.is_object()) return base64_decoded(value.find("b64").value().text());
  return std::string(value.text());
}

}  // namespace billcore::test
