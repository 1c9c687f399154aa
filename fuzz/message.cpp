// Messages between ranks, from a peer that is not what it should be. The first byte says what they are taken for.
#include <hearsay/rank_network.hpp>

#include <deque>
#include <vector>

#include "decentralized/result_message.hpp"
#include "fuzz.hpp"
#include "network/failure.hpp"
#include "support/scripted_transport.hpp"

// Not asked for, since it is given; linked all the same.
hearsay::GossipSpectrum hearsay::gossip_spectrum(const GossipMatrix&) { return {}; }

namespace {

using namespace hearsay;

// Each message with two bytes of length before it; the last one ends where the bytes do.
std::deque<std::vector<std::byte>> messages(std::string_view bytes) {
  std::deque<std::vector<std::byte>> script;
  while (bytes.size() >= 2) {
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) +
                        256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[1]));
    const std::string_view message = bytes.substr(2, length);
    const auto* data = reinterpret_cast<const std::byte*>(message.data());
    script.emplace_back(data, data + message.size());
    bytes.remove_prefix(2 + message.size());
  }
  return script;
}

// Two agents, one of them the peer's, and two rounds of gossip.
void gossip(std::string_view bytes, MessagePrecision precision) {
  test::ScriptedTransport ranks(messages(bytes));
  RankNetwork net(ranks, GossipMatrix::ring(2), {.precision = precision, .spectrum = GossipSpectrum{}});
  net.run([&] {
    Block<double> Z = Block<double>::Constant(1, 3, 1.5), out(1, 3), votes = Block<double>::Zero(1, 2);
    for (int round = 0; round < 2; ++round) {
      net.mix({}, Z, Z, out, votes);
      fuzz::check(out.allFinite() && !votes.hasNaN());
      Z = out;
    }
  });
}

void read_result(std::string_view bytes) {
  detail::ByteReader reader(bytes);
  const auto agents = detail::get_agents(reader);
  DecentralizedResult result;
  detail::get_summary(reader, result);
  detail::require_whole(agents, 2, 1);
  detail::require_contributors(result.contributors, 2);
  for (const auto& agent : agents) fuzz::check(agent.basis.allFinite());
  fuzz::check(result.status <= Status::communication_failed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    const unsigned kind = static_cast<unsigned char>(bytes[0]) % 6;
    bytes.remove_prefix(1);
    if (kind == 0) static_cast<void>(detail::failure_from(bytes));
    if (kind == 1) static_cast<void>(detail::difference(detail::facts_from(bytes), {{"rank", "5"}}, 1));
    if (kind == 2) read_result(bytes);
    if (kind == 3) gossip(bytes, MessagePrecision::real64);
    if (kind == 4) gossip(bytes, MessagePrecision::real32);
    if (kind == 5) gossip(bytes, MessagePrecision::bfloat16);
  });
}
