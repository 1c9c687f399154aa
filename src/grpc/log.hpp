// gRPC tells of a failed handshake in its log alone, which would go to standard error. There is one log in a process,
// so that every hub hears of every handshake there.
#pragma once

#include "grpc/stream.hpp"

namespace hearsay::over_grpc {

/// While one lives, its hub is told of handshakes that failed. gRPC's log stays silent from the first one on.
class LogListener {
 public:
  explicit LogListener(Hub& hub);
  ~LogListener();
  LogListener(const LogListener&) = delete;
  LogListener& operator=(const LogListener&) = delete;

 private:
  Hub& hub_;
};

}  // namespace hearsay::over_grpc
