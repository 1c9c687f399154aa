// hearsay demo: the method at work on an example of its own, for someone who has just built it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cmath>

#include "commands/commands.hpp"
#include "drawings/figure.hpp"
#include "drawings/plot.hpp"
#include "files/outputs.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/random.hpp"
#include "hearsay/subspace.hpp"
#include "reports/error_bar.hpp"

namespace hearsay::app {

namespace {

constexpr Index demo_dimension = 400, rank = 5;
constexpr std::size_t iterations_drawn = 1401;  // enough to see the slowest at its floor
constexpr double gap = 0.01, noise_norm = 1e-4, wanted_sine = 1e-2;

struct Example {
  Block<double> A, U;  // U: the eigenvectors, leading ones first
};

Example make_example() {
  const Block<double> U = random_orthonormal<double>(demo_dimension, demo_dimension, {.seed = 1});
  Vector<double> eigenvalues = Vector<double>::Constant(demo_dimension, 0.5);
  eigenvalues.head(rank).setOnes();
  eigenvalues(rank) = 1 - gap;
  return {U * eigenvalues.asDiagonal() * U.transpose(), U};
}

struct Run {
  PowerResult<double> result;
  Index reached = -1;  // the first iteration with sin(theta) <= wanted_sine
};

Run solve(const Example& example, const PowerOptions& options) {
  const Block<double> reference = example.U.leftCols(rank);
  const DenseSymmetric<double> exact(example.A);
  const auto A = noisy(exact, adversarial_noise<double>(example.U, noise_norm, 1));
  Hooks<double> hooks;
  hooks.reference = &reference;
  Run run{principal_subspace<double>(A, options, hooks)};
  for (const HistoryEntry& entry : run.result.history)
    if (run.reached < 0 && entry.sin_theta <= wanted_sine) run.reached = entry.t;
  return run;
}

Curve curve(char mark, const std::string& name, const Run& run, std::size_t length) {
  Curve drawn{mark, name, {}};
  for (const HistoryEntry& entry : run.result.history)
    if (drawn.values.size() < length) drawn.values.push_back(std::max(entry.sin_theta, 1e-16));
  return drawn;
}

// The same curves, drawn.
std::string drawing(const std::vector<Curve>& curves) {
  std::vector<NamedCurve> drawn;
  for (const Curve& curve : curves) {
    NamedCurve& named = drawn.emplace_back(NamedCurve{.name = curve.name, .x = {}, .y = {}});
    for (std::size_t t = 1; t < curve.values.size(); ++t) {  // a logarithm has no place for 0
      named.x.push_back(static_cast<double>(t));
      named.y.push_back(curve.values[t]);
    }
  }
  const Chart chart = curves_chart("demo",
                                   {.name = "demo",
                                    .title = "Five leading eigenvectors, from noisy products",
                                    .x = {.label = "iteration", .logarithmic = true},
                                    .y = {.label = "sin(theta), the error", .logarithmic = true},
                                    .curves = {}},
                                   drawn);
  return charts_svg({chart}, "");
}

int run_demo(const std::filesystem::path& svg) {
  require(svg.empty() || svg.extension() == ".svg", fmt::format("svg = {}: must end in .svg", svg.string()));
  if (!svg.empty()) io::require_writable(svg);
  fmt::print(
      "A {0} x {0} matrix that nobody holds: all we can ask for is its product with a block of vectors, and every\n"
      "answer is off by an adversary's error of norm {1:g}. Wanted: its {2} leading eigenvectors. The next eigenvalue\n"
      "lies only {3:g}% below the {2}th.\n\n",
      demo_dimension, noise_norm, rank, 100 * gap);

  const Example example = make_example();
  const auto papers = [](const Momentum& momentum, Damping damping) -> PowerOptions {
    return {.rank = rank,
            .method = SolveMethod::anpm,
            .momentum = momentum,
            .damping = damping,
            .oversample = 1,
            .max_iterations = 3000};
  };
  const Run npm = solve(example, papers(Momentum::none(), Damping::symmetric));
  const Run anpm = solve(example, papers({}, Damping::symmetric));
  const Run centred = solve(example, papers({}, Damping::centred));
  const Run averaged = solve(example, {.rank = rank, .damping = Damping::centred});

  fmt::print("{:<46}{:>16}{:>14}  {}\n", "", "iterations to", "final", "status");
  fmt::print("{:<46}{:>16}{:>14}\n", "method", fmt::format("sin <= {:g}", wanted_sine), "sin(theta)");
  const auto row = [](const char* name, const Run& run) {
    fmt::print("{:<46}{:>16}{:>14.2g}  {}\n", name, run.reached, run.result.history.back().sin_theta,
               hearsay::name(run.result.status));
  };
  row("noisy power method", npm);
  row("accelerated (ANPM), adaptive momentum", anpm);
  row("accelerated, centred damping", centred);
  row("averages, from a wide block (the default)", averaged);

  const auto length = static_cast<std::size_t>(std::max<Index>(200, npm.reached / 2));
  const auto curves = [&](std::size_t most) {
    return std::vector<Curve>{curve('n', "noisy power method", npm, most), curve('a', "ANPM", anpm, most),
                              curve('c', "ANPM, centred damping", centred, most),
                              curve('w', "averages, from a wide block", averaged, most)};
  };
  fmt::print("\n{}\n", plot(curves(length), "sin(theta), the error of the subspace"));
  if (!svg.empty()) write_text(svg, drawing(curves(iterations_drawn)));
  fmt::print(
      "Momentum takes {:.0f} times fewer iterations, a wide block {:.0f} times, and both are as accurate at the end. "
      "No\n"
      "run claims to have converged: each stops at the noise floor and says so. The averages come with an error bar:\n"
      "  sin(theta) is {}\n"
      "What an adversary's errors have in common no average can show. Of independent errors the bar is right within a\n"
      "factor {:g}, with {:g}% confidence.\n\n"
      "Next, on data of your own:\n"
      "  hearsay pca your.csv -k 3            components, variances, and how far to trust them\n"
      "  hearsay pca --help                   every option\n"
      "  hearsay plan --help                  what the theory promises before you run anything\n",
      static_cast<double>(npm.reached) / static_cast<double>(centred.reached),
      static_cast<double>(npm.reached) / static_cast<double>(averaged.reached), error_bar_text(averaged.result.bar),
      bar_factor, bar_confidence);
  const bool as_promised = npm.reached > 0 && centred.reached > 0 && npm.reached > 5 * centred.reached &&
                           averaged.reached > 0 && centred.reached > 5 * averaged.reached;
  return as_promised ? done : failed;
}

}  // namespace

void add_demo(CLI::App& root, Action& action) {
  CLI::App* command = root.add_subcommand("demo", "Watch the method at work on a small example of its own");
  auto svg = std::make_shared<std::string>();
  command->add_option("--svg", *svg, "Draw the curves into this file too")->type_name("FILE.svg");
  command->callback([svg, &action] { action = [svg] { return run_demo(*svg); }; });
}

}  // namespace hearsay::app
