#include "grpc/accepted.hpp"

#include <fmt/format.h>
#include <grpc/grpc_security_constants.h>

#include <charconv>
#include <utility>

#include "grpc/credentials.hpp"
#include "hearsay/version.hpp"

namespace hearsay::over_grpc {

namespace {

using Context = grpc::GenericCallbackServerContext;

class AcceptedStream final : public Stream, public grpc::ServerGenericBidiReactor {
 public:
  AcceptedStream(Hub& hub, std::size_t edge) : Stream(hub, edge, false) {}

  void answer(PeerFacts facts) {
    keep_alive();
    hub_.alive += 1;
    StartSendInitialMetadata();
    come_up(std::move(facts));
  }

  void OnReadDone(bool ok) override { read_done(ok); }
  void OnWriteDone(bool ok) override { write_done(ok); }
  void OnCancel() override {
    const std::scoped_lock lock(hub_.mutex);
    cancelled_ = true;
    finish();
  }
  void OnDone() override {
    const GrpcPeer& peer = hub_.edges[edge_].peer;
    ended(cancelled_ ? fmt::format("the connection of agent {} ({}) broke", peer.agent, peer.name)
                     : fmt::format("agent {} ({}) left", peer.agent, peer.name));
  }

 private:
  void start_read() override { StartRead(&incoming_); }
  void start_write() override { StartWrite(&outbox_.front().first); }
  void end_cleanly() override {
    over_ = true;
    Finish(grpc::Status::OK);
  }
  void end_now() override { Finish(why_.empty() ? grpc::Status::OK : grpc::Status(grpc::StatusCode::ABORTED, why_)); }

  bool cancelled_ = false;
};

void introduce(const Hub& hub, Context& context) {
  context.AddInitialMetadata(from_key, std::to_string(hub.options.self));
  context.AddInitialMetadata(federation_key, hub.options.federation);
  context.AddInitialMetadata(protocol_key, protocol_version);
  context.AddInitialMetadata(version_key, version);
  context.AddInitialMetadata(clock_key, clock_text());
}

// To one who only wants to know whether this agent is there.
class Presence final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Presence(Hub& hub) : hub_(hub) {
    hub_.alive += 1;  // its word is to get through before this agent leaves
    StartSendInitialMetadata();
    Finish(grpc::Status::OK);
  }
  void OnDone() override {
    {
      const std::scoped_lock lock(hub_.mutex);
      hub_.alive -= 1;
      hub_.changed.notify_all();
    }
    delete this;
  }

 private:
  Hub& hub_;
};

class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

std::string told(const Context& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end() ? std::string()
                                                  : std::string(found->second.data(), found->second.size());
}

std::vector<std::string> names(const grpc::AuthContext& caller, const char* property) {
  std::vector<std::string> texts;
  for (const grpc::string_ref& name : caller.FindPropertyValues(property)) texts.emplace_back(name.data(), name.size());
  return texts;
}

// Who calls, as its certificate says.
struct Caller {
  explicit Caller(const Context& context) {
    const auto identity = context.auth_context();
    if (!identity || !identity->IsPeerAuthenticated()) return;
    known = true;
    dns_names = names(*identity, GRPC_PEER_DNS_PROPERTY_NAME);
    uri_names = names(*identity, GRPC_PEER_URI_PROPERTY_NAME);
  }
  bool known = false;
  std::vector<std::string> dns_names = {}, uri_names = {};
};

struct Answer {
  Edge* edge = nullptr;
  grpc::Status refusal = {};
};

Answer refused(grpc::StatusCode code, std::string reason) { return {.refusal = {code, std::move(reason)}}; }

// First who it is, and only then anything about this agent.
Answer edge_for(Hub& hub, const Context& context, const Caller& caller) {
  using enum grpc::StatusCode;
  Index from = -1;
  const std::string claim = told(context, from_key);
  std::from_chars(claim.data(), claim.data() + claim.size(), from);
  Edge* edge = hub.edge_of(from);
  const std::string who = spelled(caller.dns_names, caller.uri_names);
  if (!caller.known) return refused(UNAUTHENTICATED, "no certificate");
  if (context.method() != method_name) return refused(UNIMPLEMENTED, fmt::format("no such call: {}", context.method()));
  if (edge == nullptr)
    return refused(PERMISSION_DENIED, fmt::format("{} calls as agent {}, which is no neighbour of agent {}", who, claim,
                                                  hub.options.self));
  if (!answers_to(edge->peer.identity, caller.dns_names, caller.uri_names))
    return refused(PERMISSION_DENIED, fmt::format("{} calls as agent {} ({}), which must be {}", who, claim,
                                                  edge->peer.name, edge->peer.identity));
  if (const std::string version = told(context, protocol_key); version != protocol_version)
    return refused(FAILED_PRECONDITION,
                   fmt::format("agent {} ({}) speaks version {} of the transport, and agent {} {}", claim,
                               edge->peer.name, version, hub.options.self, protocol_version));
  if (const std::string digest = told(context, federation_key); digest != hub.options.federation)
    return refused(FAILED_PRECONDITION,
                   fmt::format("the federation file of agent {} ({}) has the digest {}, and agent {}'s {}", claim,
                               edge->peer.name, digest, hub.options.self, hub.options.federation));
  if (const std::string to = told(context, to_key); to != std::to_string(hub.options.self))
    return refused(FAILED_PRECONDITION, fmt::format("agent {} ({}) calls agent {}, and this is agent {}", claim,
                                                    edge->peer.name, to, hub.options.self));
  // Should both ends have dialled, the call of the lower number stays. A newer call of the same end takes the place of
  // the older: that end has given it up.
  if (edge->stream && edge->stream->dialled() && edge->stream->up() && hub.options.self < edge->peer.agent)
    return refused(ALREADY_EXISTS, fmt::format("agent {} has called agent {} already", hub.options.self, claim));
  return {.edge = edge};
}

}  // namespace

grpc::ServerGenericBidiReactor* Exchange::CreateReactor(Context* context) {
  const Caller caller(*context);
  std::shared_ptr<Stream> replaced;
  const std::scoped_lock lock(hub_.mutex);
  Answer answer =
      hub_.closing ? refused(grpc::StatusCode::UNAVAILABLE, "this agent is leaving") : edge_for(hub_, *context, caller);
  if (answer.edge == nullptr) {
    if (!hub_.closing) hub_.hear(answer.refusal.error_message());
    return new Refusal(answer.refusal);
  }
  Edge& edge = *answer.edge;
  PeerFacts facts = facts_from(told(*context, version_key), told(*context, clock_key));
  const bool checks = told(*context, purpose_key) == check_purpose;
  if (checks || hub_.options.checking) {
    if (hub_.options.checking) {
      edge.facts = std::move(facts);
      edge.trouble.clear();
      hub_.arrivals.push_back({{.kind = LinkEvent::Kind::opened, .peer = edge.peer.agent}});
      hub_.changed.notify_all();
    }
    if (!checks) return new Refusal({grpc::StatusCode::UNAVAILABLE, "that agent is there, and only looks who else is"});
    introduce(hub_, *context);
    return new Presence(hub_);
  }
  if ((replaced = edge.stream)) {
    replaced->drop("a newer connection took its place");
    hub_.report_closed(*replaced, "a newer connection took its place");
  }
  auto stream = std::make_shared<AcceptedStream>(hub_, static_cast<std::size_t>(&edge - hub_.edges.data()));
  edge.stream = stream;
  introduce(hub_, *context);
  stream->answer(std::move(facts));
  return stream.get();
}

}  // namespace hearsay::over_grpc
