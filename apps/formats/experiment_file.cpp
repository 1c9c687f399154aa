#include "formats/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/json_reader.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

using nlohmann::json;
using namespace experiments;

template <class Value>
struct Word {
  std::string_view word;
  Value value;
};

// The value of one of a few words.
template <class Value, std::size_t N>
Value choice(const JsonReader& reader, std::string_view key, std::string_view otherwise,
             const Word<Value> (&words)[N]) {
  const std::string given = reader.text(key, otherwise);
  std::vector<std::string_view> known;
  for (const auto& [word, value] : words) {
    if (word == given) return value;
    known.push_back(word);
  }
  reader.refuse(key, fmt::format("one of {}{}", fmt::join(known, ", "), did_you_mean(given, known)));
}

constexpr Word<NoiseChoice::Kind> noises[] = {{"none", NoiseChoice::Kind::none},
                                              {"gaussian", NoiseChoice::Kind::gaussian},
                                              {"sphere", NoiseChoice::Kind::sphere},
                                              {"adversarial", NoiseChoice::Kind::adversarial}};

constexpr Word<TheoremRun::Theorem> theorems[] = {{"lower-bound", TheoremRun::Theorem::lower_bound},
                                                  {"closed-form", TheoremRun::Theorem::closed_form},
                                                  {"tight-outside", TheoremRun::Theorem::tight_outside},
                                                  {"tight-inside", TheoremRun::Theorem::tight_inside},
                                                  {"main", TheoremRun::Theorem::main},
                                                  {"small-beta", TheoremRun::Theorem::small_beta},
                                                  {"no-momentum", TheoremRun::Theorem::no_momentum},
                                                  {"random-start", TheoremRun::Theorem::random_start}};

constexpr Word<TheoremRun::Noise> directions[] = {{"random", TheoremRun::Noise::random},
                                                  {"push", TheoremRun::Noise::push}};

constexpr Word<bool> scales[] = {{"linear", false}, {"log", true}};

constexpr Word<Abscissa> abscissae[] = {{"iterations", Abscissa::iterations},
                                        {"rounds", Abscissa::rounds},
                                        {"bytes", Abscissa::bytes},
                                        {"swept", Abscissa::swept}};

// none, paper, auto, critical, optimal, optimal:FRACTION, between:SHARE
MomentumChoice read_momentum(const JsonReader& run) {
  using Rule = MomentumChoice::Rule;
  const std::string text = run.text("momentum", "optimal");
  if (text == "none") return {Rule::times_optimal, 0};
  if (text == "optimal") return {Rule::times_optimal, 1};
  if (text == "critical") return {Rule::between, 1};
  if (text == "paper") return {Rule::paper, 0};
  if (text == "auto") return {Rule::automatic, 0};
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  if (colon == text.npos || (word != "optimal" && word != "between"))
    run.refuse("momentum", "none, paper, auto, critical, optimal, optimal:FRACTION or between:SHARE");
  const double value = parse_real("momentum", text.substr(colon + 1));
  if (!(value >= 0)) run.refuse("momentum", "a fraction that is not negative");
  return {word == "optimal" ? Rule::times_optimal : Rule::between, value};
}

PlantedRun read_planted(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",  "dimension",   "rank",     "gap",       "rest",
                                        "noise", "noise_level", "momentum", "iterations"};
  run.require_keys(known);
  const PlantedRun otherwise;
  return {.spectrum = {.dimension = run.integer("dimension", 2, otherwise.spectrum.dimension),
                       .rank = run.integer("rank", 1, otherwise.spectrum.rank),
                       .gap = run.real("gap", otherwise.spectrum.gap),
                       .rest = run.real("rest", otherwise.spectrum.rest)},
          .noise = choice(run, "noise", "adversarial", noises),
          .noise_level = run.real("noise_level", otherwise.noise_level),
          .momentum = read_momentum(run),
          .iterations = run.integer("iterations", 1, otherwise.iterations)};
}

