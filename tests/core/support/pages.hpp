// Lists whose pages a test defines, without a network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "json_text.hpp"
#include "paging/page_flow.hpp"

namespace billcore::test {

class Item : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] Id id() const { return id_field("id"); }
};

inline std::shared_ptr<const detail::Document> document(const Made& page) { return parse(page_text(page)).document(); }

using Fetch = std::function<std::shared_ptr<const detail::Document>(std::int64_t)>;

class FunctionSource final : public detail::PageSource {
 public:
  explicit FunctionSource(Fetch fetch) : fetch_(std::move(fetch)) {}
  std::shared_ptr<const detail::Document> fetch(const detail::Wanted& wanted) override { return fetch_(wanted.page); }
  void ahead(const detail::Wanted& /*wanted*/) override {}
  void tend() noexcept override {}
  void stop() noexcept override {}

 private:
  Fetch fetch_;
};

inline Pager<Item> made_pager(Fetch fetch, detail::PagerOptions options = {}) {
  options.path = "/list";
  return Pager<Item>(std::make_shared<detail::PageFlow>(options, std::make_unique<FunctionSource>(std::move(fetch))));
}

/// A list that returns `pages` in turn, whatever page is requested, and records the requested page numbers.
struct Script {
  std::vector<Made> pages;
  std::vector<std::int64_t> asked = {};

  Fetch fetch() {
    return [this](std::int64_t number) {
      asked.push_back(number);
      if (asked.size() > pages.size()) throw std::runtime_error("more pages were requested than there are");
      return document(pages[asked.size() - 1]);
    };
  }
  Pager<Item> pager(const detail::PagerOptions& options = {}) { return made_pager(fetch(), options); }
  Pager<Item> pager(std::int64_t first) { return pager({.first_page = first}); }
  Pager<Item> resumed(const std::string& state) { return pager({.resume = state}); }
};

inline std::vector<std::string> ids(Pager<Item>& pager) {
  std::vector<std::string> out;
  for (const auto& item : pager) out.push_back(item.id().text());
  return out;
}

using Texts = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

}  // namespace billcore::test
