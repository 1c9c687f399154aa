// A web server on 127.0.0.1 that answers from a table, on whatever port is free.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>

namespace hearsay::test {

struct Answer {
  std::string bytes;               ///< status line, headers and body, as sent
  bool wait_for_the_peer = false;  ///< keep the connection until the other side closes it
};

Answer answer_ok(const std::string& body);
Answer answer_status(int status);
Answer answer_redirect(const std::string& location);
/// Promises the whole body, sends half and closes.
Answer answer_cut_short(const std::string& body);
/// Promises the whole body, sends half and falls silent.
Answer answer_stalled(const std::string& body);

class LoopbackServer {
 public:
  /// Paths that are not in the table get a 404.
  explicit LoopbackServer(std::map<std::string, Answer> answers);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url(const std::string& path) const;
  int requests() const { return requests_; }

 private:
  void serve();
  void answer(int connection);

  std::map<std::string, Answer> answers_;
  int listener_;
  int port_ = 0;
  std::atomic<int> requests_{0};
  std::thread thread_;
};

}  // namespace hearsay::test
