// hearsay verify: a result held against its data once more.
#include "commands/verify.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/findings.hpp"
#include "commands/job.hpp"
#include "commands/terminal.hpp"
#include "files/genotypes.hpp"
#include "files/inputs.hpp"
#include "files/measured_matrix.hpp"
#include "files/provenance.hpp"
#include "files/rectangular_matrix.hpp"
#include "files/run_files.hpp"
#include "formats/escapes.hpp"
#include "formats/json_reader.hpp"
#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/error_bar.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/rows.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/spectrum.hpp"
#include "linalg/decompositions.hpp"
#include "reports/error_bar.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;
using PlainJson = nlohmann::json;

[[noreturn]] void refuse(const std::string& name, std::string_view why) {
  throw DataError(fmt::format("{}: {}", name, why));
}

// A key of the result, which somebody may have edited.
template <class T>
T value(const PlainJson& json, const std::string& name, std::string_view key) {
  const auto found = json.find(std::string(key));
  if (found == json.end()) refuse(name, fmt::format("{}: is missing; it is no result of hearsay, or an old one", key));
  try {
    return found->get<T>();
  } catch (const PlainJson::exception&) {
    refuse(name, fmt::format("{}: is not of the kind it should be", key));
  }
}

double real(const PlainJson& json, std::string_view key) {
  const auto found = json.find(std::string(key));
  return found != json.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::vector<double> reals(const PlainJson& json, const std::string& name, std::string_view key) {
  std::vector<double> numbers;
  for (const PlainJson& number : value<PlainJson>(json, name, key))
    numbers.push_back(number.is_number() ? number.get<double>() : std::nan(""));
  return numbers;
}

// The files the result names, as they were.
bool check_inputs(const PlainJson& provenance, const std::string& name, Findings& findings) {
  bool all = true;
  for (const PlainJson& input : value<PlainJson>(provenance, name, "inputs")) {
    const auto path = value<std::string>(input, name, "path");
    if (!input.contains("sha256") || !input["sha256"].is_string()) {
      findings.leave_out("input", fmt::format("{}: was a pipe, or lay elsewhere", path));
      all = false;
      continue;
    }
    const Json now = file_facts(path);
    const std::string found = now["sha256"].is_string() ? now["sha256"].get<std::string>() : "none";
    const bool same = found == input["sha256"].get<std::string>();
    findings.hold(same, "input",
                  same ? fmt::format("{}: sha256 {}", path, found.substr(0, 16))
                       : fmt::format("{}: sha256 is {}, was {}", path, found, input["sha256"].get<std::string>()));
    all = all && same;
  }
  return all;
}

// The job as it was given, less what it writes and how it ran.
Job job_of(const PlainJson& result, const PlainJson& provenance, const std::string& name) {
  std::map<std::string, std::string, std::less<>> given;
  const auto options = value<PlainJson>(provenance, name, "options");
  for (const auto& [option, text] : options.items()) {
    if (!text.is_string()) refuse(name, fmt::format("provenance.options.{}: must be a text", option));
    const OptionGroup group = find_option(option).group;
    if (group != OptionGroup::output && group != OptionGroup::checkpoint && group != OptionGroup::running)
      given[option] = text.get<std::string>();
  }
  Job job = remade(value<std::string>(result, name, "command"),
                   value<std::vector<std::string>>(provenance, name, "arguments"), given);
  if (job.command != "plan") check(job);
  return job;
}

// The basis the result was delivered with: the file that is named now, or else the one named then.
std::optional<Block<double>> basis_of(const PlainJson& provenance, const std::string& given, Index d, Index k,
                                      const std::string& name, Findings& findings) {
  std::string path = given;
  if (path.empty())
    for (const PlainJson& output : value<PlainJson>(provenance, name, "outputs")) {
      if (value<std::string>(output, name, "option") != "components") continue;
      path = value<std::string>(output, name, "path");
      if (path.find("{agent}") != path.npos) path.replace(path.find("{agent}"), 7, "0");
    }
  if (path.empty()) {
    findings.leave_out("residual", "the run wrote no --components, so there is no basis to measure");
    return std::nullopt;
  }
  const io::Data data = io::read_data(path, {.label_column = title_of_row_names(path)});
  const Block<double>* basis = std::get_if<Block<double>>(&data.matrix);
  if (basis == nullptr || basis->rows() != d || basis->cols() != k)
    refuse(path, fmt::format("must be a {} x {} array, the basis of {}", d, k, name));
  return *basis;
}

struct Slack {
  double relative;  // of numbers that were computed twice
  double rounding;  // of residuals, relative to the matrix
};

Slack slack_of(const Job& job) {
  const bool single = job.solve.precision == Precision::single;
  return {.relative = single ? 1e-3 : 1e-6, .rounding = single ? 1e-5 : 1e-12};
}

void check_orthonormal(const Block<double>& V, const Slack& slack, Findings& findings) {
  const double apart = (V.transpose() * V - Eigen::MatrixXd::Identity(V.cols(), V.cols())).cwiseAbs().maxCoeff();
  findings.hold(apart <= slack.rounding * 100, "orthonormal", fmt::format("to {:.1e}", apart));
}

void check_basis(const PlainJson& result, const Block<double>& V, const MeasuredMatrix& A, int exponent,
                 const Slack& slack, const std::string& name, Findings& findings) {
  const Index k = V.cols();
  check_orthonormal(V, slack, findings);

  Block<double> AV(V.rows(), k);
  A.apply(V, AV);
  const Eigen::MatrixXd theta = V.transpose() * AV;
  // where all of it is small beside the other end of the spectrum, residuals are relative to a thousandth of that
  const double seen = std::ldexp(real(result, "norm_seen"), exponent);
  const double norm = std::max((AV - A.identity_part() * V).norm(), seen > 0 ? 1e-3 * seen : 0);
  const double residual = norm > 0 ? (AV - V * theta).norm() / norm : 0;
  const double said = real(result, "residual");
  const double tolerance = real(result, "tolerance");
  const bool agents = result.contains("agents");  // there it is a bound over all of them
  const bool right = agents ? residual <= said * (1 + slack.relative) + slack.rounding
                            : std::abs(residual - said) <= slack.relative * said + slack.rounding;
  findings.hold(right, "residual", fmt::format("measured {:.3g}, said {:.3g}", residual, said));
  if (value<std::string>(result, name, "status") == "converged")
    findings.hold(residual <= tolerance * (1 + slack.relative) + slack.rounding, "converged",
                  fmt::format("measured {:.3g}, tolerance {:.3g}", residual, tolerance));

  std::vector<double> told = reals(result, name, "eigenvalues");
  if (std::none_of(told.begin(), told.end(), [](double value) { return std::isnan(value); }))
    std::sort(told.rbegin(), told.rend());  // they stand in the order of --which
  const Eigen::VectorXd ritz = detail::symmetric_eigenvalues((theta + theta.transpose()) / 2).reverse();
  double worst = told.size() == static_cast<std::size_t>(k) ? 0 : std::nan("");
  for (Index i = 0; i < k && std::isfinite(worst); ++i)
    worst = std::max(worst, std::abs(A.in_unit_of_result(ritz(i)) - told[static_cast<std::size_t>(i)]));
  const double largest = std::abs(A.in_unit_of_result(ritz.size() > 0 ? ritz.cwiseAbs().maxCoeff() : 0));
  const double allowed = std::max(slack.relative * largest, agents ? said * largest : 0.0);
  findings.hold(worst <= allowed, "eigenvalues", fmt::format("differ by {:.2g} at most, of {:.3g}", worst, largest));
}

// At either end of the spectrum, of which something is said.
void check_missed(const PlainJson& missed, const Spectrum& spectrum, const MeasuredMatrix& A, double slack,
                  Findings& findings) {
  const double above = real(missed, "above"), below = real(missed, "below");
  const auto count = [&](double sign, double limit) {
    Index beyond = 0;
    for (const double eigenvalue : spectrum.values)
      beyond += sign * A.in_unit_of_result(eigenvalue) > sign * limit + slack ? 1 : 0;
    return beyond;
  };
  const auto hold = [&](Index beyond, const char* where, double limit, Index said) {
    findings.hold(beyond <= said, "nothing missed",
                  fmt::format("{} eigenvalues lie {} {:.6g}, at most {} were said", beyond, where, limit, said));
  };
  if (!std::isnan(above)) hold(count(1, above), "above", above, missed.value("count", Index{0}));
  if (!std::isnan(below)) hold(count(-1, below), "below", below, missed.value("count_below", Index{0}));
  if (std::isnan(above) && std::isnan(below)) findings.hold(false, "nothing missed", "is said, but of no eigenvalue");
}

// Of all eigenvectors, by descending eigenvalue, those that were asked for.
Block<double> wanted_vectors(const Spectrum& spectrum, Which which, Index k) {
  const Index d = spectrum.values.size();
  Index high = which == Which::smallest ? 0 : which == Which::both_ends ? (k + 1) / 2 : k;
  if (which == Which::magnitude)
    while (high > 0 && std::abs(spectrum.values(high - 1)) < std::abs(spectrum.values(d - 1 - (k - high)))) --high;
  Block<double> wanted(spectrum.vectors.rows(), k);
  wanted << spectrum.vectors.leftCols(high), spectrum.vectors.rightCols(k - high);
  return wanted;
}

// The certificate's words against all the eigenvalues.
void check_words(const PlainJson& result, const std::optional<Block<double>>& V, const MeasuredMatrix& A,
                 const Job& job, const Slack& slack, Findings& findings) {
  const auto found = result.find("certificate");
  if (found == result.end() || !found->is_object()) return;
  const PlainJson& missed = found->value("nothing_missed", PlainJson::object());
  const PlainJson& sine = found->value("sin_theta", PlainJson::object());
  const bool counted = missed.value("word", "") == "bound", bounded = sine.value("word", "") == "bound";
  if (!counted && !bounded) return findings.leave_out("certificate", "claims no bound");
  if (A.dim() > largest_verified_spectrum)
    return findings.leave_out("certificate", fmt::format("its bounds are checked up to dimension {}; this is {}",
                                                         largest_verified_spectrum, A.dim()));
  const Spectrum spectrum = find_spectrum<double>(A.reference(), job.solve.power);
  const double largest = std::abs(A.in_unit_of_result(spectrum.values.cwiseAbs().maxCoeff()));
  if (counted) check_missed(missed, spectrum, A, slack.relative * largest, findings);
  if (bounded && V && spectrum.vectors.cols() >= V->cols()) {
    const Block<double> U = wanted_vectors(spectrum, job.solve.power.which, V->cols());
    const double measured = sin_theta<double>(U, *V), said = real(sine, "bound");
    findings.hold(measured <= said + slack.rounding * 100, "sin(theta)",
                  fmt::format("measured {:.3g}, bound {:.3g}", measured, said));
  }
}

// The error bar of noisy products against the eigenvectors of the matrix itself. A bound must hold; of 100 calibrated
// bars a few are off, so that one of them proves nothing.
void check_bar(const PlainJson& bar, const Block<double>& V, const MeasuredMatrix& A, const Job& job,
               const Slack& slack, const std::string& name, Findings& findings) {
  const auto kind = value<std::string>(bar, name, "kind");
  const double said = real(bar, "sin_theta");
  if (kind == hearsay::name(BarKind::none)) return findings.leave_out("error bar", "says nothing");
  const bool known = kind == hearsay::name(BarKind::calibrated) || kind == hearsay::name(BarKind::indicative) ||
                     kind == hearsay::name(BarKind::bound);
  findings.hold(known && said >= 0 && said <= 1, "error bar", fmt::format("{}, {:.3g}", kind, said));
  if (A.dim() > largest_verified_spectrum)
    return findings.leave_out(
        "sin(theta)", fmt::format("is measured up to dimension {}; this is {}", largest_verified_spectrum, A.dim()));
  const Spectrum spectrum = find_spectrum<double>(A.reference(), job.solve.power);
  if (spectrum.vectors.cols() < V.cols()) return findings.leave_out("sin(theta)", "has no reference");
  const double measured = sin_theta<double>(wanted_vectors(spectrum, job.solve.power.which, V.cols()), V);
  const std::string both = fmt::format("measured {:.3g}, said {:.3g}", measured, said);
  if (kind == hearsay::name(BarKind::bound))
    return findings.hold(measured <= said + slack.rounding * 100, "sin(theta)", both);
  if (measured <= bar_factor * said && said <= bar_factor * measured) return findings.hold(true, "sin(theta)", both);
  findings.leave_out("sin(theta)", fmt::format("{}: outside the factor {:g}, {}", both, bar_factor,
                                               kind == hearsay::name(BarKind::calibrated)
                                                   ? fmt::format("as {:g} in 100 are", 100 - bar_confidence)
                                                   : "which an indicative bar does not promise"));
}

// Noisy products are not made again, but the basis can be held against the matrix without noise.
void check_noisy(const PlainJson& result, const PlainJson& provenance, const std::string& components, const Job& job,
                 const std::string& name, Findings& findings) {
  findings.leave_out("residual", "was of noisy products, which are not made again");
  const auto bar = result.find("error_bar");
  if (bar == result.end() || !bar->is_object() || job.command == "cluster") return;
  const auto A = measured_matrix(job, result.contains("exponent") ? value<int>(result, name, "exponent") : 0);
  const Index d = value<Index>(result, name, "dimension"), k = value<Index>(result, name, "k");
  if (!A) return;
  findings.hold(A->dim() == d, "dimension", fmt::format("{}, said {}", A->dim(), d));
  if (A->dim() != d || k < 1 || k > d) return;
  const Slack slack = slack_of(job);
  const auto V = basis_of(provenance, components, d, k, name, findings);
  if (!V) return;
  check_orthonormal(*V, slack, findings);
  check_bar(*bar, *V, *A, job, slack, name, findings);
}

// ---- Singular values

// A side's vectors: those of the file that the run wrote under this option, if it did.
std::optional<Block<double>> vectors_of(const PlainJson& provenance, std::string_view option, const std::string& given,
                                        Index rows, Index k, const std::string& name) {
  std::string path = given;
  if (path.empty())
    for (const PlainJson& output : value<PlainJson>(provenance, name, "outputs"))
      if (value<std::string>(output, name, "option") == option) path = value<std::string>(output, name, "path");
  if (path.empty()) return std::nullopt;
  const io::Data data = io::read_data(path);
  const Block<double>* block = std::get_if<Block<double>>(&data.matrix);
  if (block == nullptr || block->rows() != rows || block->cols() != k)
    refuse(path, fmt::format("must be a {} x {} array, the {} vectors of {}", rows, k, option, name));
  return *block;
}

// The triples against the matrix, in the unit of `told`: those of the side that is there, or both.
void check_triples(const PlainJson& result, const RectangularMatrix& A, const Vector<double>& told,
                   const std::optional<Block<double>>& left, const std::optional<Block<double>>& right,
                   const Slack& slack, const std::string& name, Findings& findings) {
  if (!left && !right)
    return findings.leave_out("residual", "the run wrote neither --left nor --right, so there is nothing to measure");
  // The residual is of the side that was solved; of the other it is no larger.
  const bool by_rows = value<std::string>(result, name, "solved") == "AA'";
  const bool from_right = right && !(by_rows && left);
  const Block<double>& X = from_right ? *right : *left;
  for (const auto* side : {&left, &right})
    if (*side) check_orthonormal(**side, slack, findings);
  const Block<double> Y = A.product(X, from_right), N = A.product(Y, !from_right);
  const double norm = N.norm(), residual = norm > 0 ? (N - X * told.cwiseAbs2().asDiagonal()).norm() / norm : 0;
  const double said = real(result, "residual"), tolerance = real(result, "tolerance");
  const bool same_side = by_rows != from_right;
  findings.hold(residual - said <= slack.relative * said + 10 * slack.rounding &&
                    (!same_side || said - residual <= slack.relative * said + 10 * slack.rounding),
                "residual", fmt::format("measured {:.3g}, said {}{:.3g}", residual, same_side ? "" : "at most ", said));
  if (value<std::string>(result, name, "status") == "converged")
    findings.hold(residual <= tolerance * (1 + slack.relative) + 10 * slack.rounding, "converged",
                  fmt::format("measured {:.3g}, tolerance {:.3g}", residual, tolerance));
  const double largest = told.size() > 0 ? told(0) : 0;
  const Vector<double> lengths = Y.colwise().norm().transpose();
  const double worst = (lengths - told).cwiseAbs().maxCoeff();
  findings.hold(worst <= slack.relative * largest, "values",
                fmt::format("differ by {:.2g} at most, of {:.3g}", worst, largest));
  if (!left || !right) return findings.leave_out("triples", "need both --left and --right");
  const double apart = (Y - (from_right ? *left : *right) * told.asDiagonal()).norm();
  const double within = A.in_own_unit(real(value<PlainJson>(result, name, "errors"), "within"));
  findings.hold(apart <= within * (1 + slack.relative) + slack.rounding * largest, "triples",
                fmt::format("{} differ by {:.2g}, at most {:.2g} was said", from_right ? "A V and U S" : "A'U and V S",
                            apart, within));
}

// What is said of the true singular values, against all of them.
void check_true_values(const PlainJson& result, const RectangularMatrix& A, const Vector<double>& told,
                       const Slack& slack, const std::string& name, Findings& findings) {
  const Index small = std::min(A.rows(), A.columns());
  if (small > largest_verified_spectrum)
    return findings.leave_out("certificate", fmt::format("its bounds are checked up to dimension {}; this is {}",
                                                         largest_verified_spectrum, small));
  const Vector<double> squares = detail::symmetric_eigenvalues(A.normal()).reverse();
  const Vector<double> sigma = squares.cwiseMax(0).cwiseSqrt();
  const double blur = std::max(1e-7, slack.relative) * (small > 0 ? sigma(0) : 0);  // squares hold no more
  const auto errors = value<PlainJson>(result, name, "errors");
  const std::vector<double> short_of = reals(errors, name, "too_small");
  const bool bound = errors.value("word", "") == "bound" && short_of.size() == static_cast<std::size_t>(told.size());
  double below = 0, above = 0;
  for (Index i = 0; i < told.size(); ++i) {
    below = std::max(below, told(i) - sigma(i) - A.in_own_unit(real(errors, "too_large")));
    if (bound) above = std::max(above, sigma(i) - told(i) - A.in_own_unit(short_of[static_cast<std::size_t>(i)]));
  }
  findings.hold(
      below <= blur && above <= blur, "errors",
      fmt::format("all singular values lie where they are said to, but for {:.2g}", std::max({0.0, below, above})));
  const PlainJson certificate = value<PlainJson>(result, name, "certificate");
  const PlainJson missed = certificate.value("nothing_missed", PlainJson::object());
  if (missed.value("word", "") != "bound") return findings.leave_out("nothing missed", "claims no bound");
  Index beyond = 0;
  for (const double value : sigma) beyond += value > A.in_own_unit(real(missed, "above")) + blur ? 1 : 0;
  findings.hold(beyond <= missed.value("count", Index{0}), "nothing missed",
                fmt::format("{} singular values lie above {:.6g}, at most {} were said", beyond, real(missed, "above"),
                            missed.value("count", Index{0})));
}

void check_svd(const PlainJson& result, const PlainJson& provenance, const std::string& components, const Job& job,
               const std::string& name, Findings& findings) {
  const RectangularMatrix A(job, value<int>(result, name, "exponent"));
  const auto shape = value<std::vector<Index>>(result, name, "shape");
  const Index k = value<Index>(result, name, "k");
  const bool fits = shape.size() == 2 && shape[0] == A.rows() && shape[1] == A.columns();
  findings.hold(fits, "shape", fmt::format("{} x {}", A.rows(), A.columns()));
  const std::vector<double> said = reals(result, name, "singular_values");
  if (!fits || k < 1 || k > std::min(A.rows(), A.columns()) || said.size() != static_cast<std::size_t>(k))
    refuse(name, "its shape, k and singular_values do not fit together");
  Vector<double> told(k);
  for (Index i = 0; i < k; ++i) told(i) = A.in_own_unit(said[static_cast<std::size_t>(i)]);
  const auto left = vectors_of(provenance, "left", "", A.rows(), k, name);
  const auto right = vectors_of(provenance, "right", components, A.columns(), k, name);
  check_triples(result, A, told, left, right, slack_of(job), name, findings);
  check_true_values(result, A, told, slack_of(job), name, findings);
}

void check_numbers(const PlainJson& result, const PlainJson& provenance, const std::string& components,
                   const std::string& name, Findings& findings) {
  Job job = job_of(result, provenance, name);
  if (job.command == "svd") return check_svd(result, provenance, components, job, name, findings);
  if (job.command == "project") return findings.leave_out("scores", "are not made again");
  if (job.missing == Missing::em)
    return findings.leave_out("residual", "is of entries that EM filled in, which are not filled in once more");
  job.solve.power.rank =
      std::max<Index>(1, value<Index>(result, name, "k"));  // as it was found, where a rule was given
  const bool averaged = result.value("method", "") == hearsay::name(SolveMethod::averaged);  // by batches of rows, too
  if (job.solve.noise.kind != NoiseChoice::Kind::none || averaged)
    return check_noisy(result, provenance, components, job, name, findings);
  if (result.contains("contributors") && result["contributors"].size() != value<std::size_t>(result, name, "agents"))
    return findings.leave_out("residual", "is of the agents that were left, whose data are not told apart here");
  const int exponent = result.contains("exponent") ? value<int>(result, name, "exponent") : 0;
  const auto A = measured_matrix(job, exponent);
  if (!A) return findings.leave_out("residual", fmt::format("of {} is not measured", job.command));
  const Index d = value<Index>(result, name, "dimension"), k = value<Index>(result, name, "k");
  findings.hold(A->dim() == d, "dimension", fmt::format("{}, said {}", A->dim(), d));
  if (A->dim() != d || k < 1 || k > d) return;
  const Slack slack = slack_of(job);
  const auto V = job.command == "cluster" ? std::nullopt : basis_of(provenance, components, d, k, name, findings);
  if (job.command == "cluster") findings.leave_out("residual", "cluster writes no basis to measure");
  if (V) check_basis(result, *V, *A, exponent, slack, name, findings);
  check_words(result, V, *A, job, slack, findings);
}

int run_verify(const std::string& path, std::string components) try {
  std::error_code unknown;
  if (!components.empty()) components = fs::absolute(components, unknown).string();  // from here, not from there
  const PlainJson result = parse_json(io::read_whole(path), path);
  if (!result.is_object()) refuse(path, "must be a JSON object, the result of a run");
  if (result.is_object() && result.contains("privacy"))
    refuse(path, "is a private result; what it could be held against is the data, and that would tell of them");
  const auto provenance = value<PlainJson>(result, path, "provenance");
  // Names are as they were given: from where the run was started, or from where the result lies.
  for (const PlainJson& input : value<PlainJson>(provenance, path, "inputs"))
    if (const auto name = value<std::string>(input, path, "path");
        !io::built_in_file(name) && !is_there(name) && fs::path(path).has_parent_path()) {
      fs::current_path(fs::path(path).parent_path(), unknown);
      break;
    }
  Findings findings;
  if (check_inputs(provenance, path, findings))
    check_numbers(result, provenance, components, path, findings);
  else
    findings.leave_out("residual", "is not measured on other data");
  say(findings.told_of(path));
  return findings.exit_code();
} catch (const PlainJson::exception&) {  // a key of another kind than results have
  refuse(path, "is no result of hearsay, or one that was changed");
}

struct VerifyRequest {
  std::string result, components;
};

}  // namespace

void add_verify(CLI::App& root, Action& action) {
  CLI::App* app = root.add_subcommand("verify", "Hold a result against its data once more");
  auto request = std::make_shared<VerifyRequest>();
  app->add_option("RESULT.json", request->result, "What --json wrote")->type_name("")->required();
  app->add_option("--components", request->components,
                  "The basis (of svd the right vectors), where it is not where the run wrote it")
      ->type_name("FILE");
  app->footer(
      "Inputs must have their SHA-256, the basis its residual and eigenvalues, and the certificate's bounds must hold\n"
      "(up to dimension 1000). Of noisy products the error bar is held against the matrix without noise.\n"
      "Exit code 3: something does not hold.\n"
      "\n"
      "Examples:\n"
      "  hearsay pca data.csv -k 5 --components basis.npy --json result.json\n"
      "  hearsay verify result.json\n"
      "  hearsay svd data.csv -k 5 --left u.npy --right v.npy --json result.json");
  app->callback(
      [request, &action] { action = [request] { return run_verify(request->result, request->components); }; });
}

}  // namespace hearsay::app
