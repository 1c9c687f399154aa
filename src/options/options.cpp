// From the text of an option to its value. Every message names the option, the value and the rule.
#include "hearsay/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

#include "hearsay/error.hpp"

namespace hearsay {

namespace {

// One legal word of an option and what it means; British and American spellings may both be listed.
template <class T>
struct Word {
  std::string_view text;
  T value;
};

[[noreturn]] void refuse(std::string_view name, std::string_view text, std::string_view rule) {
  throw InvalidArgument(fmt::format("{} = {}: must be {}", name, text, rule));
}

constexpr Word<Precision> precisions[] = {{"double", Precision::full}, {"single", Precision::single},
                                          {"mixed", Precision::mixed}, {"auto", Precision::automatic},
                                          {"tf32", Precision::tf32},   {"fp16", Precision::fp16}};

template <class T, std::size_t N>
[[noreturn]] void refuse_word(std::string_view name, std::string_view text, const Word<T> (&words)[N]) {
  std::vector<std::string_view> known;
  for (const auto& word : words) known.push_back(word.text);
  refuse(name, text, std::string("one of ") + std::string(find_option(name).range) + did_you_mean(text, known));
}

template <class T, std::size_t N>
const T* find_word(std::string_view text, const Word<T> (&words)[N]) {
  for (const auto& word : words)
    if (word.text == text) return &word.value;
  return nullptr;
}

template <class T, std::size_t N>
T choose(std::string_view name, std::string_view text, const Word<T> (&words)[N]) {
  if (const T* value = find_word(text, words)) return *value;
  refuse_word(name, text, words);
}

bool reads_as_number(std::string_view text) {
  double value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

void set_momentum(SolveSettings& settings, std::string_view text) {
  constexpr Word<Momentum::Rule> words[] = {{"auto", Momentum::Rule::automatic},
                                            {"paper", Momentum::Rule::paper},
                                            {"optimal", Momentum::Rule::fixed},
                                            {"none", Momentum::Rule::none}};
  settings.optimal_momentum = text == "optimal";
  if (const auto* rule = find_word(text, words))
    settings.power.momentum = {*rule, 0};
  else if (reads_as_number(text))
    settings.power.momentum = Momentum::fixed(parse_real("momentum", text));
  else
    refuse_word("momentum", text, words);
}

void set_noise(SolveSettings& settings, std::string_view text) {
  using Kind = NoiseChoice::Kind;
  constexpr Word<Kind> words[] = {
      {"none", Kind::none}, {"gaussian", Kind::gaussian}, {"sphere", Kind::sphere}, {"adversarial", Kind::adversarial}};
  const auto colon = text.find(':');
  const std::string_view model = text.substr(0, colon);
  const Kind* kind = find_word(model, words);
  if (kind == nullptr) refuse_word("noise", model, words);
  if ((*kind == Kind::none) != (colon == std::string_view::npos))
    refuse("noise", text, fmt::format("one of {}", find_option("noise").range));
  settings.noise = {*kind, *kind == Kind::none ? 0.0 : parse_real("noise level", text.substr(colon + 1))};
  if (!(settings.noise.level >= 0)) refuse("noise level", text.substr(colon + 1), "finite and not negative");
}

void set_rank(SolveSettings& settings, std::string_view text) {
  settings.rank_rule = {};
  if (text == "mle") {
    settings.rank_rule.kind = RankRule::Kind::mle;
    return;
  }
  if (text.find('.') == text.npos && text.find('e') == text.npos) {
    settings.power.rank = parse_integer("rank", text, 1);
    return;
  }
  double share = 0;
  if (reads_as_number(text)) share = parse_real("rank", text);
  if (!(share > 0 && share < 1))
    refuse("rank", text, "a whole number of at least 1, a share of the variance between 0 and 1, or mle");
  settings.rank_rule = {RankRule::Kind::share, share};
}

// What each option of the solver does with its text.
struct Setter {
  std::string_view name;
  void (*set)(SolveSettings&, std::string_view text);
};

constexpr std::int64_t most_columns = std::int64_t{1} << 31;  // far above any block; sums with it stay whole numbers

constexpr Setter setters[] = {
    {"rank", set_rank},
    {"which",
     [](SolveSettings& s, std::string_view text) {
       constexpr Word<Which> words[] = {{"LA", Which::largest},   {"SA", Which::smallest}, {"LM", Which::magnitude},
                                        {"BE", Which::both_ends}, {"la", Which::largest},  {"sa", Which::smallest},
                                        {"lm", Which::magnitude}, {"be", Which::both_ends}};
       if (text == "SM")
         refuse("which", text,
                "one of LA|SA|LM|BE: eigenvalues near zero lie inside of the spectrum, and products alone do not find "
                "them; of a matrix without negative eigenvalues they are SA");
       s.power.which = choose("which", text, words);
     }},
    {"method",
     [](SolveSettings& s, std::string_view text) {
       using Choice = std::pair<std::optional<SolveMethod>, bool>;  // and whether it is plain
       constexpr Word<Choice> words[] = {
           {"auto", {std::nullopt, false}},          {"anpm", {SolveMethod::anpm, false}},
           {"npm", {SolveMethod::anpm, true}},       {"krylov", {SolveMethod::krylov, false}},
           {"direct", {SolveMethod::direct, false}}, {"averaged", {SolveMethod::averaged, false}}};
       std::tie(s.power.method, s.plain) = choose("method", text, words);
     }},
    {"momentum", set_momentum},
    {"damping",
     [](SolveSettings& s, std::string_view text) {
       constexpr Word<std::optional<Damping>> words[] = {{"auto", std::nullopt},
                                                         {"centred", Damping::centred},
                                                         {"centered", Damping::centred},
                                                         {"symmetric", Damping::symmetric}};
       s.power.damping = choose("damping", text, words);
     }},
    {"tolerance",
     [](SolveSettings& s, std::string_view text) {
       s.power.tolerance = parse_real("tolerance", text);
       if (!(*s.power.tolerance > 0)) refuse("tolerance", text, "finite and positive");
     }},
    {"accuracy",
     [](SolveSettings& s, std::string_view text) {
       const double accuracy = parse_real("accuracy", text);
       if (!(accuracy >= 0 && accuracy < 1)) refuse("accuracy", text, "at least 0 and below 1");
       s.power.accuracy = accuracy > 0 ? std::optional(accuracy) : std::nullopt;
     }},
    {"certify",
     [](SolveSettings& s, std::string_view text) {
       constexpr Word<Certify> words[] = {
           {"none", Certify::none}, {"residual", Certify::residual}, {"full", Certify::full}};
       s.power.certify = choose("certify", text, words);
     }},
    {"products",
     [](SolveSettings& s, std::string_view text) { s.power.product_budget = parse_integer("products", text, 1); }},
    {"turn",
     [](SolveSettings& s, std::string_view text) {
       constexpr Word<std::optional<Turning>> words[] = {{"auto", std::nullopt},
                                                         {"none", Turning::none},
                                                         {"signs", Turning::signs},
                                                         {"rotations", Turning::rotations}};
       s.power.turning = choose("turn", text, words);
     }},
    {"noise-norm",
     [](SolveSettings& s, std::string_view text) {
       s.power.noise_norm = parse_real("noise-norm", text);
       require(*s.power.noise_norm >= 0, fmt::format("noise-norm = {}: must be finite and at least 0", text));
     }},
    {"max-iterations",
     [](SolveSettings& s, std::string_view text) {
       s.power.max_iterations = parse_integer("max-iterations", text, 0);
     }},
    {"oversample",
     [](SolveSettings& s, std::string_view text) {
       s.power.oversample.reset();
       if (text != "auto") s.power.oversample = parse_integer("oversample", text, 0);
       require(s.power.oversample.value_or(0) <= most_columns,
               fmt::format("oversample = {}: must be at most {}", text, most_columns));
     }},
    {"qr-every",
     [](SolveSettings& s, std::string_view text) {
       s.power.qr_every.reset();
       if (text != "auto") s.power.qr_every = parse_integer("qr-every", text, 1);
     }},
    {"cooldown",
     [](SolveSettings& s, std::string_view text) { s.power.cooldown = parse_integer("cooldown", text, 0); }},
    {"seed", [](SolveSettings& s,
                std::string_view text) { s.power.seed = static_cast<std::uint64_t>(parse_integer("seed", text, 0)); }},
    {"precision",
     [](SolveSettings& s, std::string_view text) {
       if (text == "fp8")
         refuse(
             "precision", text,
             "fp16 or more: products of fp8 are not built, because the half-read product of fp16 reads as little of a "
             "matrix and rounds a hundred times less");
       s.precision = choose("precision", text, precisions);
     }},
    {"noise", set_noise},
    {"noise-seed",
     [](SolveSettings& s, std::string_view text) {
       s.noise_seed = static_cast<std::uint64_t>(parse_integer("noise-seed", text, 0));
     }},
};

// The same for a decentralized one.
struct DecentralizedSetter {
  std::string_view name;
  void (*set)(DecentralizedSettings&, std::string_view text);
};

constexpr DecentralizedSetter decentralized_setters[] = {
    {"algorithm",
     [](DecentralizedSettings& s, std::string_view text) {
       constexpr Word<Algorithm> words[] = {{"depm", Algorithm::depm},
                                            {"adepm", Algorithm::adepm},
                                            {"deepca", Algorithm::deepca},
                                            {"adeepca", Algorithm::adeepca}};
       s.solver.algorithm = choose("algorithm", text, words);
     }},
    {"gossip",
     [](DecentralizedSettings& s, std::string_view text) {
       constexpr Word<GossipKind> words[] = {{"plain", GossipKind::plain},
                                             {"accelerated", GossipKind::accelerated},
                                             {"chebyshev", GossipKind::chebyshev}};
       s.solver.gossip = choose("gossip", text, words);
     }},
    {"rounds",
     [](DecentralizedSettings& s, std::string_view text) {
       s.solver.rounds.reset();
       if (text != "auto") s.solver.rounds = parse_integer("rounds", text, 1);
     }},
    {"message-precision",
     [](DecentralizedSettings& s, std::string_view text) {
       constexpr Word<MessagePrecision> words[] = {{"double", MessagePrecision::real64},
                                                   {"single", MessagePrecision::real32},
                                                   {"bfloat16", MessagePrecision::bfloat16}};
       s.precision = choose("message-precision", text, words);
     }},
    {"tolerance",
     [](DecentralizedSettings& s, std::string_view text) {
       s.solver.tolerance = parse_real("tolerance", text);
       if (!(s.solver.tolerance >= 0)) refuse("tolerance", text, "finite and not negative");
     }},
};

}  // namespace

bool set_option(SolveSettings& settings, std::string_view name, std::string_view text) {
  for (const Setter& setter : setters)
    if (setter.name == name) return setter.set(settings, text), true;
  find_option(name);  // an unknown name is an error; a known one is the caller's
  return false;
}

bool set_option(DecentralizedSettings& settings, std::string_view name, std::string_view text) {
  for (const DecentralizedSetter& setter : decentralized_setters)
    if (setter.name == name) return setter.set(settings, text), true;
  find_option(name);
  return false;
}

Missing missing_policy(std::string_view text) {
  constexpr Word<Missing> words[] = {
      {"refuse", Missing::refuse}, {"drop-rows", Missing::drop_rows}, {"mean", Missing::mean}, {"em", Missing::em}};
  return choose("missing", text, words);
}

DecentralizedOptions settle(const DecentralizedSettings& settings, const SolveSettings& solve) {
  require(
      solve.rank_rule.kind == RankRule::Kind::count,
      "rank: must be a number here; a share of the variance, or mle, is for the components of samples in one place");
  DecentralizedOptions options = settings.solver;
  options.rank = solve.power.rank;
  options.max_iterations = iteration_limit(solve.power);
  options.oversample = solve.power.oversample;
  options.momentum = solve.power.momentum;
  options.damping = solve.power.damping;
  options.seed = solve.power.seed;
  return options;
}

namespace {

// What an end of the spectrum other than the leading one does not go with.
void require_end(const SolveSettings& settings) {
  const PowerOptions& power = settings.power;
  const char* which = name(power.which);
  if (power.which == Which::largest) return;
  require(!settings.optimal_momentum && power.momentum.rule != Momentum::Rule::fixed,
          fmt::format("which = {}: a momentum given as a number, or as optimal, is that of LA; leave `momentum` out",
                      which));
  require(settings.noise.kind != NoiseChoice::Kind::adversarial,
          fmt::format("which = {}: adversarial noise is made for LA; take another `noise`", which));
  if (power.which == Which::smallest) return;
  const SolveMethod method = power.method.value_or(SolveMethod::krylov);
  require(
      power.momentum.rule == Momentum::Rule::automatic &&
          (method == SolveMethod::krylov || method == SolveMethod::direct),
      fmt::format(
          "which = {}: takes both ends from one Krylov space, or directly; leave `method` and `momentum` out, or use "
          "`which` LA or SA",
          which));
  require(settings.noise.kind == NoiseChoice::Kind::none,
          fmt::format("which = {}: needs exact products; leave `noise` out, or use `which` LA or SA", which));
  require(settings.precision != Precision::mixed,
          fmt::format("which = {}: is found in one precision; use `precision` double or single, or `which` LA or SA",
                      which));
}

}  // namespace

const char* name(Precision precision) {
  for (const auto& word : precisions)
    if (word.value == precision) return word.text.data();
  return "unknown";
}

DeviceChoice device_choice(std::string_view text) {
  if (text == "cpu") return {};
  DeviceChoice choice{.on_device = true};
  std::string_view device = text;
  if (device.ends_with(",cpu")) {
    choice.or_here = true;
    device.remove_suffix(4);
  }
  if (device == "cuda") return choice;
  if (!device.starts_with("cuda:"))
    refuse("device", text, "cpu, cuda or cuda:N, and ,cpu after it where the processor is to do instead");
  constexpr std::int64_t most = std::int64_t{1} << 20;
  choice.number = static_cast<int>(std::min(parse_integer("device", std::string(device.substr(5)), 0), most));
  return choice;
}

void settle(SolveSettings& settings) {
  PowerOptions& power = settings.power;
  if (settings.plain) {
    require(power.momentum.rule == Momentum::Rule::automatic || power.momentum.rule == Momentum::Rule::none,
            "method = npm: has no momentum; leave `momentum` out, or use `method` anpm");
    power.momentum = Momentum::none();
  }
  if (power.method == SolveMethod::krylov || power.method == SolveMethod::direct) {
    const char* method = name(*power.method);
    require(settings.noise.kind == NoiseChoice::Kind::none,
            fmt::format("method = {}: needs exact products; leave `noise` out, or use `method` anpm", method));
    require(power.momentum.rule == Momentum::Rule::automatic && !settings.optimal_momentum,
            fmt::format("method = {}: has no momentum; leave `momentum` out, or use `method` anpm", method));
  }
  require(
      power.method != SolveMethod::direct || settings.precision != Precision::mixed,
      "method = direct: finds its vectors in one precision; use `precision` double or single, or leave `method` out");
  require_end(settings);
  power.tolerance = settings.precision == Precision::single ? tolerance_of<float>(power) : tolerance_of<double>(power);
}

std::string in_words(std::string_view message,
                     const std::function<std::optional<std::string>(std::string_view name)>& spell) {
  constexpr char mark = '`';
  std::string said;
  while (!message.empty()) {
    const std::size_t begin = message.find(mark), end = message.find(mark, std::min(begin, message.size() - 1) + 1);
    const bool marked = begin != message.npos && end != message.npos;
    const auto word = marked ? spell(message.substr(begin + 1, end - begin - 1)) : std::nullopt;
    // What is no option may end where the next one begins: only its first mark is behind us.
    const std::size_t behind = word ? end + 1 : marked ? begin + 1 : message.size();
    said += word ? message.substr(0, begin) : message.substr(0, behind);
    if (word) said += *word;
    message.remove_prefix(behind);
  }
  return said;
}

}  // namespace hearsay
