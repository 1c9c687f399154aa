#include <cmath>

#include "commands/help.hpp"
#include "formats/escapes.hpp"
#include "reports/certificate.hpp"
#include "reports/error_bar.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

namespace {

constexpr Index most_rows = 20;  // of the table of eigenvalues

// Of averaged products the residual says little: it is that of one more noisy product.
std::string averaged_text(const PowerFacts& power, const PowerOptions& asked) {
  std::string text = "sin(theta) is " + error_bar_text(power.bar);
  if (asked.accuracy && power.bar.exists())
    text += fmt::format("; it {} the accuracy {:.2g}",
                        power.status == Status::converged        ? "meets"
                        : power.bar.sin_theta <= *asked.accuracy ? "is not known to meet"
                                                                 : "does not meet",
                        *asked.accuracy);
  return text;
}

std::string met_text(const PowerFacts& power, const PowerOptions& asked) {
  if (was_averaged(power) && asked.accuracy) return averaged_text(power, asked);
  std::string text = fmt::format("the residual {:.2g} meets the tolerance {:.2g}", power.residual, *asked.tolerance);
  if (asked.accuracy)
    text += fmt::format(", and sin(theta), {}, the accuracy {:.2g}", sine_text(power), *asked.accuracy);
  return text;
}

// What kept it from converging.
std::string unmet_text(const PowerFacts& power, const PowerOptions& asked) {
  if (was_averaged(power)) return averaged_text(power, asked);
  if (!(power.residual <= *asked.tolerance))
    return fmt::format("the residual is {:.2g}, above the tolerance {:.2g}", power.residual, *asked.tolerance);
  if (asked.accuracy)
    return fmt::format(
        "the residual {:.2g} meets the tolerance {:.2g}; sin(theta), {}, is not known to meet the "
        "accuracy {:.2g}",
        power.residual, *asked.tolerance, sine_text(power), *asked.accuracy);
  return fmt::format("the residual {:.2g} meets the tolerance {:.2g}, but does not settle what the answer is",
                     power.residual, *asked.tolerance);
}

std::string status_text(const PowerFacts& power, const PowerOptions& asked) {
  switch (power.status) {
    case Status::converged:
      return fmt::format("converged in {} iterations: {}", power.iterations, met_text(power, asked));
    case Status::noise_floor:
      if (was_averaged(power))
        return fmt::format("reached the noise floor after {} iterations, {} of them averaged: {}", power.iterations,
                           power.bar.steps, averaged_text(power, asked));
      return fmt::format("reached the noise floor after {} iterations: {}, and errors in the products allow no better",
                         power.iterations, unmet_text(power, asked));
    case Status::rounding_floor:
      return fmt::format("stands at rounding level after {} iterations: {}, and the arithmetic allows no better",
                         power.iterations, unmet_text(power, asked));
    case Status::ambiguous:
      return fmt::format("ambiguous after {} iterations: {}, and k = {} cuts through them", power.iterations,
                         power.certificate.cluster ? cluster_text(*power.certificate.cluster)
                                                   : "the k-th eigenvalue and the next cannot be told apart",
                         asked.rank);
    case Status::iteration_limit:
      if (asked.product_budget && power.iterations < iteration_limit(asked))
        return fmt::format("spent its budget of {} products after {} iterations: {}", *asked.product_budget,
                           power.iterations, unmet_text(power, asked));
      return fmt::format("stopped at the limit of {} iterations: {}", power.iterations, unmet_text(power, asked));
    case Status::stopped_by_observer:
      if (was_averaged(power))
        return fmt::format("interrupted after {} iterations, {} of them averaged: {}", power.iterations,
                           power.bar.steps, averaged_text(power, asked));
      return fmt::format("interrupted after {} iterations: the residual is {:.2g}, the tolerance was {:.2g}",
                         power.iterations, power.residual, *asked.tolerance);
    case Status::breakdown:
      return fmt::format("broke down at iteration {}: a product could not be made; the residual before it was {:.2g}",
                         power.iterations, power.residual);
    case Status::communication_failed:
      return fmt::format("communication failed after {} iterations: too little was heard to say anything",
                         power.iterations);
  }
  return {};
}

std::string accuracy_text(const PowerResult<double>& power, const Job& job) {
  std::string text = line("residual", "{:.3g}", power.residual);
  if (!job.reference.empty() && !power.history.empty())
    text += line("sin(theta)", "{:.3g} against the reference", power.history.back().sin_theta);
  return text + certificate_text(power, job.solve.power.rank);
}

std::string chosen_text(const PowerResult<double>& power, const Job& job) {
  if (was_averaged(power))
    return line("method", "averages of noisy products; momentum {:.4g}, {} damping; {} precision", power.momentum,
                power.damping == Damping::centred ? "centred" : "symmetric", name(job.solve.precision));
  if (power.method == SolveMethod::direct)
    return line("method", "all eigenvalues, found directly; {} precision", name(job.solve.precision));
  if (power.method == SolveMethod::krylov)
    return line("method", "block Krylov space, products being exact; {} Ritz vectors kept; {} precision", power.columns,
                name(job.solve.precision));
  using Rule = Momentum::Rule;
  const Rule rule = job.solve.power.momentum.rule;
  const std::string momentum = rule == Rule::none           ? "no momentum"
                               : job.solve.optimal_momentum ? fmt::format("optimal momentum {:.4g}", power.momentum)
                               : rule == Rule::fixed        ? fmt::format("momentum {:.4g} as given", power.momentum)
                               : rule == Rule::paper
                                   ? fmt::format("momentum {:.4g} by the paper's rule", power.momentum)
                                   : fmt::format("momentum {:.4g}, adapted", power.momentum);
  return line("method", "{}; {} damping; a block of {} columns; {} precision", momentum,
              power.damping == Damping::centred ? "centred" : "symmetric", power.columns, name(job.solve.precision));
}

// Where it was computed, and what each rung did.
std::string climb_text(const ClimbFacts& climb, const PowerResult<double>& power) {
  std::string text = line("device", "{}; a block of {} columns; products in {}, to a sine of {:g}", climb.where,
                          power.columns, name(climb.precision), climb.accuracy);
  for (const RungReport& rung : climb.rungs) {
    const std::string looked = rung.rounding > 0
                                   ? fmt::format("; sine {:.2g} with rounding {:.2g} of a product{}", rung.sin_theta,
                                                 rung.rounding, rung.at_floor ? ", its floor" : "")
                                   : std::string();
    text += line("", "{}{}: {} products of the block, {:.3g} ms{}", name(rung.rung),
                 rung.corrects ? ", corrected by rounded products" : "", rung.passes, 1e3 * rung.seconds, looked);
  }
  return text;
}

std::string cost_text(const Solution<double>& outcome) {
  const PowerResult<double>& power = outcome.power;
  return line("cost", "{} over the matrix, {} columns multiplied, {:.3g} s, {} of workspace",
              power.passes == 1 ? "1 pass" : fmt::format("{} passes", power.passes), power.products, outcome.seconds,
              bytes_text(power.workspace_bytes));
}

std::string_view in_words(theory::Condition condition) {
  switch (condition) {
    case theory::Condition::start:
      return "the start block misses part of the wanted subspace";
    case theory::Condition::momentum:
      return "no theorem covers the momentum";
    case theory::Condition::noise_outside:
      return "(a) too much noise outside the wanted subspace";
    case theory::Condition::noise_inside:
      return "(b) too much noise inside the wanted subspace";
    case theory::Condition::envelope:
      return "tan(theta) leaves the envelope";
  }
  return "";
}

std::string violation_text(const theory::Violation& violation) {
  return line("", "from t = {}: {}, {:.3g} where {:.3g} is allowed", violation.iteration, in_words(violation.condition),
              violation.value, violation.bound);
}

std::string audit_text(const theory::AuditReport& audit, double epsilon) {
  using theory::Condition;
  std::string text = line("audit", "{} steps held against the theory for epsilon = {:g}", audit.steps.size(), epsilon);
  if (!audit.first_violation && !audit.momentum_varied)
    return text + line("", "every condition and the envelope held at every step");
  if (audit.first_violation &&
      (audit.first_violation->condition == Condition::start || audit.first_violation->condition == Condition::momentum))
    text += violation_text(*audit.first_violation);
  text += audit.first_noise_violation ? violation_text(*audit.first_noise_violation)
                                      : line("", "the noise conditions (a) and (b) held at every step");
  text += audit.first_envelope_violation ? violation_text(*audit.first_envelope_violation)
                                         : line("", "tan(theta) stayed below the envelope at every step");
  if (audit.first_envelope_violation && audit.envelope_promise_was_void)
    text += line("", "the envelope was promised no longer by then, so nothing is contradicted");
  if (audit.momentum_varied)
    text += line("",
                 "the momentum varied, which no theorem covers: conditions and envelope, the product of the steps' "
                 "factors, are those of each step's own momentum, and promise nothing");
  return text;
}

// Each with what it may be short of, and its share of the sum of all squares.
std::string singular_table(const Vector<double>& values, const SvdFacts& svd) {
  const double norm = svd.frobenius_norm > 0 ? svd.frobenius_norm : 1;
  const bool known = svd.errors_are != Knowledge::unknown;
  std::string table = fmt::format("  {:>4}  {:>14}", "", "singular value");
  if (known) table += fmt::format("  {:>9}", "error");
  table += fmt::format("  {:>8}  {:>10}\n", "share", "cumulative");
  double cumulative = 0;
  for (Index i = 0; i < std::min(values.size(), most_rows); ++i) {
    const double share = (values(i) / norm) * (values(i) / norm);  // squares may overflow
    cumulative += share;
    table += fmt::format("  {:>4}  {:>14.8g}", i + 1, values(i));
    if (known) table += fmt::format("  {:>9.1e}", std::max(svd.errors(i), svd.rounding));
    table += fmt::format("  {:>7.2f}%  {:>9.2f}%\n", 100 * share, 100 * cumulative);
  }
  if (values.size() > most_rows)
    table += fmt::format("        ... and {} more: --json lists them all\n", values.size() - most_rows);
  return table;
}

std::string singular_text(const SvdFacts& svd) {
  std::string text =
      line("values", "at most {:.2g} too large (bound); {}", svd.rounding,
           svd.errors_are == Knowledge::unknown
               ? "how much too small, if one was missed, is unknown"
               : fmt::format("at most {:.2g} too small ({})", svd.errors.maxCoeff(), name(svd.errors_are)));
  return text + line("", "within {:.2g} of each there is one of the matrix (bound)", svd.within);
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  const double count = static_cast<double>(bytes);
  return count < 1e6   ? fmt::format("{:.1f} kB", count / 1e3)
         : count < 1e9 ? fmt::format("{:.1f} MB", count / 1e6)
                       : fmt::format("{:.1f} GB", count / 1e9);
}

std::string eigenvalue_table(const Vector<double>& eigenvalues, double total_variance,
                             const Vector<double>& standard_errors) {
  const bool shares = total_variance > 0 && std::isfinite(total_variance);
  const Index k = eigenvalues.size();
  const bool errors = k > 0 && standard_errors.size() == k;
  std::string table = fmt::format("  {:>4}  {:>14}", "", "eigenvalue");
  if (errors) table += fmt::format("  {:>9}", "scatter");
  if (shares) table += fmt::format("  {:>8}  {:>10}", "share", "cumulative");
  table += '\n';
  double cumulative = 0;
  for (Index i = 0; i < std::min(k, most_rows); ++i) {
    table += fmt::format("  {:>4}  {:>14.8g}", i + 1, eigenvalues(i));
    if (errors) table += fmt::format("  {:>9.2g}", standard_errors(i));
    if (shares) {
      cumulative += eigenvalues(i) / total_variance;
      table += fmt::format("  {:>7.2f}%  {:>9.2f}%", 100 * eigenvalues(i) / total_variance, 100 * cumulative);
    }
    table += '\n';
  }
  if (k > most_rows) table += fmt::format("        ... and {} more: --json lists them all\n", k - most_rows);
  return table;
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) {
    std::string indented = wrapped(terminal_safe(note), 100);
    for (std::size_t at = indented.find('\n'); at != std::string::npos; at = indented.find('\n', at + 1))
      indented.insert(at + 1, 15, ' ');
    text += line("note", "{}", indented);
  }
  return text;
}

