// The end of a call that began it.
#include <fmt/format.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <string>
#include <string_view>

#include "grpc/stream.hpp"
#include "hearsay/version.hpp"

namespace hearsay::over_grpc {

namespace {

using Reactor = grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// gRPC puts its own words around the reason, and has none where the other end closes the connection on our certificate.
std::string readable(std::string reason) {
  constexpr std::string_view before[] = {
      "last error: ", "Custom verification check failed with error: UNAUTHENTICATED: ", "SSL routines::"};
  for (const std::string_view words : before)
    if (const std::size_t at = reason.find(words); at != reason.npos) reason.erase(0, at + words.size());
  for (const std::string_view code : {"UNKNOWN: ", "UNAVAILABLE: "})
    if (reason.starts_with(code)) reason.erase(0, code.size());
  if (reason.ends_with("Socket closed") || reason.ends_with("Connection reset by peer"))
    reason += ", as it is where the other end does not accept this agent's certificate";
  if (reason == "certificate verify failed")
    reason = "its certificate does not lead to the authority, or not now: " + reason;
  return reason;
}

class DialledStream final : public Stream, public Reactor {
 public:
  DialledStream(Hub& hub, std::size_t edge) : Stream(hub, edge, true) {}

  void call() {
    const Edge& edge = hub_.edges[edge_];
    context_.AddMetadata(from_key, std::to_string(hub_.options.self));
    context_.AddMetadata(to_key, std::to_string(edge.peer.agent));
    context_.AddMetadata(federation_key, hub_.options.federation);
    context_.AddMetadata(protocol_key, protocol_version);
    context_.AddMetadata(version_key, version);
    context_.AddMetadata(clock_key, clock_text());
    if (hub_.options.checking) context_.AddMetadata(purpose_key, check_purpose);
    keep_alive();
    hub_.alive += 1;
    grpc::GenericStub(edge.channel).PrepareBidiStreamingCall(&context_, method_name, {}, this);
    AddHold();  // frames are sent from outside the reactions
    StartCall();
  }

  // Without the keys it is a refusal, whose reason comes with the end.
  void OnReadInitialMetadataDone(bool ok) override {
    const std::scoped_lock lock(hub_.mutex);
    if (!ok) return finish();
    const auto& told = context_.GetServerInitialMetadata();
    const auto value = [&told](const char* key) {
      const auto found = told.find(key);
      return found == told.end() ? std::string() : std::string(found->second.data(), found->second.size());
    };
    if (value(from_key).empty()) {
      StartRead(&incoming_);
      return;
    }
    if (const std::string wrong = disagreement(value); !wrong.empty()) return drop(wrong);
    come_up(facts_from(value(version_key), value(clock_key)));
  }
  void OnReadDone(bool ok) override { read_done(ok); }
  void OnWriteDone(bool ok) override { write_done(ok); }
  void OnDone(const grpc::Status& status) override {
    const GrpcPeer& peer = hub_.edges[edge_].peer;
    ended(status.ok() ? fmt::format("agent {} ({}) left", peer.agent, peer.name) : readable(status.error_message()));
  }

 private:
  template <class Value>
  std::string disagreement(const Value& value) const {
    if (value(protocol_key) != protocol_version)
      return fmt::format("it speaks version {} of the transport, and this agent {}", value(protocol_key),
                         protocol_version);
    if (value(federation_key) != hub_.options.federation)
      return fmt::format("its federation file has the digest {}, and this agent's {}", value(federation_key),
                         hub_.options.federation);
    if (const std::string meant = std::to_string(hub_.edges[edge_].peer.agent); value(from_key) != meant)
      return fmt::format("it says it is agent {}, and must be agent {}", value(from_key), meant);
    return {};
  }

  void start_read() override { StartRead(&incoming_); }
  void start_write() override { StartWrite(&outbox_.front().first); }
  void end_cleanly() override { StartWritesDone(); }
  void end_now() override {
    if (!why_.empty()) context_.TryCancel();
    RemoveHold();
  }

  grpc::ClientContext context_;
};

}  // namespace

std::shared_ptr<Stream> dialled_stream(Hub& hub, std::size_t edge) {
  auto stream = std::make_shared<DialledStream>(hub, edge);
  stream->call();
  return stream;
}

}  // namespace hearsay::over_grpc