TheoremRun read_theorem(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",        "theorem", "dimension", "rank",       "lambda_k",
                                        "lambda_next", "beta",    "epsilon",   "iterations", "noise"};
  run.require_keys(known);
  const TheoremRun otherwise;
  return {.theorem = choice(run, "theorem", "main", theorems),
          .dimension = run.integer("dimension", 2, otherwise.dimension),
          .rank = run.integer("rank", 1, otherwise.rank),
          .lambda_k = run.real("lambda_k", otherwise.lambda_k),
          .lambda_next = run.real("lambda_next", otherwise.lambda_next),
          .beta = run.real("beta", otherwise.beta),
          .epsilon = run.real("epsilon", otherwise.epsilon),
          .iterations = run.integer("iterations", 1, otherwise.iterations),
          .noise = choice(run, "noise", "random", directions)};
}

constexpr Word<Algorithm> algorithms[] = {{"depm", Algorithm::depm},
                                          {"adepm", Algorithm::adepm},
                                          {"deepca", Algorithm::deepca},
                                          {"adeepca", Algorithm::adeepca}};

constexpr Word<GossipKind> gossips[] = {
    {"plain", GossipKind::plain}, {"accelerated", GossipKind::accelerated}, {"chebyshev", GossipKind::chebyshev}};

constexpr Word<AgentsRun::Rule> rules[] = {
    {"optimal", AgentsRun::Rule::optimal}, {"paper", AgentsRun::Rule::paper}, {"auto", AgentsRun::Rule::automatic}};

// All but the rounds.
AgentsRun read_method(const JsonReader& run) {
  const AgentsRun otherwise;
  return {.data = run.text("data"),
          .rank = run.integer("rank", 1, otherwise.rank),
          .algorithm = choice(run, "algorithm", "adepm", algorithms),
          .gossip = choice(run, "gossip", "accelerated", gossips),
          .momentum = choice(run, "momentum", "optimal", rules),
          .iterations = run.integer("iterations", 1, otherwise.iterations)};
}

AgentsRun read_agents(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",   "data",     "rank",   "algorithm",
                                        "gossip", "momentum", "rounds", "iterations"};
  run.require_keys(known);
  AgentsRun read = read_method(run);
  read.rounds = run.integer("rounds", 1, read.rounds);
  return read;
}

RoundsRun read_rounds(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",     "data",   "rank",       "algorithm", "gossip",
                                        "momentum", "rounds", "iterations", "level"};
  run.require_keys(known);
  RoundsRun read{.agents = read_method(run), .level = run.real("level", RoundsRun{}.level)};
  if (run.has("rounds")) read.rounds = run.integers("rounds", 1);
  if (!std::is_sorted(read.rounds.begin(), read.rounds.end())) run.refuse("rounds", "ascending");
  return read;
}

constexpr Word<bool> yes_or_no[] = {{"no", false}, {"yes", true}};

PromiseRun read_promise(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind", "data", "rank", "gossip", "rounds", "level", "audit"};
  run.require_keys(known);
  const PromiseRun otherwise;
  return {.agents = read_method(run),
          .level = run.real("level", otherwise.level),
          .rounds = run.has("rounds") ? run.integer("rounds", 1, 1) : otherwise.rounds,
          .audit = choice(run, "audit", "no", yes_or_no)};
}

constexpr Word<ToleranceRun::Analysis> analyses[] = {{"hardt-price", ToleranceRun::Analysis::hardt_price},
                                                     {"xu", ToleranceRun::Analysis::xu},
                                                     {"this-paper", ToleranceRun::Analysis::this_paper}};

constexpr Word<ToleranceRun::Part> parts_of_noise[] = {{"outside", ToleranceRun::Part::outside},
                                                       {"inside", ToleranceRun::Part::inside}};

