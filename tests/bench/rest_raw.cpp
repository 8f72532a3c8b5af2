// The limit of the rest tables, which is the fastest possible program: a GET with only libcurl.
#include <memory>
#include <mutex>
#include <vector>

#include "by_hand.hpp"
#include "rest_rows.hpp"
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

}  // namespace

std::unique_ptr<Row> make_raw(std::string_view name, const Server& server, int at_once) {
  const Reader reader = name != "raw" ? Reader{read_fields, show_fields} : Reader{read_body, show_body};
  if (at_once == 1) return std::make_unique<Easy>(server, reader);
  if (name == "raw_threads") return std::make_unique<Threads>(server, at_once, reader);
  return std::make_unique<Multi>(server, at_once, reader);
}

}  // namespace rest
