// What fails at a device.
#pragma once

#include "hearsay/error.hpp"

namespace hearsay {

/// A device: there is none, it has no room, or it failed.
class HEARSAY_API DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace hearsay