ToleranceRun read_tolerance(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",     "analysis",    "part",    "dimension", "rank", "lambda_1",
                                        "lambda_k", "lambda_next", "epsilon", "least",     "most", "levels"};
  run.require_keys(known);
  const ToleranceRun otherwise;
  return {.analysis = choice(run, "analysis", "this-paper", analyses),
          .part = choice(run, "part", "outside", parts_of_noise),
          .dimension = run.integer("dimension", 2, otherwise.dimension),
          .rank = run.integer("rank", 1, otherwise.rank),
          .lambda_1 = run.real("lambda_1", otherwise.lambda_1),
          .lambda_k = run.real("lambda_k", otherwise.lambda_k),
          .lambda_next = run.real("lambda_next", otherwise.lambda_next),
          .epsilon = run.real("epsilon", otherwise.epsilon),
          .least = run.real("least", otherwise.least),
          .most = run.real("most", otherwise.most),
          .levels = run.integer("levels", 2, otherwise.levels)};
}

ExponentRun read_exponents(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",        "analysis", "part",  "lambda_1", "lambda_k",
                                        "lambda_next", "h0",       "least", "most",     "levels"};
  run.require_keys(known);
  const ExponentRun otherwise;
  return {.analysis = choice(run, "analysis", "xu", analyses),
          .part = choice(run, "part", "outside", parts_of_noise),
          .lambda_1 = run.real("lambda_1", otherwise.lambda_1),
          .lambda_k = run.real("lambda_k", otherwise.lambda_k),
          .lambda_next = run.real("lambda_next", otherwise.lambda_next),
          .h0 = run.real("h0", otherwise.h0),
          .least = run.real("least", otherwise.least),
          .most = run.real("most", otherwise.most),
          .levels = run.integer("levels", 2, otherwise.levels)};
}

constexpr Word<bool> graph_momenta[] = {{"none", false}, {"paper", true}};

GraphRun read_graph(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",       "data", "nodes", "communities", "degree_inside", "degree_outside",
                                        "graph_seed", "rank", "sigma", "momentum",    "iterations"};
  run.require_keys(known);
  const GraphRun otherwise;
  const GeneratedGraph& made = otherwise.generated;
  return {.data = run.text("data", otherwise.data),
          .generated = {.nodes = run.integer("nodes", 2, made.nodes),
                        .communities = run.integer("communities", 1, made.communities),
                        .degree_inside = run.real("degree_inside", made.degree_inside),
                        .degree_outside = run.real("degree_outside", made.degree_outside),
                        .seed = run.has("graph_seed") ? run.seed("graph_seed") : made.seed},
          .rank = run.integer("rank", 1, otherwise.rank),
          .sigma = run.real("sigma", otherwise.sigma),
          .accelerated = choice(run, "momentum", "paper", graph_momenta),
          .iterations = run.integer("iterations", 1, otherwise.iterations)};
}

constexpr Word<NoisyInstance::Spectrum> spectra[] = {{"planted", NoisyInstance::Spectrum::planted},
                                                     {"harmonic", NoisyInstance::Spectrum::harmonic},
                                                     {"exponential", NoisyInstance::Spectrum::exponential}};

constexpr Word<BudgetRun::Solver> budget_solvers[] = {{"limit", BudgetRun::Solver::limit},
                                                      {"averaged", BudgetRun::Solver::averaged},
                                                      {"error-bar", BudgetRun::Solver::error_bar},
                                                      {"last-block", BudgetRun::Solver::last_block},
                                                      {"oja", BudgetRun::Solver::oja}};

constexpr Word<SolveRun::Solver> step_solvers[] = {{"averaged", SolveRun::Solver::averaged},
                                                   {"paper", SolveRun::Solver::paper}};

