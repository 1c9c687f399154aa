#include "hearsay/solve_genotypes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/mixed.hpp"
#include "hearsay/subspace.hpp"
#include "solve/on_engines.hpp"
#include "solve/prepared.hpp"
#include "solver/samples_side.hpp"

namespace hearsay {

namespace {

// The request with all that follows from it.
struct GenotypeSolve {
  const GenotypeView& data;
  const GenotypeCounts& counts;
  const Request& request;
  PowerOptions options;
  bool by_samples;
};

// Noise, a start and a reference are about the features.
GenotypeSolve settled_solve(const GenotypeView& data, const GenotypeCounts& counts, const Request& request) {
  SolveSettings settings = request.settings;
  settle(settings);
  const bool noisy = request.noise || settings.noise.kind != NoiseChoice::Kind::none;
  const bool by_samples =
      data.samples < data.snps && settings.power.rank < data.samples && !noisy && !request.start && !request.reference;
  return {data, counts, request, settings.power, by_samples};
}

template <class S>
Solution<S> genotypes_in_one(const GenotypeSolve& asked) {
  const GenotypeCovariance<S> A(asked.data, asked.counts);
  detail::Prepared<S> prepared(asked.request, A.dim(), [&] { return find_spectrum<S>(A, asked.options); });
  return prepared.time([&]() -> PowerResult<S> {
    const PowerOptions& options = prepared.options();
    if (asked.by_samples) {
      const GenotypeCovariance<S> samples_side(asked.data, asked.counts, true);
      return detail::on_features_side<S>(principal_subspace<S>(samples_side, options, prepared.hooks()), A,
                                         samples_side, options, prepared.hooks());
    }
    if (prepared.noise().fill) return principal_subspace<S>(noisy(A, prepared.noise()), options, prepared.hooks());
    return principal_subspace<S>(A, options, prepared.hooks());
  });
}

Solution<double> genotypes_in_both(const GenotypeSolve& asked) {
  const GenotypeCovariance<double> A(asked.data, asked.counts);
  const GenotypeCovariance<float> rough(asked.data, asked.counts, asked.by_samples);
  if (!asked.by_samples) return solve_mixed(rough, A, asked.request);
  const GenotypeCovariance<double> samples_side(asked.data, asked.counts, true);
  Solution<double> solution = solve_mixed(rough, samples_side, asked.request);
  const auto begin = std::chrono::steady_clock::now();
  solution.power =
      detail::on_features_side<double>(std::move(solution.power), A, samples_side, asked.options, Hooks<double>{});
  solution.seconds += detail::seconds_since(begin);
  return solution;
}

Solution<double> genotypes_in_precision(const GenotypeSolve& asked) {
  detail::require_no_engines(asked.request, "genotypes");
  switch (asked.request.settings.precision) {
    case Precision::single: {
      Solution<float> solved = genotypes_in_one<float>(asked);
      return {.power = in_arithmetic<double>(std::move(solved.power)),
              .audit = std::move(solved.audit),
              .seconds = solved.seconds};
    }
    case Precision::mixed:
      return genotypes_in_both(asked);
    default:
      break;
  }
  return genotypes_in_one<double>(asked);
}

void add_genotype_notes(const GenotypeView& data, const GenotypeCounts& counts, std::vector<std::string>& notes) {
  const auto left_out = static_cast<Index>(counts.left_out.size());
  if (left_out > 0)
    notes.push_back(fmt::format(
        "genotypes: {} of {} SNPs are left out, because all their calls are of one allele{}", left_out, data.snps,
        counts.without_call > 0 ? fmt::format("; {} have no call at all", counts.without_call) : ""));
  if (counts.missing > 0)
    notes.push_back(fmt::format("genotypes: {} calls of {} samples are missing, and count as the mean of their SNP",
                                counts.missing, counts.samples_missing));
  if (counts.samples_empty > 0)
    notes.push_back(
        fmt::format("genotypes: {} samples have no call at all, and stand at the mean", counts.samples_empty));
}

void require_genotypes_fit(const GenotypeView& data, const GenotypeCounts& counts, const Request& request) {
  check(request);
  require(request.settings.rank_rule.kind == RankRule::Kind::count,
          fmt::format("rank: must be a whole number for genotypes ({})", data.name));
  if (static_cast<Index>(counts.left_out.size()) == data.snps)
    throw DataError(
        fmt::format("{}: none of its {} SNPs varies: all calls of each are of one allele", data.name, data.snps));
  const Index limit = std::min(data.samples, data.snps), rank = request.settings.power.rank;
  require(rank <= limit, fmt::format("rank = {}: must lie in [1, {}], for {} samples of {} SNPs", rank, limit,
                                     data.samples, data.snps));
}

}  // namespace

PcaSolution<double> solve_pca(const GenotypeView& data, const GenotypeCounts& counts, const Request& request) {
  require_genotypes_fit(data, counts, request);
  Solution<double> solved = genotypes_in_precision(settled_solve(data, counts, request));
  const GenotypeCovariance<double> A(data, counts);
  PcaSolution<double> solution{.audit = std::move(solved.audit), .seconds = solved.seconds};
  PcaResult<double>& result = solution.pca;
  result.power = std::move(solved.power);
  result.mean = A.mean();
  result.scale = A.scale();
  result.constant = counts.left_out;
  result.samples = data.samples;
  result.weight = static_cast<double>(data.samples);
  result.by_samples = data.samples < data.snps;
  result.singular_values = detail::singular_values<double>(result.power, A.divisor());
  result.total_variance = std::ldexp(A.total_variance(), -result.power.exponent);
  result.missing = {.policy = Missing::mean,
                    .entries = counts.missing,
                    .rows = counts.samples_missing,
                    .empty_rows = counts.samples_empty};
  for (const Index j : counts.left_out) result.power.basis.row(j).setZero();
  add_genotype_notes(data, counts, result.power.notes);
  return solution;
}

}  // namespace hearsay
