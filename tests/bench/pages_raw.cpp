// The limit of the pages tables, which is the fastest possible program: code with only libcurl and yyjson. Reads page
// 1, which contains the number of pages, then the other pages.
#include "by_hand.hpp"
#include "pages_rows.hpp"

namespace pages {
namespace {

using by_hand::Handle;

struct Read {
  std::size_t sum = 0;  // the sum of the orders' amounts and of the lengths of their ids and states
  std::size_t pages = 0;
};

Read parsed(const std::string& body) {
  const auto document = by_hand::parse(body);
  yyjson_val* root = yyjson_doc_get_root(document.get());
  Read out;
  std::size_t index = 0;
  std::size_t count = 0;
  yyjson_val* order = nullptr;
  yyjson_arr_foreach(yyjson_obj_get(root, "data"), index, count, order) {
    out.sum += by_hand::text(order, "id").size() + by_hand::number(order, "total_with_vat") +
               by_hand::text(order, "state").size();
  }
  out.pages = by_hand::number(yyjson_obj_get(root, "pagination"), "total_pages");
  return out;
}

class Raw : public turns::Row {
 public:
  Raw(const turns::Server& server, int at_once) : base_url_(server.base_url), first_(server) {
    if (at_once > 1) others_ = std::make_unique<by_hand::Multi>(server, at_once);
  }
  std::size_t run(std::size_t count) override {
    const auto list = base_url_ + "/subscription/" + list_id(count) + "/orders?page=";
    const auto get = [&](std::size_t page) {
      first_.set_url(list + std::to_string(page));
      first_.perform();
      return parsed(first_.body());
    };
    auto [sum, pages] = get(1);
    if (others_) {
      others_->drive(
          pages - 1, [&](Handle& handle, std::size_t i) { handle.set_url(list + std::to_string(i + 2)); },
          [&](const std::string& body) { sum += parsed(body).sum; });
      return sum;
    }
    for (std::size_t page = 2; page <= pages; ++page) sum += get(page).sum;
    return sum;
  }
  std::string show() override { return std::to_string(run(1)); }

 private:
  std::string base_url_;
  Handle first_;
  std::unique_ptr<by_hand::Multi> others_;
};

}  // namespace

std::unique_ptr<turns::Row> make_raw(std::string_view /*name*/, const turns::Server& server, int at_once) {
  return std::make_unique<Raw>(server, at_once);
}

}  // namespace pages