NoisyInstance read_noisy_instance(const JsonReader& run) {
  const NoisyInstance otherwise;
  return {.spectrum = choice(run, "spectrum", "planted", spectra),
          .dimension = run.integer("dimension", 2, otherwise.dimension),
          .rank = run.integer("rank", 1, otherwise.rank),
          .gap = run.real("gap", otherwise.gap),
          .noise = choice(run, "noise", "gaussian", noises),
          .noise_level = run.real("noise_level", otherwise.noise_level)};
}

std::vector<Index> read_products(const JsonReader& run) {
  const std::vector<Index> products = run.integers("products", 1);
  if (!std::is_sorted(products.begin(), products.end())) run.refuse("products", "ascending");
  return products;
}

BudgetRun read_budget(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",  "spectrum",    "dimension", "rank",    "gap",
                                        "noise", "noise_level", "solver",    "products"};
  run.require_keys(known);
  return {.instance = read_noisy_instance(run),
          .solver = choice(run, "solver", "averaged", budget_solvers),
          .products = run.has("products") ? read_products(run) : BudgetRun{}.products};
}

SolveRun read_solve(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",  "spectrum",    "dimension", "rank",      "gap",
                                        "noise", "noise_level", "solver",    "iterations"};
  run.require_keys(known);
  return {.instance = read_noisy_instance(run),
          .solver = choice(run, "solver", "averaged", step_solvers),
          .iterations = run.integer("iterations", 1, SolveRun{}.iterations)};
}

// What is said of the instance says what was measured, and is not used.
RecordedRun read_recorded(const JsonReader& run) {
  constexpr std::string_view known[] = {"kind",  "spectrum",    "dimension", "rank",   "gap",
                                        "noise", "noise_level", "products",  "errors", "source"};
  run.require_keys(known);
  RecordedRun read{.products = read_products(run), .errors = {}, .source = run.text("source")};
  constexpr std::string_view rule = "a list of positive numbers, one for each of products";
  if (!run.has("errors")) run.miss("errors", rule);
  if (!run.at("errors").is_array() || run.at("errors").size() != read.products.size()) run.refuse("errors", rule);
  for (const json& error : run.at("errors")) {
    if (!error.is_number() || !(error.get<double>() > 0)) run.refuse("errors", rule);
    read.errors.push_back(error.get<double>());
  }
  return read;
}

Run read_run(const json& settled, const std::string& where) {
  const JsonReader run(settled, where + ".run.");
  constexpr Word<Run (*)(const JsonReader&)> kinds[] = {
      {"planted", [](const JsonReader& reader) -> Run { return read_planted(reader); }},
      {"theorem", [](const JsonReader& reader) -> Run { return read_theorem(reader); }},
      {"agents", [](const JsonReader& reader) -> Run { return read_agents(reader); }},
      {"tolerance", [](const JsonReader& reader) -> Run { return read_tolerance(reader); }},
      {"exponents", [](const JsonReader& reader) -> Run { return read_exponents(reader); }},
      {"rounds", [](const JsonReader& reader) -> Run { return read_rounds(reader); }},
      {"promise", [](const JsonReader& reader) -> Run { return read_promise(reader); }},
      {"graph", [](const JsonReader& reader) -> Run { return read_graph(reader); }},
      {"budget", [](const JsonReader& reader) -> Run { return read_budget(reader); }},
      {"solve", [](const JsonReader& reader) -> Run { return read_solve(reader); }},
      {"recorded", [](const JsonReader& reader) -> Run { return read_recorded(reader); }}};
  return choice(run, "kind", "planted", kinds)(run);
}

const json nothing = json::object();

const json& object_at(const JsonReader& reader, std::string_view key) {
  if (!reader.has(key)) return nothing;
  if (!reader.at(key).is_object()) reader.refuse(key, "an object");
  return reader.at(key);
}

const json& list_at(const JsonReader& reader, std::string_view key) {
  if (!reader.has(key)) reader.miss(key, "a list");
  if (!reader.at(key).is_array()) reader.refuse(key, "a list");
  return reader.at(key);
}

// What the whole says, with what a part of it says instead.
json with(json whole, const json& part) {
  whole.merge_patch(part);
  return whole;
}

