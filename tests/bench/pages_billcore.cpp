// The contenders of the pages tables that use billcore's pager, in C++ and C.
#include <billcore/client.hpp>
#include <stdexcept>

#include "ffi_c.h"
#include "pages_rows.hpp"

namespace pages {
namespace {

using Orders = billcore::Pager<billcore::Order>;

std::size_t read_fields(Orders& orders) {
  std::size_t sum = 0;
  for (const auto& order : orders) {
    sum += order.id().text().size() + static_cast<std::size_t>(order.total_with_vat()) + order.state().size();
  }
  return sum;
}

// take_items and take_pages read no fields; they return the number of pages.
std::size_t take_items(Orders& orders) {
  for (const auto& order : orders) static_cast<void>(order);
  return static_cast<std::size_t>(orders.fetched_pages());
}

std::size_t take_pages(Orders& orders) {
  std::size_t count = 0;
  while (orders.next_page()) ++count;
  return count;
}

class Cpp : public turns::Row {
 public:
  Cpp(const turns::Server& server, int at_once, std::size_t (*read)(Orders&))
      : client_(options(server, at_once)), read_(read) {}
  std::size_t run(std::size_t count) override {
    auto orders = client_.subscriptions().orders(billcore::Id(list_id(count)));
    return read_(orders);
  }
  std::string show() override { return std::to_string(run(1)); }

 private:
  static billcore::ClientOptions options(const turns::Server& server, int at_once) {
    billcore::ClientOptions out;
    out.base_url = server.base_url;
    out.api_key = turns::api_key;
    out.concurrency = at_once;
    return out;
  }
  billcore::Client client_;
  std::size_t (*read_)(Orders&);
};

class C : public turns::Row {
 public:
  C(const turns::Server& server, int at_once) {
    billcore_client_options* options = nullptr;
    const bool made = billcore_client_options_new(&options, nullptr) == BILLCORE_OK &&
                      billcore_client_options_set_base_url(options, billcore_str_from(server.base_url.c_str()),
                                                           nullptr) == BILLCORE_OK &&
                      billcore_client_options_set_api_key(options, {turns::api_key.data(), turns::api_key.size()},
                                                          nullptr) == BILLCORE_OK &&
                      billcore_client_options_set_concurrency(options, at_once, nullptr) == BILLCORE_OK &&
                      billcore_client_new(options, &client_, nullptr) == BILLCORE_OK;
    billcore_client_options_free(options);
    if (!made) throw std::runtime_error("billcore_client_new failed");
  }
  C(const C&) = delete;
  C& operator=(const C&) = delete;
  ~C() override { billcore_client_free(client_); }
  std::size_t run(std::size_t count) override { return ffi_list(client_, list_id(count).c_str()); }
  std::string show() override { return std::to_string(run(1)); }

 private:
  billcore_client* client_ = nullptr;
};

}  // namespace

std::unique_ptr<turns::Row> make_billcore(std::string_view name, const turns::Server& server, int at_once) {
  if (name == "cpp") return std::make_unique<Cpp>(server, at_once, read_fields);
  if (name == "cpp_items") return std::make_unique<Cpp>(server, at_once, take_items);
  if (name == "cpp_pages") return std::make_unique<Cpp>(server, at_once, take_pages);
  if (name == "c") return std::make_unique<C>(server, at_once);
  throw std::runtime_error("there is no such row");
}

}  // namespace pages
