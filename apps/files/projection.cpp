#include "files/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "files/inputs.hpp"
#include "files/provenance.hpp"
#include "files/run_files.hpp"
#include "files/samples.hpp"
#include "formats/json_reader.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/matrix.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;
using PlainJson = nlohmann::json;

[[noreturn]] void refuse_file(const fs::path& path, std::string_view why) {
  throw DataError(fmt::format("{}: {}", path.string(), why));
}

Block<double> basis_in(const fs::path& path) {
  io::Data data = io::read_data(path, {.label_column = title_of_row_names(path)});
  return std::visit(
      [&](const auto& matrix) -> Block<double> {
        if constexpr (requires { matrix.col(0); })
          return matrix.template cast<double>();
        else
          refuse_file(path, "is a sparse matrix; a basis is a .npy or .csv file");
      },
      data.matrix);
}

Vector<double> vector_in(const PlainJson& json, const fs::path& path, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array())
    refuse_file(path, fmt::format("{}: is missing; it is no result of pca", key));
  Vector<double> numbers(static_cast<Index>(found->size()));
  for (std::size_t i = 0; i < found->size(); ++i) {
    if (!(*found)[i].is_number()) refuse_file(path, fmt::format("{}: must be numbers alone", key));
    numbers(static_cast<Index>(i)) = (*found)[i].get<double>();
  }
  return numbers;
}

// As the run named it: from here, or from where the result lies; and as the run wrote it.
fs::path basis_of_result(const PlainJson& result, const fs::path& path) {
  for (const PlainJson& output : result.value("provenance", PlainJson::object()).value("outputs", PlainJson::array())) {
    if (output.value("option", "") != "components") continue;
    fs::path basis = output.value("path", "");
    if (!is_there(basis) && basis.is_relative()) basis = path.parent_path() / basis;
    if (!is_there(basis))
      refuse_file(path, fmt::format("its components, {}, are not there any more", output.value("path", "")));
    const Json now = file_facts(basis);
    if (output.contains("sha256") && output["sha256"].is_string() && now["sha256"].is_string() &&
        output["sha256"].get<std::string>() != now["sha256"].get<std::string>())
      refuse_file(path, fmt::format("its components, {}, have changed since it was written", basis.string()));
    return basis;
  }
  refuse_file(path, "names no components: the run must have had --components FILE");
}

void take_missing_model(const PlainJson& result, PcaResult<double>& model) {
  const auto real = [&](const char* key) {
    const auto found = result.find(key);
    return found != result.end() && found->is_number() ? found->get<double>() : std::nan("");
  };
  model.total_variance = real("total_variance");
  model.samples = static_cast<Index>(std::isfinite(real("samples")) ? real("samples") : 0.0);
  model.centred = result.value("centered", true);
}

Projection from_result(const fs::path& path, const Job& job) try {
  require(job.mean_from.empty() && job.scale_from.empty(),
          fmt::format("{}: {} brings its own; leave it out", job.mean_from.empty() ? "scale-from" : "mean-from",
                      path.string()));
  const PlainJson result = parse_json(io::read_whole(path), path.string());
  if (!result.is_object()) refuse_file(path, "must be a JSON object, the result of pca");
  if (result.value("command", "") != "pca")
    refuse_file(path, fmt::format("is a result of {}; only that of pca has what a projection needs",
                                  result.value("command", "something else")));
  Projection projection{.mean_source = "result", .scale_source = "none"};
  PcaResult<double>& model = projection.model;
  model.mean = vector_in(result, path, "mean");
  model.power.eigenvalues = vector_in(result, path, "eigenvalues");
  model.power.exponent = result.value("exponent", 0);
  take_missing_model(result, model);
  if (result.value("standardized", false)) {
    model.scale = vector_in(result, path, "scale");
    projection.scale_source = "result";
  }
  if (result.contains("features") && result["features"].is_array())
    projection.features = result["features"].get<std::vector<std::string>>();
  model.power.basis = basis_in(basis_of_result(result, path));
  if (model.power.basis.rows() != model.mean.size() || model.power.basis.cols() != model.power.eigenvalues.size())
    refuse_file(path, fmt::format("its components are {} x {}, and must be {} x {}", model.power.basis.rows(),
                                  model.power.basis.cols(), model.mean.size(), model.power.eigenvalues.size()));
  if (!projection.features.empty() && static_cast<Index>(projection.features.size()) != model.mean.size())
    refuse_file(path, fmt::format("names {} features of {}", projection.features.size(), model.mean.size()));
  return projection;
} catch (const PlainJson::exception&) {
  refuse_file(path, "is no result of hearsay, or one that was changed");
}