Axis read_axis(const json& axes, std::string_view name, std::string_view scale, const std::string& where) {
  const JsonReader both(axes, where + ".axes.");
  constexpr std::string_view known_axes[] = {"x", "y"};
  both.require_keys(known_axes);
  const JsonReader axis(object_at(both, name), fmt::format("{}.axes.{}.", where, name));
  constexpr std::string_view known[] = {"label", "scale", "low", "high"};
  axis.require_keys(known);
  const Axis read{.label = axis.text("label", name == "x" ? "iteration t" : "sin θₖ"),
                  .logarithmic = choice(axis, "scale", scale, scales),
                  .low = axis.optional_real("low"),
                  .high = axis.optional_real("high")};
  if (read.logarithmic && read.low && !(*read.low > 0)) axis.refuse("low", "positive on a logarithmic scale");
  if (read.low && read.high && !(*read.low < *read.high)) axis.refuse("high", "above low");
  return read;
}

PanelSpec read_panel(const JsonReader& panel, const json& run, const json& axes) {
  constexpr std::string_view known[] = {"name", "title", "against", "axes", "run", "curves"};
  panel.require_keys(known);
  const std::string where = panel.where().substr(0, panel.where().size() - 1);
  const json panel_axes = with(axes, object_at(panel, "axes"));
  PanelSpec spec{.name = panel.text("name"),
                 .title = panel.text("title"),
                 .against = choice(panel, "against", "iterations", abscissae),
                 .x = read_axis(panel_axes, "x", "linear", where),
                 .y = read_axis(panel_axes, "y", "log", where),
                 .curves = {}};
  const json panel_run = with(run, object_at(panel, "run"));
  const json& curves = list_at(panel, "curves");
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const std::string curve_where = fmt::format("{}.curves[{}]", where, c);
    if (!curves[c].is_object()) throw DataError(curve_where + ": must be an object");
    const JsonReader curve(curves[c], curve_where + ".");
    constexpr std::string_view parts[] = {"name", "run", "parameter"};
    curve.require_keys(parts);
    spec.curves.push_back({.name = curve.text("name"),
                           .run = read_run(with(panel_run, object_at(curve, "run")), curve_where),
                           .parameter = curve.real("parameter", 0)});
  }
  return spec;
}

// A word that files bear.
std::string file_word(const JsonReader& reader, std::string_view key) {
  const std::string word = reader.text(key);
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != word.npos || word.starts_with('-'))
    reader.refuse(key, "a word of small letters, digits and dashes, for files bear it");
  return word;
}

TableSpec read_table(const JsonReader& table) {
  constexpr std::string_view known[] = {"name", "title", "panel", "columns"};
  table.require_keys(known);
  TableSpec spec{
      .name = file_word(table, "name"), .title = table.text("title"), .panel = table.text("panel"), .columns = {}};
  const json& columns = list_at(table, "columns");
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string where = fmt::format("{}columns[{}]", table.where(), c);
    if (!columns[c].is_object()) throw DataError(where + ": must be an object");
    const JsonReader column(columns[c], where + ".");
    constexpr std::string_view parts[] = {"label", "fact"};
    column.require_keys(parts);
    spec.columns.push_back({.label = column.text("label"), .fact = column.text("fact")});
  }
  return spec;
}

std::optional<Departure> read_departure(const JsonReader& claim) {
  if (!claim.has("departure")) return std::nullopt;
  const JsonReader departure(object_at(claim, "departure"), claim.where() + "departure.");
  constexpr std::string_view known[] = {"because", "at_least", "at_most"};
  departure.require_keys(known);
  return Departure{.because = departure.text("because"),
                   .at_least = departure.optional_real("at_least"),
                   .at_most = departure.optional_real("at_most")};
}

constexpr Word<std::string_view> bounded_by[] = {
    {"theorem", "theorem"}, {"definition", "definition"}, {"rounding", "rounding"}};

