#include "script.hpp"

#include <algorithm>

namespace billcore::fuzz {
namespace {

constexpr std::size_t most_calls = 24;  // maximum number of characters read from the first line
constexpr std::size_t most_scripts = 12;
constexpr std::int64_t most_filler = 512L << 10;  // maximum number of filler bytes in a script

class Parser {
 public:
  Script parse(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '%' || at + 1 == text.size()) {
        character(text[at]);
      } else {
        command(text[++at]);
      }
    }
    while (!open_.empty()) leave();
    return std::move(script_);
  }

 private:
  using Kind = Step::Kind;

  void add(Kind kind, std::int64_t number = 0) { script_.push_back({kind, {}, number}); }
  void character(char c) {
    if (script_.empty() || script_.back().kind != Kind::text) add(Kind::text);
    script_.back().text += c;
  }
  void enter(Kind kind) {
    open_.push_back(script_.size());
    add(kind);
  }
  void leave() {
    auto& begin = script_[open_.back()];
    open_.pop_back();
    begin.end = script_.size();
    if (begin.kind == Kind::chunk) add(Kind::chunk_end);
  }
  void filler(std::int64_t size) {
    filled_ += size;
    if (filled_ <= most_filler) add(Kind::filler, size);
  }

  void command(char c) {
    if (c >= '0' && c <= '9') return add(Kind::pause, 10'000LL << (c - '0'));
    switch (c) {
      case 'w':
        return add(Kind::request);
      case 'n':
        return add(Kind::piece);
      case 'f':
        return add(Kind::finish);
      case 'c':
        return add(Kind::close);
      case 'r':
        return add(Kind::reset);
      case 'b':
        return filler(1 << 10);
      case 'B':
        return filler(64 << 10);
      case 'k':
        return add(Kind::key);
      case 'p':
        return add(Kind::page);
      case 'i':
        return add(Kind::token);
      case '(':
        return enter(Kind::body);
      case '[':
        return enter(Kind::chunk);
      case ')':
      case ']':
        if (!open_.empty()) leave();
        return;
      case '%':
        return character('%');
      default:
        character('%');
        character(c);
    }
  }

  Script script_;
  std::vector<std::size_t> open_;
  std::int64_t filled_ = 0;
};

}  // namespace

Plan::Plan(std::string_view input) {
  const auto line = input.substr(0, input.find('\n'));
  calls = line.substr(0, most_calls);
  input.remove_prefix(std::min(line.size() + 1, input.size()));
  while (scripts.size() < most_scripts) {
    const auto script = input.substr(0, input.find('\0'));
    scripts.push_back(Parser().parse(script));
    if (script.size() == input.size()) return;
    input.remove_prefix(script.size() + 1);
  }
}

}  // namespace billcore::fuzz
