#include "server.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "../core/support/compress.hpp"

namespace torture {
namespace {

std::size_t number_behind(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == std::string_view::npos) return 0;
  return std::strtoul(std::string(text.substr(at + name.size(), 20)).c_str(), nullptr, 10);
}

std::string order(const std::string& id) {
  return R"({"id":")" + id +
         R"(","created_at":"2026-01-02T03:04:05Z","total":100,"total_with_vat":125,"currency":"DKK",)" +
         R"("reference_id":null,"state":"paid","custom_fields":[],"metadata":{"a text that is not short":"as well"}})";
}

std::string page_of_orders(std::size_t page) {
  std::string items;
  for (int i = 0; i < orders_per_page; ++i) {
    if (i > 0) items += ',';
    items += order(listed_order(static_cast<int>(page - 1) * orders_per_page + i));
  }
  const auto number = [](auto value) { return std::to_string(value); };
  return R"({"data":[)" + items + R"(],"pagination":{"total":)" + number(pages * orders_per_page) + R"(,"count":)" +
         number(orders_per_page) + R"(,"per_page":)" + number(orders_per_page) + R"(,"current_page":)" + number(page) +
         R"(,"total_pages":)" + number(pages) + R"(,"links":{"next":null,"previous":null}}})";
}

std::string answer(std::string_view head, std::string_view body, Ledger& ledger) {
  ++ledger.requests;
  std::string json;
  if (head.starts_with("POST ")) {
    const auto amount = number_behind(body, "\"amount\":");
    ++ledger.charges_whole.at(amount);
    json = R"({"data":)" + order("charged") + "}";
  } else if (const auto page = number_behind(head.substr(0, head.find('\r')), "page="); page > 0) {
    json = page_of_orders(page);
  } else {
    json = R"({"data":)" + order("an-order-with-a-long-name-beyond-short-strings") + "}";
  }
  std::string coding;
  if (head.find(std::string(compressed_account) + '/') != std::string_view::npos) {
    json = billcore::test::compressed(json);
    coding = "Content-Encoding: gzip\r\n";
  }
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: a-request-id-beyond-short-strings\r\n" +
         coding + "Content-Length: " + std::to_string(json.size()) + "\r\n\r\n" + json;
}

void serve(int peer, Ledger& ledger) {
  std::string received;
  std::array<char, 4096> room;
  while (true) {
    const auto end = received.find("\r\n\r\n");
    if (end != std::string::npos) {
      const auto head = received.substr(0, end);
      const auto length = number_behind(head, "Content-Length: ");
      if (received.size() >= end + 4 + length) {
        const auto reply = answer(head, std::string_view(received).substr(end + 4, length), ledger);
        received.erase(0, end + 4 + length);
        if (send(peer, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) break;
        continue;
      }
    }
    const auto count = read(peer, room.data(), room.size());
    if (count <= 0) break;
    received.append(room.data(), static_cast<std::size_t>(count));
  }
  close(peer);
  --ledger.open;
}

}  // namespace

std::string listed_order(int number) {
  return std::string("order-number-").append(std::to_string(number)).append("-of-the-list");
}

Server::Server() {
  void* const memory = mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to share with the server");
  ledger_ = new (memory) Ledger{};
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("no process for the server");
  if (process_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (true) {
    const int peer = listener_.accept_one();
    if (peer < 0) continue;
    ++ledger_->open;
    std::thread([peer, ledger = ledger_] { serve(peer, *ledger); }).detach();
  }
}

Server::~Server() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  munmap(ledger_, sizeof(Ledger));
}

void Server::forget() noexcept {
  for (auto& count : ledger_->charges_whole) count = 0;
}

void Server::settle() const {
  // The server accepts connections in the order in which they were made. When the server has answered the connection
  // made here, it has counted all earlier connections in `open`.
  const int own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(listener_.port()));
  constexpr std::string_view request = "GET / HTTP/1.1\r\n\r\n";
  char first = 0;
  const bool answered = connect(own, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                        send(own, request.data(), request.size(), MSG_NOSIGNAL) > 0 && read(own, &first, 1) == 1;
  close(own);
  if (!answered) throw std::runtime_error("the server does not answer");
  while (ledger_->open > 0) usleep(100);
}

}  // namespace torture