constexpr Word<std::string_view> spoken_of[] = {{"amazon0302", "amazon0302"}, {"generated", "generated"}};

Claim read_claim(const JsonReader& claim) {
  constexpr std::string_view known[] = {"name",    "says",      "panel",    "measure",   "curves",
                                        "level",   "at",        "fact",     "over_fact", "at_least",
                                        "at_most", "departure", "measured", "bound_by",  "of"};
  claim.require_keys(known);
  Claim read{.name = claim.text("name"),
             .says = claim.text("says"),
             .panel = claim.text("panel"),
             .measure = claim.text("measure"),
             .curves = {},
             .level = claim.real("level", Claim{}.level),
             .at = claim.optional_real("at"),
             .fact = claim.text("fact", ""),
             .over_fact = claim.text("over_fact", ""),
             .at_least = claim.optional_real("at_least"),
             .at_most = claim.optional_real("at_most"),
             .departure = read_departure(claim),
             .measured = claim.optional_real("measured"),
             .bound_by = claim.has("bound_by") ? std::string(choice(claim, "bound_by", "", bounded_by)) : "",
             .of = claim.has("of") ? std::string(choice(claim, "of", "", spoken_of)) : ""};
  if (!claim.has("curves")) return read;
  for (const json& curve : list_at(claim, "curves")) {
    if (!curve.is_string()) claim.refuse("curves", "a list of names");
    read.curves.push_back(curve.get<std::string>());
  }
  return read;
}

std::vector<std::uint64_t> read_seeds(const JsonReader& top) {
  std::vector<std::uint64_t> seeds;
  for (const json& seed : list_at(top, "seeds")) {
    if (!seed.is_number_unsigned()) top.refuse("seeds", "a list of whole numbers in [0, 2^64)");
    seeds.push_back(seed.get<std::uint64_t>());
  }
  return seeds;
}

}  // namespace

ExperimentFile parse_experiment(std::string_view text, std::string_view name, bool quick) {
  json whole = parse_json(text, name);
  if (!whole.is_object()) throw DataError(fmt::format("{}: must be a JSON object", name));
  const JsonReader as_written(whole, fmt::format("{}: ", name));
  const json patch = object_at(as_written, "quick");
  if (quick) whole.merge_patch(patch);
  whole.erase("quick");

  const JsonReader top(whole, fmt::format("{}: ", name));
  constexpr std::string_view known[] = {"name", "title",  "caption", "seeds", "axes",
                                        "run",  "panels", "tables",  "claims"};
  top.require_keys(known);
  ExperimentFile file{.experiment = {.name = file_word(top, "name"),
                                     .title = top.text("title"),
                                     .caption = top.text("caption", ""),
                                     .seeds = read_seeds(top),
                                     .panels = {},
                                     .tables = {},
                                     .claims = {}},
                      .settled = whole.dump(2)};
  const auto each = [&](std::string_view key, auto read) {
    const json& list = list_at(top, key);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string where = fmt::format("{}: {}[{}]", name, key, i);
      if (!list[i].is_object()) throw DataError(where + ": must be an object");
      read(JsonReader(list[i], where + "."));
    }
  };
  const json& run = object_at(top, "run");
  const json& axes = object_at(top, "axes");
  each("panels", [&](const JsonReader& panel) { file.experiment.panels.push_back(read_panel(panel, run, axes)); });
  if (top.has("tables"))
    each("tables", [&](const JsonReader& table) { file.experiment.tables.push_back(read_table(table)); });
  if (top.has("claims"))
    each("claims", [&](const JsonReader& claim) { file.experiment.claims.push_back(read_claim(claim)); });
  return file;
}

ExperimentFile read_experiment(const std::filesystem::path& path, bool quick) {
  return parse_experiment(io::read_whole(path, longest_json), path.string(), quick);
}

}  // namespace hearsay::app