Vector<double> numbers_from(const fs::path& path, std::string_view option, Index d) {
  const std::vector<double> numbers = load_numbers(path, option);
  require(static_cast<Index>(numbers.size()) == d,
          fmt::format("{} = {}: has {} numbers, and must have {}, one for each feature", option, path.string(),
                      numbers.size(), d));
  return Eigen::Map<const Eigen::VectorXd>(numbers.data(), d);
}

Projection from_basis(const fs::path& path, const Job& job) {
  require(!job.whiten,
          "whiten: needs the variances, which a basis alone does not bring; give the result as JSON to "
          "--components-from");
  require(job.missing != Missing::em,
          "missing = em: needs the variances, which a basis alone does not bring; give the "
          "result as JSON to --components-from");
  require(job.missing != Missing::mean || !job.mean_from.empty(),
          "missing = mean: needs the mean of the analysis; give it with --mean-from, or the result as JSON to "
          "--components-from");
  Projection projection{.mean_source = "none", .scale_source = "none"};
  PcaResult<double>& model = projection.model;
  model.power.basis = basis_in(path);
  const Index d = model.power.basis.rows();
  model.mean = Vector<double>::Zero(d);
  if (!job.mean_from.empty()) {
    model.mean = numbers_from(job.mean_from, "mean-from", d);
    projection.mean_source = "file";
  }
  if (!job.scale_from.empty()) {
    model.scale = numbers_from(job.scale_from, "scale-from", d);
    projection.scale_source = "file";
    for (Index j = 0; j < d; ++j)
      require(model.scale(j) > 0, fmt::format("scale-from = {}: number {} is {}, and must be positive",
                                              job.scale_from.string(), j + 1, model.scale(j)));
  }
  return projection;
}

std::string listed_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  const std::size_t count = std::min(names.size(), most);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  return names.size() > count ? fmt::format("{} and {} more", text, names.size() - count) : text;
}

std::vector<std::string> without(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  const std::set<std::string> known(others.begin(), others.end());
  std::vector<std::string> left;
  for (const std::string& name : names)
    if (!known.contains(name)) left.push_back(name);
  return left;
}

}  // namespace

Projection load_projection(const Job& job) {
  const fs::path& path = job.components_from;
  Projection projection = path.extension() == ".json" ? from_result(path, job) : from_basis(path, job);
  projection.model.missing.policy = job.missing;
  return projection;
}

std::vector<Index> matched_columns(const Projection& projection, const std::vector<std::string>& names, Index columns,
                                   const Job& job) {
  const Index d = projection.model.mean.size();
  const std::vector<std::string>& wanted = projection.features;
  const bool by_name = job.columns == ColumnMatch::by_name && !wanted.empty() && !names.empty();
  if (by_name) {
    const auto absent = without(wanted, names), extra = without(names, wanted);
    require(absent.empty(),
            fmt::format("{}: has no column {}, which the analysis has", job.input, listed_names(absent)));
    require(extra.empty() && columns == d, fmt::format("{}: has column {}, which the analysis has not; leave it out",
                                                       job.input, extra.empty() ? "names twice" : listed_names(extra)));
  }
  require(columns == d, fmt::format("{}: has {} features, and the basis is of {}", job.input, columns, d));
  std::vector<Index> order(static_cast<std::size_t>(d));
  std::iota(order.begin(), order.end(), Index{0});
  if (!by_name || names == wanted) return order;
  require(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
          fmt::format("{}: has two columns of one name; use --columns by-position", job.input));
  std::map<std::string_view, Index> place;
  for (std::size_t j = 0; j < names.size(); ++j) place[names[j]] = static_cast<Index>(j);
  for (std::size_t j = 0; j < wanted.size(); ++j) order[j] = place.at(wanted[j]);
  return order;
}

}  // namespace hearsay::app
