// The limit of the tables rest and pages: the fastest possible programs, which use only libcurl and yyjson.
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "by_hand.hpp"
#include "native.hpp"
#include "team.hpp"

namespace rest {
namespace {

using by_hand::Handle;
using by_hand::require;
using turns::Row;
using turns::Server;

std::string url_of(const Server& server) { return server.base_url + std::string(subscription); }

std::size_t read_body(std::string& body) { return body.size(); }
std::string show_body(std::string& body) { return body; }

// Calls `use` with id, reference_id and status.
template <typename Use>
auto parsed(std::string& body, Use use) {
  const auto document = by_hand::parse(body);
  yyjson_val* data = yyjson_obj_get(yyjson_doc_get_root(document.get()), "data");
  return use(by_hand::text(data, "id"), by_hand::text(data, "reference_id"), by_hand::text(data, "status"));
}

std::size_t read_fields(std::string& body) {
  return parsed(body, [](auto id, auto name, auto status) { return id.size() + name.size() + status.size(); });
}

std::string show_fields(std::string& body) {
  return parsed(body, [](auto id, auto name, auto status) {
    return std::string(id).append("\t").append(name).append("\t").append(status);
  });
}

struct Reader {
  std::size_t (*read)(std::string&);
  std::string (*show)(std::string&);
};

class Easy : public Row {
 public:
  Easy(const Server& server, Reader reader) : handle_(server), reader_(reader) { handle_.set_url(url_of(server)); }
  std::size_t run(std::size_t count) override {
    std::size_t total = 0;
    while (count-- > 0) {
      handle_.perform();
      total += reader_.read(handle_.body());
    }
    return total;
  }
  std::string show() override {
    handle_.perform();
    return reader_.show(handle_.body());
  }
  void run_late(std::chrono::milliseconds timeout) override {
    curl_easy_setopt(handle_.easy(), CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    require(curl_easy_perform(handle_.easy()) == CURLE_OPERATION_TIMEDOUT, "libcurl did not time out");
  }

 private:
  Handle handle_;
  Reader reader_;
};

class Multi : public Row {
 public:
  Multi(const Server& server, int handles, Reader reader) : multi_(server, handles), reader_(reader) {
    for (const auto& handle : multi_.handles()) handle->set_url(url_of(server));
  }
  std::size_t run(std::size_t count) override {
    std::size_t total = 0;
    drive(count, [&](std::string& body) { total += reader_.read(body); });
    return total;
  }
  std::string show() override {
    std::string shown;
    drive(multi_.handles().size(), [&](std::string& body) {
      const auto one = reader_.show(body);
      require(shown.empty() || shown == one, "two answers differ");
      shown = one;
    });
    return shown;
  }

 private:
  template <typename Use>
  void drive(std::size_t count, Use use) {
    multi_.drive(
        count, [](Handle&, std::size_t) {}, use);
  }

  by_hand::Multi multi_;
  Reader reader_;
};

// Uses one libcurl handle and one connection per thread, to show the cost of threads without billcore.
class Threads : public Row {
 public:
  Threads(const Server& server, int count, Reader reader) : team_(count, &run_one, this) {
    for (int i = 0; i < count; ++i) free_.push_back(std::make_unique<Easy>(server, reader));
  }
  std::size_t run(std::size_t count) override { return team_.run(count); }
  std::string show() override { return free_.front()->show(); }

 private:
  static std::size_t run_one(const void* self, std::size_t count) {
    auto& threads = *static_cast<Threads*>(const_cast<void*>(self));
    auto own = threads.take();
    const auto total = own->run(count);
    const std::lock_guard lock(threads.mutex_);
    threads.free_.push_back(std::move(own));
    return total;
  }
  std::unique_ptr<Easy> take() {
    const std::lock_guard lock(mutex_);
    auto own = std::move(free_.back());
    free_.pop_back();
    return own;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Easy>> free_;
  turns::Team team_;
};

// Sends the request that billcore sends for a charge.
class Charge : public Row {
 public:
  explicit Charge(const Server& server) : handle_(server) {
    for (const auto& header : {"X-API-KEY: " + std::string(turns::api_key), std::string("Accept: application/json"),
                               std::string("Content-Type: application/json"), std::string("Expect:")}) {
      headers_ = curl_slist_append(headers_, header.c_str());
    }
    handle_.set_url(url_of(server) + "/order");
    curl_easy_setopt(handle_.easy(), CURLOPT_HTTPHEADER, headers_);
  }
  ~Charge() override { curl_slist_free_all(headers_); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

  std::size_t run(std::size_t count) override {
    std::size_t total = 0;
    while (count-- > 0) total += charge();
    return total;
  }
  std::string show() override { return std::to_string(charge()); }

 private:
  std::size_t charge() {
    yyjson_mut_doc* document = yyjson_mut_doc_new(nullptr);
    yyjson_mut_val* root = yyjson_mut_obj(document);
    yyjson_mut_doc_set_root(document, root);
    yyjson_mut_obj_add_sint(document, root, "product_id", product_id);
    yyjson_mut_obj_add_sint(document, root, "amount", amount);
    std::size_t length = 0;
    const std::unique_ptr<char, void (*)(void*)> text(yyjson_mut_write(document, 0, &length), std::free);
    yyjson_mut_doc_free(document);
    curl_easy_setopt(handle_.easy(), CURLOPT_POSTFIELDSIZE, static_cast<long>(length));
    curl_easy_setopt(handle_.easy(), CURLOPT_POSTFIELDS, text.get());
    handle_.perform();
    const auto answer = by_hand::parse(handle_.body());
    yyjson_val* data = yyjson_obj_get(yyjson_doc_get_root(answer.get()), "data");
    return by_hand::number(data, "total") + by_hand::text(data, "id").size() + by_hand::text(data, "state").size();
  }

  Handle handle_;
  curl_slist* headers_ = nullptr;
};

}  // namespace

std::unique_ptr<Row> make_raw(std::string_view name, const Server& server, int at_once) {
  if (name == "raw_charge") return std::make_unique<Charge>(server);
  const Reader reader = name != "raw" ? Reader{read_fields, show_fields} : Reader{read_body, show_body};
  if (at_once == 1) return std::make_unique<Easy>(server, reader);
  if (name == "raw_threads") return std::make_unique<Threads>(server, at_once, reader);
  return std::make_unique<Multi>(server, at_once, reader);
}

}  // namespace rest

// The contender of the area pages. It reads page 1, which contains the number of pages, then the other pages.
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
