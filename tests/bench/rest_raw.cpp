// libcurl by hand: the least that a GET can cost with it.
#include <curl/curl.h>
#include <yyjson.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "rest_rows.hpp"

namespace rest {
namespace {

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

std::size_t append(char* data, std::size_t size, std::size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

// One handle, all of its options set once.
class Handle {
 public:
  explicit Handle(const Server& server) : easy_(curl_easy_init()) {
    require(easy_ != nullptr, "curl_easy_init failed");
    for (const auto& header : {"X-API-KEY: " + std::string(api_key), std::string("Accept: application/json")}) {
      headers_ = curl_slist_append(headers_, header.c_str());
    }
    const auto url = server.base_url + std::string(subscription);
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_CAINFO, server.ca_file.c_str());
    curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy_, CURLOPT_USERAGENT, "libcurl/7.88.1 (by hand)");  // of billcore's length
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &body_);
    curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  }
  ~Handle() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] CURL* easy() const { return easy_; }
  [[nodiscard]] std::string& body() { return body_; }
  void perform() {
    body_.clear();
    require(curl_easy_perform(easy_) == CURLE_OK, "curl_easy_perform failed");
  }

 private:
  CURL* easy_;
  curl_slist* headers_ = nullptr;
  std::string body_;
};

std::size_t read_body(std::string& body) { return body.size(); }
std::string show_body(std::string& body) { return body; }

// Calls `use` with id, reference_id and status.
template <typename Use>
auto parsed(std::string& body, Use use) {
  const std::unique_ptr<yyjson_doc, void (*)(yyjson_doc*)> document(yyjson_read(body.data(), body.size(), 0),
                                                                    yyjson_doc_free);
  yyjson_val* data = yyjson_obj_get(yyjson_doc_get_root(document.get()), "data");
  const auto field = [data](const char* name) {
    yyjson_val* value = yyjson_obj_get(data, name);
    require(yyjson_is_str(value), "the answer is not a subscription");
    return std::string_view(yyjson_get_str(value), yyjson_get_len(value));
  };
  return use(field("id"), field("reference_id"), field("status"));
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
  Easy(const Server& server, Reader reader) : handle_(server), reader_(reader) {}
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
  Multi(const Server& server, int handles, Reader reader) : multi_(curl_multi_init()), reader_(reader) {
    require(multi_ != nullptr, "curl_multi_init failed");
    for (int i = 0; i < handles; ++i) handles_.push_back(std::make_unique<Handle>(server));
  }
  ~Multi() override {
    handles_.clear();
    curl_multi_cleanup(multi_);
  }
  std::size_t run(std::size_t count) override {
    std::size_t total = 0;
    drive(count, [&](std::string& body) { total += reader_.read(body); });
    return total;
  }
  std::string show() override {
    std::string shown;
    drive(handles_.size(), [&](std::string& body) {
      const auto one = reader_.show(body);
      require(shown.empty() || shown == one, "two answers differ");
      shown = one;
    });
    return shown;
  }
  void run_late(std::chrono::milliseconds /*timeout*/) override { require(false, "there is no such row"); }

 private:
  template <typename Use>
  void drive(std::size_t count, Use use) {
    std::size_t started = 0;
    std::size_t finished = 0;
    const auto start = [&](Handle& handle) {
      handle.body().clear();
      require(curl_multi_add_handle(multi_, handle.easy()) == CURLM_OK, "curl_multi_add_handle failed");
      ++started;
    };
    for (const auto& handle : handles_) {
      if (started < count) start(*handle);
    }
    while (finished < count) {
      int left = 0;
      require(curl_multi_perform(multi_, &left) == CURLM_OK, "curl_multi_perform failed");
      while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        require(message->data.result == CURLE_OK, "a transfer failed");
        Handle* handle = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &handle);
        curl_multi_remove_handle(multi_, handle->easy());
        use(handle->body());
        ++finished;
        if (started < count) start(*handle);
      }
      if (finished < count) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
  }

  CURLM* multi_;
  std::vector<std::unique_ptr<Handle>> handles_;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Row> make_raw(std::string_view name, const Server& server, int at_once) {
  const Reader reader = name == "raw_yyjson" ? Reader{read_fields, show_fields} : Reader{read_body, show_body};
  if (at_once == 1) return std::make_unique<Easy>(server, reader);
  return std::make_unique<Multi>(server, at_once, reader);
}

}  // namespace rest
