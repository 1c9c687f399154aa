// The one family of exceptions. A message names the thing, its value and the rule: "rank = 0: must lie in [1, 784]".
#pragma once

#include <stdexcept>
#include <string>

#include "hearsay/export.hpp"

namespace hearsay {

class HEARSAY_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller broke a contract: an option, a shape, a value out of range.
class HEARSAY_API InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The data themselves are at fault: unreadable, malformed, not finite, not symmetric, not positive semidefinite.
class HEARSAY_API DataError : public Error {
 public:
  using Error::Error;
};

/// Another party could not be reached, or did not answer as agreed.
class HEARSAY_API CommunicationError : public Error {
 public:
  using Error::Error;
};

/// Throws InvalidArgument unless the rule holds. Write the rule so that NaN fails it.
inline void require(bool rule_holds, const std::string& message) {
  if (!rule_holds) throw InvalidArgument(message);
}

}  // namespace hearsay
