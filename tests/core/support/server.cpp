#include "server.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "json_text.hpp"

extern "C" char** environ;

namespace billcore::test {
namespace {

std::string read_line(int descriptor) {
  std::string line;
  char c = 0;
  while (read(descriptor, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

}  // namespace

Sandbox& Sandbox::fresh() {
  static Sandbox sandbox;
  sandbox.post("/reset");
  return sandbox;
}

Sandbox::Sandbox() {
  const char* python = std::getenv("BILLCORE_TEST_PYTHON");
  if (python == nullptr) throw std::runtime_error("BILLCORE_TEST_PYTHON is not set: the Python that has the sandbox");
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<std::string> words{python, "-m", "billcore_sandbox", "--port", "0"};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int failed = posix_spawnp(&pid_, python, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  output_ = ends[0];
  if (failed != 0) throw std::runtime_error("the sandbox did not start");
  const auto line = read_line(output_);
  if (line.empty()) throw std::runtime_error("the sandbox ended before it was ready");
  const auto ready = parse(line);
  base_url_ = ready.find("base_url").value().text();
  api_key_ = ready.find("api_key").value().text();
  ClientOptions control;
  control.base_url = ready.find("control_url").value().text();
  control.api_key = "control";
  control_ = std::make_unique<Client>(control);
}

Sandbox::~Sandbox() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  close(output_);
}

ClientOptions Sandbox::options() const {
  ClientOptions options;
  options.base_url = base_url_;
  options.api_key = api_key_;
  return options;
}

Value Sandbox::get(const std::string& route) const { return control_->request("GET", route).json(); }

Value Sandbox::post(const std::string& route, const std::string& json) const {
  RequestOptions request;
  request.json = json;
  return control_->request("POST", route, request).json();
}

int Sandbox::received(std::string_view method) const {
  const auto answer = get("/requests");
  const auto requests = answer.find("requests").value();
  int count = 0;
  for (const auto request : requests) {
    count += method.empty() || request.value().find("method").value().text() == method ? 1 : 0;
  }
  return count;
}

int Sandbox::effects(std::string_view kind) const {
  const auto answer = get("/ledger");
  const auto effects = answer.find("effects").value();
  int count = 0;
  for (const auto effect : effects) count += effect.value().find("kind").value().text() == kind ? 1 : 0;
  return count;
}

Subscription demo(const Client& client, const std::string& reference) {
  return client.subscriptions().list({reference, 1}).first().value();
}

ScriptedServer::ScriptedServer(std::function<std::string(const std::string&)> answer) : answer_(std::move(answer)) {
  thread_ = std::thread([this] { serve(); });
}

ScriptedServer::~ScriptedServer() {
  listener_.stop();
  thread_.join();
}

void ScriptedServer::serve() {
  for (int peer = listener_.accept_one(); peer >= 0; peer = listener_.accept_one()) {
    std::string head;
    char c = 0;
    while (!head.ends_with("\r\n\r\n") && read(peer, &c, 1) == 1) head += c;
    const auto reply = answer_(head);
    for (std::size_t at = 0; at < reply.size();) {
      const auto sent = send(peer, reply.data() + at, reply.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) break;
      at += static_cast<std::size_t>(sent);
    }
    shutdown(peer, SHUT_WR);
    while (read(peer, &c, 1) == 1) {
    }
    close(peer);
  }
}

std::string ScriptedServer::json(const std::string& body, int status) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

}  // namespace billcore::test
