#include "reports/certificate.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "commands/help.hpp"
#include "reports/error_bar.hpp"

namespace hearsay::app {

namespace {

Json cluster_json(const std::optional<Cluster>& cluster) {
  if (!cluster) return nullptr;
  return {{"first", cluster->first},
          {"last", cluster->last},
          {"open", cluster->open},
          {"low", cluster->low},
          {"spread", number(cluster->spread)},
          {"sin_theta", number(cluster->sin_theta)},
          {"word", name(cluster->kind)}};
}

// What is estimated; where no certificate was made, the solver's own estimate stands alone.
double estimate_of(const PowerFacts& power) {
  const Certificate& certificate = power.certificate;
  if (certificate.level == Certify::none) return power.sin_theta_estimate;
  return certificate.sin_theta == Knowledge::unknown ? std::nan("") : certificate.sin_theta_estimate;
}

std::string space_text(const Cluster& cluster) {
  switch (std::isnan(cluster.sin_theta) ? Knowledge::unknown : cluster.kind) {
    case Knowledge::bound:
      return fmt::format("the space of the first {} is certain to {:.2g} (bound)", cluster.last, cluster.sin_theta);
    case Knowledge::estimate:
      return fmt::format("the space of the first {} is right to about {:.2g} (estimate)", cluster.last,
                         cluster.sin_theta);
    case Knowledge::unknown:
      break;
  }
  return fmt::format("how right the space of the first {} is, is unknown", cluster.last);
}

// Why nobody can say.
std::string_view not_looked(const Certificate& certificate) {
  switch (certificate.level) {
    case Certify::none:
      return "no certificate was made";
    case Certify::residual:
      return "--certify residual does not look";
    case Certify::full:
      break;
  }
  return certificate.random_columns == 0 ? "no random column was there to show it" : "the columns seen do not tell";
}

std::string end_text(Index count, Index rank, const char* where, double value) {
  return count == rank ? fmt::format("no eigenvalue {} {:.4g} lies outside", where, value)
                       : fmt::format("at most {} eigenvalues lie {} {:.4g}", count, where, value);
}

std::string missed_text(const Certificate& certificate, Index rank) {
  const Knowledge word = certificate.nothing_missed;
  if (word == Knowledge::unknown)
    return fmt::format("whether an eigenvalue was missed is unknown: {}", not_looked(certificate));
  const double above = certificate.nothing_missed_above, below = certificate.nothing_missed_below;
  const Index count = certificate.nothing_missed_count, count_below = certificate.nothing_missed_count_below;
  std::string text = !std::isfinite(below) ? end_text(count, rank, "above", above)
                     : !std::isfinite(above)
                         ? end_text(count_below, rank, "below", below)
                         : fmt::format("at most {} eigenvalues lie above {:.4g} and {} below {:.4g}", count, above,
                                       count_below, below);
  if (word == Knowledge::estimate) return text + " (estimate)";
  if (certificate.nothing_missed_probability > 0)
    text += fmt::format(", except with probability {:.2g}", certificate.nothing_missed_probability);
  return text + " (bound)";
}

std::string given_text(const std::vector<std::string>& assumptions) {
  std::string text = wrapped(fmt::format("{}", fmt::join(assumptions, "; ")), 100);
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, 15, ' ');
  return text;
}

}  // namespace

Json certificate_json(const Certificate& certificate) {
  return {{"level", name(certificate.level)},
          {"residual", number(certificate.residual)},
          {"rounding", number(certificate.rounding)},
          {"sin_theta",
           {{"word", name(certificate.sin_theta)},
            {"bound", number(certificate.sin_theta_bound)},
            {"estimate", number(certificate.sin_theta_estimate)}}},
          {"nothing_missed",
           {{"word", name(certificate.nothing_missed)},
            {"above", number(certificate.nothing_missed_above)},
            {"count", certificate.nothing_missed_count},
            {"below", number(certificate.nothing_missed_below)},
            {"count_below", certificate.nothing_missed_count_below},
            {"probability", number(certificate.nothing_missed_probability)},
            {"random_columns", certificate.random_columns},
            {"probe_passes", certificate.probe_passes},
            {"probe_products", certificate.probe_products}}},
          {"cluster", cluster_json(certificate.cluster)},
          {"assumptions", certificate.assumptions}};
}

std::string sine_text(const PowerFacts& power) {
  if (was_averaged(power)) return error_bar_text(power.bar);
  const Certificate& certificate = power.certificate;
  const double estimate = estimate_of(power);
  const std::string about = std::isfinite(estimate) ? fmt::format("about {:.2g} (estimate)", estimate) : "";
  if (certificate.sin_theta != Knowledge::bound) return about.empty() ? "unknown" : about;
  return fmt::format("at most {:.2g} (bound){}{}", certificate.sin_theta_bound, about.empty() ? "" : ", ", about);
}

std::string cluster_text(const Cluster& cluster) {
  const std::string which = fmt::format("eigenvalues {} to {}{}{}", cluster.first, cluster.last,
                                        cluster.open ? " or more" : "", cluster.low ? " from the low end" : "");
  return std::isfinite(cluster.spread) ? fmt::format("{} agree to {:.2g}", which, cluster.spread)
                                       : fmt::format("{} were not told apart", which);
}

std::string certificate_text(const PowerFacts& power, Index rank) {
  const Certificate& certificate = power.certificate;
  std::string text = line("", "sin(theta) is {}", sine_text(power));
  text += averages_text(power, rank);
  text += line("", "{}", missed_text(certificate, rank));
  if (certificate.cluster)
    text += line("", "{}; {}", cluster_text(*certificate.cluster), space_text(*certificate.cluster));
  const bool proved = certificate.sin_theta == Knowledge::bound || certificate.nothing_missed == Knowledge::bound;
  if (proved && !certificate.assumptions.empty()) text += line("given", "{}", given_text(certificate.assumptions));
  return text;
}

}  // namespace hearsay::app
