// The commands of the program: each adds itself to the command line and, when chosen, leaves what is to be done.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "hearsay/power.hpp"
#include "hearsay/transport.hpp"

namespace CLI {
class App;
}

namespace hearsay {
struct GrpcOptions;
}

namespace hearsay::app {

enum ExitCode { done = 0, failed = 1, bad_input = 2, stopped_early = 3, communication_failed = 4, left_out = 5 };

/// Whatever stopped short of the tolerance, the noise floor included, is told from success by the exit code too.
inline int exit_code(Status status) { return status == Status::converged ? done : stopped_early; }

/// What the chosen command will do; run once the whole command line has been understood.
using Action = std::function<int()>;

/// The ranks the program was started on: one, unless MPI says otherwise.
struct Ranks {
  Transport& transport;
  std::string (*mpirun_line)(Index ranks, std::string_view command);  ///< what starts a command on so many
  std::string command_line;                                           ///< as it was given
};

/// Opens links to other organisations (commands/federated.hpp); none where the program was built without gRPC.
class FederationLinks;
using OpenLinks = std::unique_ptr<FederationLinks> (*)(GrpcOptions options);

void add_pca(CLI::App& root, Action& action, const Ranks& ranks);
void add_project(CLI::App& root, Action& action);
void add_eigs(CLI::App& root, Action& action);
void add_svd(CLI::App& root, Action& action);
void add_cluster(CLI::App& root, Action& action);
void add_decentralized(CLI::App& root, Action& action, const Ranks& ranks);
void add_federation(CLI::App& root, Action& action);
void add_agent(CLI::App& root, Action& action, OpenLinks open);
void add_plan(CLI::App& root, Action& action);
void add_experiment(CLI::App& root, Action& action);
void add_reproduce(CLI::App& root, Action& action);
void add_datasets(CLI::App& root, Action& action);
void add_demo(CLI::App& root, Action& action);
void add_ledger(CLI::App& root, Action& action);
void add_verify(CLI::App& root, Action& action);
void add_info(CLI::App& root, Action& action);
void add_completion(CLI::App& root, Action& action);
void add_reference(CLI::App& root, Action& action);

/// The command line as one would type it.
std::string joined(int argc, char** argv);

/// Parses the command line and does what it says; errors are told on standard error, by rank 0 where all know them. The
/// exit code. A LinkError is told and thrown on: the other ranks are to be ended.
int run_command_line(int argc, char** argv, const Ranks& ranks, OpenLinks open = nullptr);

}  // namespace hearsay::app
