// The states that an agent keeps to go on from. The seal is put right, and so are the two digests that say of which run
// and data they are, as someone who forges a file would; the first byte chooses the run. The run is then taken up as it
// is from a file: what is let through must lead to an answer, finite and orthonormal, in the iterations that there are.
#include <hearsay/agent.hpp>
#include <hearsay/io/file.hpp>
#include <hearsay/io/sealed_file.hpp>
#include <hearsay/threads.hpp>

#include <array>
#include <string>

#include "fuzz.hpp"

namespace {

using namespace hearsay;

constexpr std::string_view kind = "hearsay agent states 1";
constexpr std::size_t digests = 16;  // of configuration and data
constexpr Index iterations = 40;

// Of an agent that has no neighbours.
class NoLinks : public Links {
 public:
  Index self() const override { return 0; }
  std::span<const Index> neighbours() const override { return {}; }
  bool send(Index, std::vector<std::byte>, double) override { return false; }
  LinkEvent poll(double deadline) override {
    now_ = deadline;
    return {};
  }
  double now() const override { return now_; }

 private:
  double now_ = 0;
};

Block<double> table() {
  Block<double> rows(20, 12);
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index j = 0; j < rows.cols(); ++j)
      rows(i, j) = static_cast<double>((7 * i * i + 3 * j * i + j) % 11) / static_cast<double>(j + 2);
  return rows;
}

std::vector<std::string> columns() {
  std::vector<std::string> names;
  for (char name = 'a'; name < 'a' + 12; ++name) names.emplace_back(1, name);
  return names;
}

FederationSettings federation_of(unsigned choice) {
  FederationSettings federation{.names = {"alone"}, .W = GossipMatrix::ring(1), .keep_every = 2};
  federation.settings.power.rank = 2;
  federation.settings.power.max_iterations = iterations;
  federation.network.solver.algorithm = choice % 3 == 1 ? Algorithm::adepm : Algorithm::adeepca;
  if (choice % 3 == 2) federation.network.precision = MessagePrecision::bfloat16;
  federation.network.solver.tolerance = 1e-12;
  return federation;
}

AgentOutcome taken_up(unsigned choice, const AgentHooks& hooks) {
  NoLinks links;
  return run_agent(links, {.rows = table(), .columns = columns()}, federation_of(choice), hooks);
}

// What the states of this run begin with.
std::string head_of(unsigned choice) {
  static std::array<std::string, 3> heads;
  std::string& head = heads[choice % 3];
  if (head.empty())
    static_cast<void>(
        taken_up(choice, {.nonce = 1, .keep = [&](const std::string& states) { head = states.substr(0, digests); }}));
  return head;
}

void go_on_from(unsigned choice, std::string_view body) {
  const std::string sealed = std::string(body) + io::sha256_hex(body);
  std::string states = io::parse_sealed(sealed, "fuzz", kind);
  if (states.size() >= digests) states.replace(0, digests, head_of(choice));
  const AgentOutcome outcome = taken_up(choice, {.nonce = 1, .states = states});
  const Block<double>& V = outcome.basis();
  fuzz::check(V.rows() == 12 && V.cols() == 2 && V.allFinite());
  // Of numbers that are not finite it goes back to the block of the file, and says so.
  const bool stood = outcome.result.status != Status::breakdown;
  fuzz::check(!stood || (V.transpose() * V - Block<double>::Identity(2, 2)).norm() < 1e-6);
  fuzz::check(outcome.result.iterations >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_threads(1);
  return fuzz::run(data, size, [](std::string_view bytes) {
    if (!bytes.empty()) go_on_from(static_cast<unsigned char>(bytes[0]), bytes.substr(1));
  });
}
