// hearsay-agent: the same command line, and the one program that knows gRPC. hearsay hands over to it.
#include <memory>
#include <new>
#include <utility>

#include "commands/commands.hpp"
#include "commands/federated.hpp"
#include "commands/terminal.hpp"
#include "hearsay/grpc.hpp"

namespace {

using namespace hearsay;

class LinksOverGrpc final : public app::FederationLinks {
 public:
  explicit LinksOverGrpc(GrpcOptions options) : links_(std::move(options)) {}

  Links& links() override { return links_; }
  void close(double deadline) override { links_.close(deadline); }
  std::string trouble(Index peer) const override { return links_.trouble(peer); }
  std::vector<std::string> refusals() override { return links_.refusals(); }
  PeerFacts facts(Index peer) const override { return links_.facts(peer); }
  int port() const override { return links_.port(); }

 private:
  GrpcLinks links_;
};

std::unique_ptr<app::FederationLinks> open(GrpcOptions options) {
  return std::make_unique<LinksOverGrpc>(std::move(options));
}

std::string no_ranks(Index, std::string_view command) { return std::string(command); }

}  // namespace

int main(int argc, char** argv) try {
  app::keep_standard_streams();
  AloneTransport alone;
  return app::run_command_line(argc, argv, {alone, no_ranks, app::joined(argc, argv)}, open);
} catch (const std::bad_alloc&) {  // of what comes before the command line
  hearsay::app::warn("memory: there is not enough of it for this problem");
  return hearsay::app::failed;
}
