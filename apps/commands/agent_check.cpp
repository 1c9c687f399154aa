// hearsay agent check: everything that would stop a run, said at once and before it.
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <set>

#include "commands/agent.hpp"
#include "commands/agent_private.hpp"
#include "commands/terminal.hpp"
#include "formats/escapes.hpp"
#include "hearsay/error.hpp"
#include "hearsay/version.hpp"

namespace hearsay::app {

namespace {

constexpr double largest_clock_difference = 60;  // seconds: beyond it, dates of certificates are judged differently

class Findings {
 public:
  void good(const std::string& text) { say(fmt::format("ok       {}\n", terminal_safe(text))); }
  void bad(const std::string& text, ExitCode code) {
    say(fmt::format("PROBLEM  {}\n", terminal_safe(text)));
    if (code_ != bad_input) code_ = code;
  }
  // What throws is a problem of this agent's own.
  bool attempt(const std::function<void()>& look) {
    try {
      look();
      return true;
    } catch (const Error& error) {
      bad(error.what(), bad_input);
      return false;
    }
  }
  ExitCode code() const { return code_; }

 private:
  ExitCode code_ = done;
};

void look_at_data(const AgentRequest& request, const FederationFile& file, Findings& findings) {
  if (request.data.empty()) return;
  findings.attempt([&] {
    Job job = federation_job(file, request.data);
    job.label_column = request.label_column;
    give_private_options(request, file, job);
    if (file.dp && request.insecure_seed.empty()) return findings.good(what_will_be_spent(file, job));
    if (file.dp) return findings.good("privacy: NON-PRIVATE: the noise would be of a seed, and nothing is spent");
    AgentTable table = read_agent_table(job, request.data);
    match_features(table, file);
    const Index rank = job.solve.power.rank;
    if (rank > table.rows.cols())
      throw DataError(fmt::format("{}: has {} features, and k = {}", table.source, table.rows.cols(), rank));
    findings.good(fmt::format("data: {} rows of {} features{}", table.rows.rows(), table.rows.cols(),
                              table.columns.empty() ? ", without names" : ""));
  });
}

void tell_of_neighbour(const FederationFile& file, const FederationLinks& links, Index peer, bool seen,
                       Findings& findings) {
  const std::string who = agent_text(file, peer);
  if (!seen) return findings.bad(fmt::format("{}: not seen: {}", who, links.trouble(peer)), communication_failed);
  const PeerFacts facts = links.facts(peer);
  findings.good(fmt::format("{}: is there, and is who it should be; same federation file", who));
  if (facts.version != version)
    findings.bad(fmt::format("{}: has hearsay {}, and this is {}", who, facts.version, version), bad_input);
  if (std::abs(facts.clock_ahead) > largest_clock_difference)
    findings.bad(fmt::format("{}: its clock is {:.0f} s {} this one", who, std::abs(facts.clock_ahead),
                             facts.clock_ahead > 0 ? "ahead of" : "behind"),
                 bad_input);
}

void look_for_neighbours(const AgentRequest& request, const FederationFile& file, GrpcOptions options, OpenLinks open,
                         Findings& findings) {
  std::unique_ptr<FederationLinks> links;
  try {
    links = open_links(open, std::move(options));
  } catch (const CommunicationError& error) {
    return findings.bad(error.what(), communication_failed);
  }
  Links& wires = links->links();
  std::set<Index> missing(wires.neighbours().begin(), wires.neighbours().end());
  const InterruptGuard interrupt;
  const double deadline = wires.now() + request.wait_seconds;
  while (!missing.empty() && wires.now() < deadline && !interrupt.interrupted()) {
    const LinkEvent event = wires.poll(std::min(deadline, wires.now() + 0.2));
    if (event.kind == LinkEvent::Kind::opened) missing.erase(event.peer);
  }
  for (const Index peer : wires.neighbours()) tell_of_neighbour(file, *links, peer, !missing.contains(peer), findings);
  links->close(wires.now() + 5);  // who has asked is to have its answer
  for (const std::string& refusal : links->refusals()) say(fmt::format("note     {}\n", terminal_safe(refusal)));
}

}  // namespace

int check_agent(const AgentRequest& request, OpenLinks open) {
  require(
      open != nullptr || request.wait_seconds == 0,
      "agent check: this build has no gRPC, over which agents talk; on Debian install libgrpc++-dev and build anew, or "
      "leave the neighbours out (--wait 0)");
  Findings findings;
  FederationFile file;
  Index self = 0;
  if (!findings.attempt([&] {
        file = read_federation(request.federation);
        self = find_agent(file, request.agent);
      }))
    return findings.code();
  findings.good(fmt::format("federation: {}, digest {}", file.name, federation_digest(file)));
  std::optional<GossipMatrix> W;
  findings.attempt([&] {
    W = federation_matrix(file);
    findings.good(
        fmt::format("network: {} agents, {} neighbours of this one", W->agents(), neighbours_of(*W, self).size()));
  });
  const FederationAgent& agent = file.agents[static_cast<std::size_t>(self)];
  const TlsFiles tls = identity_files(request.identity, agent.name);
  std::vector<std::string> good;
  const auto problems = identity_problems(tls, agent, std::time(nullptr), good);
  for (const std::string& text : good) findings.good(text);
  for (const std::string& text : problems) findings.bad(text, bad_input);
  look_at_data(request, file, findings);
  if (W && problems.empty() && request.wait_seconds > 0)
    findings.attempt([&] {
      GrpcOptions options = link_options(file, *W, self, tls, request.listen);
      options.checking = true;
      look_for_neighbours(request, file, std::move(options), open, findings);
    });
  else if (request.wait_seconds > 0)
    say("         the neighbours are looked for when that is mended\n");
  return findings.code();
}

}  // namespace hearsay::app