std::string of_singular_values(std::string text) {
  constexpr std::string_view word = "eigenvalue", other = "singular value";
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + other.size()))
    text.replace(at, word.size(), other);
  return text;
}

namespace {

std::string subject_text(const Report& report) {
  const auto& samples = report.samples;
  if (report.singular)
    return line("matrix", "{} x {}, solved as {}", report.singular->rows, report.singular->columns,
                report.singular->of.by_rows ? "AA'" : "A'A");
  if (samples)
    return line("data", "{} samples of {} features{}{}", samples->samples, report.dimension,
                samples->centred ? ", centred" : "", samples->scale.size() > 0 ? ", standardized" : "");
  return line("matrix", "{} x {}", report.dimension, report.dimension);
}

std::string plan_text(const StreamPlan& plan) {
  const std::string readings = plan.passes == 1 ? "one reading" : fmt::format("{} readings", plan.passes);
  const std::string of =
      plan.bytes_per_pass > 0 ? " of " + bytes_text(static_cast<std::int64_t>(plan.bytes_per_pass)) : std::string();
  return line("plan", "{}{}{}, by {}; {} of memory, and {} are allowed", plan.certain ? "" : "about ", readings, of,
              name(plan.way), bytes_text(static_cast<std::int64_t>(plan.memory)),
              bytes_text(static_cast<std::int64_t>(plan.memory_allowed)));
}

std::string values_text(const Report& report) {
  const PowerResult<double>& power = report.outcome.power;
  if (report.singular) return singular_table(power.eigenvalues, report.singular->of);
  return eigenvalue_table(power.eigenvalues, report.samples ? report.samples->total_variance : 0,
                          power.bar.eigenvalues);
}

}  // namespace

std::string summary(const Report& report) {
  const Job& job = report.job;
  const Solution<double>& outcome = report.outcome;
  const PowerResult<double>& power = outcome.power;
  const auto in_its_words = [&report](std::string text) {
    return report.singular ? of_singular_values(std::move(text)) : text;
  };
  std::string text =
      fmt::format("{}: {}\n\n", terminal_safe(job.input), in_its_words(status_text(power, job.solve.power)));
  text += values_text(report) + '\n';
  text += subject_text(report);
  text += in_its_words(accuracy_text(power, job));
  if (report.singular) text += singular_text(report.singular->of);
  text += outcome.climb ? climb_text(*outcome.climb, power) : chosen_text(power, job);
  if (report.samples && report.samples->plan) text += plan_text(*report.samples->plan);
  text += cost_text(outcome);
  if (outcome.audit) text += audit_text(*outcome.audit, *job.audit);
  return text + notes_text(power.notes);
}

}  // namespace hearsay::app
