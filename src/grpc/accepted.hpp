// The end of a call that was called.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "grpc/stream.hpp"

namespace hearsay::over_grpc {

/// Answers calls: a neighbour that is who it says it is gets a stream, everybody else a refusal with its reason.
class Exchange final : public grpc::CallbackGenericService {
 public:
  explicit Exchange(Hub& hub) : hub_(hub) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

 private:
  Hub& hub_;
};

}  // namespace hearsay::over_grpc
