// The same bodies over both kinds of links that live in this process.
#pragma once

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/simulated_links.hpp>
#include <hearsay/thread_links.hpp>

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace hearsay::test {

enum class Driver { threads, simulated };

inline std::vector<std::exception_ptr> run_on(Driver driver, const GossipMatrix& W,
                                              const std::function<void(Links&)>& body) {
  return driver == Driver::threads ? run_on_thread_links(W, body) : run_on_simulated_links(W, {}, body);
}

/// What an agent ended with: the message of its error, "died", or nothing.
inline std::string word_of(const std::exception_ptr& thrown) {
  if (!thrown) return "";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (const AgentDied&) {
    return "died";
  }
}

inline std::vector<std::string> words_of(const std::vector<std::exception_ptr>& thrown) {
  std::vector<std::string> words;
  for (const auto& one : thrown) words.push_back(word_of(one));
  return words;
}

inline void expect_no_error(const std::vector<std::exception_ptr>& thrown) {
  for (std::size_t agent = 0; agent < thrown.size(); ++agent)
    EXPECT_EQ(word_of(thrown[agent]), "") << "agent " << agent;
}

inline void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "the message: " << text << "\nlacks: " << part;
}

}  // namespace hearsay::test
