#include "reports/error_bar.hpp"

#include <nlohmann/json.hpp>

namespace hearsay::app {

bool was_averaged(const PowerFacts& power) { return power.method == SolveMethod::averaged; }

Json error_bar_json(const PowerFacts& power) {
  if (!was_averaged(power)) return nullptr;
  const ErrorBar& bar = power.bar;
  return {{"kind", name(bar.kind)},
          {"sin_theta", number(bar.sin_theta)},
          {"factor", bar_factor},
          {"confidence", bar.kind == BarKind::calibrated ? Json(bar_confidence) : Json(nullptr)},
          {"inside", number(bar.inside)},
          {"outside", number(bar.outside)},
          {"last_block", number(bar.last_block)},
          {"bias", number(bar.bias)},
          {"drift", bar.drift},
          {"steps", bar.steps},
          {"products_needed", number(bar.products_needed)},
          {"vectors", numbers(bar.vectors)},
          {"eigenvalues", numbers(bar.eigenvalues)},
          {"resolved", bar.resolved}};
}

std::string error_bar_text(const ErrorBar& bar) {
  if (!bar.exists()) return "unknown: too few products were averaged";
  if (bar.kind == BarKind::bound)
    return bar.sin_theta < 1 ? fmt::format("at most {:.2g}, by the noise norm given", bar.sin_theta)
                             : "unknown: the noise norm given is no less than half the gap";
  if (bar.sin_theta > unresolved_sine) return fmt::format("not resolved: the error bar is {:.2g}", bar.sin_theta);
  if (bar.kind == BarKind::indicative)
    return fmt::format("about {:.2g}, indicative: {}", bar.sin_theta,
                       bar.drift ? "the averages drift" : "the errors are not independent");
  return fmt::format("{:.2g}, within a factor {:g} with {:g}% confidence", bar.sin_theta, bar_factor, bar_confidence);
}

std::string averages_text(const PowerFacts& power, Index rank) {
  if (!was_averaged(power)) return "";
  const ErrorBar& bar = power.bar;
  const std::string averaged = fmt::format("{} products with {} columns were averaged", bar.steps, power.columns);
  if (!bar.exists()) return line("", "{}", averaged);
  return line("", "{}; {} of {} eigenvectors are resolved one by one", averaged, bar.resolved, rank);
}

}  // namespace hearsay::app
