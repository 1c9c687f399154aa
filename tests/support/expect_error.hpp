// Asserts the type of an error and the parts of its message that matter.
#pragma once

#include <gtest/gtest.h>

#include <hearsay/error.hpp>
#include <initializer_list>
#include <string>
#include <typeinfo>

namespace hearsay::test {

template <class Expected, class Call>
void expect_error(Call&& call, std::initializer_list<std::string> parts) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(typeid(error).name(), typeid(Expected).name()) << error.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "the message: " << error.what() << "\nlacks: " << part;
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

}  // namespace hearsay::test
