#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "grpc/accepted.hpp"
#include "grpc/credentials.hpp"
#include "grpc/log.hpp"
#include "grpc/stream.hpp"
#include "hearsay/error.hpp"
#include "hearsay/grpc.hpp"

namespace hearsay {

namespace {

using over_grpc::Edge;
using over_grpc::Hub;
using Clock = std::chrono::steady_clock;

// A wait that a clock can represent, whatever the deadline.
Clock::time_point point_of(double seconds) {
  constexpr double longest = 1e9;  // thirty years
  const double held = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, longest);
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(held)));
}

double seconds_of(Clock::time_point point) { return std::chrono::duration<double>(point.time_since_epoch()).count(); }

int milliseconds(double seconds) { return static_cast<int>(std::clamp(seconds * 1000, 1.0, 1e9)); }

// ---- What gRPC is told ----------------------------------------------------------------------------------------------

constexpr int no_limit = 0;
constexpr double handshake_seconds = 20;  // gRPC's own for who dials; a caller that says nothing is hung up on

grpc::ChannelArguments channel_arguments(const GrpcOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(options.keepalive_seconds));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(options.keepalive_seconds));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, no_limit);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, milliseconds(options.first_retry_seconds));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, milliseconds(options.slowest_retry_seconds));
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // an edge leads to its neighbour and nowhere else
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // connections are checked against one peer: never shared
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options.largest_frame));
  return arguments;
}

void require_sensible(const GrpcOptions& options) {
  constexpr std::size_t most = std::size_t{1} << 30;  // gRPC counts in int
  require(options.largest_frame > 0 && options.largest_frame <= most,
          fmt::format("largest_frame = {}: must lie in [1, {}]", options.largest_frame, most));
  require(options.buffered_frames > 0 && options.buffered_frames <= 1024,
          fmt::format("buffered_frames = {}: must lie in [1, 1024]", options.buffered_frames));
  for (const double seconds : {options.keepalive_seconds, options.first_retry_seconds, options.slowest_retry_seconds})
    require(seconds > 0 && seconds <= 1e6, fmt::format("seconds = {}: must be positive, and at most 1e6", seconds));
  std::set<Index> seen = {options.self};
  for (const GrpcPeer& peer : options.peers) {
    require(seen.insert(peer.agent).second,
            fmt::format("agent {}: must not be its own neighbour, or one twice", peer.agent));
    require((peer.identity.starts_with("DNS:") || peer.identity.starts_with("URI:")) && peer.identity.size() > 4,
            fmt::format("identity = {}: must be DNS:name or URI:text", peer.identity));
    require(!peer.address.empty() || !options.listen.empty(),
            fmt::format("agent {} ({}): nobody could dial, for neither end of this link has an address", peer.agent,
                        peer.name));
  }
}

}  // namespace

struct GrpcLinks::State {
  explicit State(GrpcOptions options) : hub(std::move(options)), exchange(hub), listener(hub) {}

  Hub hub;
  over_grpc::Exchange exchange;
  over_grpc::LogListener listener;
  over_grpc::Certificates certificates;
  std::unique_ptr<grpc::Server> server;
  std::vector<Index> neighbours;
  int port = 0;
  bool closed = false;

  void listen();
  void dial();
};

void GrpcLinks::State::listen() {
  const GrpcOptions& options = hub.options;
  if (options.listen.empty()) return;
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&exchange);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.largest_frame));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(options.keepalive_seconds));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(options.keepalive_seconds));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, no_limit);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             milliseconds(options.keepalive_seconds / 2));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, milliseconds(handshake_seconds));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);  // of a connection: one, and one that replaces it
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);         // two agents at one address would share the calls
  builder.AddListeningPort(options.listen, over_grpc::for_callers(certificates), &port);
  server = builder.BuildAndStart();
  if (!server || port == 0)
    throw CommunicationError(
        fmt::format("listen = {}: cannot be listened at; is another program there already?", options.listen));
}

// The end that has the other's address dials; where both have one, the lower number.
void GrpcLinks::State::dial() {
  const std::scoped_lock lock(hub.mutex);
  for (std::size_t i = 0; i < hub.edges.size(); ++i) {
    Edge& edge = hub.edges[i];
    const bool waits = edge.peer.address.empty() || (!hub.options.listen.empty() && edge.peer.agent < hub.options.self);
    if (waits) continue;
    edge.channel = grpc::CreateCustomChannel(edge.peer.address, over_grpc::towards(edge.peer, certificates),
                                             channel_arguments(hub.options));
    hub.dial(i);
  }
}

