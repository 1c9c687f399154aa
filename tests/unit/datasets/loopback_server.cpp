#include "loopback_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace hearsay::test {
namespace {

Answer answer_promising(const std::string& body, std::size_t sent) {
  return {.bytes = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", body.size(),
                               body.substr(0, sent))};
}

void check(bool fine, const char* what) {
  if (!fine) throw std::runtime_error(what);
}

// The path of a GET request; reads to the blank line that ends its headers.
std::string requested_path(int connection) {
  std::string request;
  char buffer[4096];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0) return {};
    request.append(buffer, static_cast<std::size_t>(count));
  }
  const std::size_t begin = request.find(' ') + 1;
  return request.substr(begin, request.find(' ', begin) - begin);
}

void send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;  // the peer has gone, as some tests want
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

Answer answer_ok(const std::string& body) { return answer_promising(body, body.size()); }

Answer answer_status(int status) {
  return {.bytes = fmt::format("HTTP/1.1 {} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)};
}

Answer answer_redirect(const std::string& location) {
  return {.bytes = fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                               location)};
}

Answer answer_cut_short(const std::string& body) { return answer_promising(body, body.size() / 2); }

Answer answer_stalled(const std::string& body) {
  Answer answer = answer_promising(body, body.size() / 2);
  answer.wait_for_the_peer = true;
  return answer;
}

LoopbackServer::LoopbackServer(std::map<std::string, Answer> answers)
    : answers_(std::move(answers)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  ::setenv("no_proxy", "127.0.0.1", 1);  // libcurl would send even this through a proxy of the environment
  check(listener_ >= 0, "no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  check(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "no port on 127.0.0.1");
  check(::listen(listener_, 16) == 0, "cannot listen on 127.0.0.1");
  check(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "which port?");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listener_, SHUT_RDWR);  // wakes accept()
  thread_.join();
  ::close(listener_);
}

std::string LoopbackServer::url(const std::string& path) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, path);
}

void LoopbackServer::serve() {
  for (;;) {
    const int connection = ::accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    answer(connection);
    ::close(connection);
  }
}

void LoopbackServer::answer(int connection) {
  const std::string path = requested_path(connection);
  if (path.empty()) return;
  ++requests_;
  const auto found = answers_.find(path);
  const Answer reply = found != answers_.end() ? found->second : answer_status(404);
  send_all(connection, reply.bytes);
  char ignored;
  while (reply.wait_for_the_peer && ::recv(connection, &ignored, 1, 0) > 0) continue;
}

}  // namespace hearsay::test