GrpcLinks::GrpcLinks(GrpcOptions options) {
  require_sensible(options);
  over_grpc::allow_tls_1_3_only();
  std::sort(options.peers.begin(), options.peers.end(), [](const auto& a, const auto& b) { return a.agent < b.agent; });
  state_ = std::make_unique<State>(std::move(options));
  for (const Edge& edge : state_->hub.edges) state_->neighbours.push_back(edge.peer.agent);
  state_->certificates = over_grpc::watched(state_->hub.options.tls, state_->hub.options.reload_seconds);
  state_->listen();
  state_->dial();
}

GrpcLinks::~GrpcLinks() { close(0); }

void GrpcLinks::close(double deadline) {
  Hub& hub = state_->hub;
  if (std::exchange(state_->closed, true)) return;
  std::unique_lock lock(hub.mutex);
  hub.closing = true;
  for (Edge& edge : hub.edges) {
    if (edge.redial) edge.redial->Cancel();
    if (edge.stream) edge.stream->up() ? edge.stream->leave() : edge.stream->drop("this agent is leaving");
  }
  const auto nothing_left = [&hub] { return hub.alive == 0; };
  hub.changed.wait_until(lock, point_of(deadline), nothing_left);
  for (Edge& edge : hub.edges)
    if (edge.stream) edge.stream->drop("this agent is leaving");
  lock.unlock();
  // Until the neighbours have hung up, or the deadline: a server that is shut down at once drops what has left us but
  // not yet the machine, and they would wait for it in vain.
  if (state_->server) {
    const auto left = std::max(Clock::duration::zero(), point_of(deadline) - Clock::now());
    state_->server->Shutdown(std::chrono::system_clock::now() +
                             std::chrono::duration_cast<std::chrono::system_clock::duration>(left));
  }
  lock.lock();
  hub.changed.wait(lock, nothing_left);
}

Index GrpcLinks::self() const { return state_->hub.options.self; }

std::span<const Index> GrpcLinks::neighbours() const { return state_->neighbours; }

double GrpcLinks::now() const { return seconds_of(Clock::now()); }

bool GrpcLinks::send(Index peer, std::vector<std::byte> frame, double deadline) {
  Hub& hub = state_->hub;
  require(frame.size() <= hub.options.largest_frame,
          fmt::format("frame = {} bytes: must be at most {}, the largest of this federation", frame.size(),
                      hub.options.largest_frame));
  std::unique_lock lock(hub.mutex);
  const Edge* edge = hub.edge_of(peer);
  require(edge != nullptr, fmt::format("agent {}: must be a neighbour of agent {}", peer, self()));
  const std::shared_ptr<over_grpc::Stream> stream = edge->stream;
  if (!stream) return false;
  const auto settled = [&] { return !stream->up() || hub.closing || stream->has_room(frame.size()); };
  if (!hub.changed.wait_until(lock, point_of(deadline), settled)) return false;
  if (!stream->up() || hub.closing) return false;
  stream->offer(std::move(frame));
  return true;
}

LinkEvent GrpcLinks::poll(double deadline) {
  Hub& hub = state_->hub;
  std::vector<std::shared_ptr<over_grpc::Stream>> finished;  // freed after the lock
  std::unique_lock lock(hub.mutex);
  finished.swap(hub.finished);
  if (!hub.changed.wait_until(lock, point_of(deadline), [&hub] { return !hub.arrivals.empty(); })) return {};
  over_grpc::Arrival arrival = std::move(hub.arrivals.front());
  hub.arrivals.pop_front();
  if (arrival.from) arrival.from->was_read(arrival.event.frame.size());
  return std::move(arrival.event);
}

std::string GrpcLinks::trouble(Index peer) const {
  const std::scoped_lock lock(state_->hub.mutex);
  const Edge* edge = state_->hub.edge_of(peer);
  return edge == nullptr ? std::string() : edge->trouble;
}

std::vector<std::string> GrpcLinks::refusals() { return state_->hub.told(); }

LinkTraffic GrpcLinks::traffic(Index peer) const {
  const std::scoped_lock lock(state_->hub.mutex);
  const Edge* edge = state_->hub.edge_of(peer);
  return edge == nullptr ? LinkTraffic{} : edge->traffic;
}

PeerFacts GrpcLinks::facts(Index peer) const {
  const std::scoped_lock lock(state_->hub.mutex);
  const Edge* edge = state_->hub.edge_of(peer);
  return edge == nullptr ? PeerFacts{} : edge->facts;
}

int GrpcLinks::port() const { return state_->port; }

}  // namespace hearsay
