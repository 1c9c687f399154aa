// hearsay reproduce, hearsay experiment: experiments run, drawn, and held against what is claimed of them.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "commands/commands.hpp"
#include "commands/job.hpp"
#include "commands/terminal.hpp"
#include "drawings/figure.hpp"
#include "files/delivery.hpp"
#include "files/experiment_data.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "files/run_files.hpp"
#include "formats/embedded_experiments.hpp"
#include "formats/escapes.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/threads.hpp"
#include "reports/figure_report.hpp"
#include "reports/machine.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void make_directory(const fs::path& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  require(!problem && fs::is_directory(path),
          fmt::format("out = {}: must be a directory, or a place for one", path.string()));
}

// rsvg-convert, if it is there: 0 for a picture made.
int convert(const fs::path& svg, const char* format) {
  fs::path target = svg;
  target.replace_extension(format);
  std::string words[] = {
      "rsvg-convert", "--format",      format,      "--zoom", format == std::string_view("png") ? "2" : "1",
      "--output",     target.string(), svg.string()};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, "rsvg-convert", nullptr, nullptr, arguments.data(), environ) != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : failed;
}

class Pictures {
 public:
  void make(const fs::path& svg, Delivery& delivery) {
    for (const char* format : {"png", "pdf"}) {
      if (missing_) return;
      const int code = convert(svg, format);
      missing_ = code == 127;
      if (!missing_ && code != 0)
        delivery.fail(fmt::format("{}: rsvg-convert could not make a {} of it", svg.string(), format));
    }
  }
  bool missing() const { return missing_; }

 private:
  bool missing_ = false;
};

std::optional<Reproduced> reproduce(ExperimentFile file, ProgressLine& progress, const InterruptGuard& interrupt) {
  const auto start = Clock::now();
  auto outcome = experiments::run(file.experiment, threads(), [&](std::size_t done, std::size_t all) {
    if (progress.due()) progress.show(fmt::format("{}: {} of {} runs", file.experiment.name, done, all));
    return !interrupt.interrupted();
  });
  if (!outcome) return std::nullopt;
  return Reproduced{.file = std::move(file), .outcome = std::move(*outcome), .seconds = seconds_since(start)};
}

void write_figure(const Reproduced& done, const fs::path& directory, Pictures& pictures, Delivery& delivery) {
  const std::string& name = done.file.experiment.name;
  const fs::path folder = directory / name;
  delivery.attempt([&folder] { make_directory(folder); });
  delivery.text(folder / (name + ".csv"), curves_csv(done));
  delivery.text(folder / (name + ".json"), done.file.settled + "\n");
  for (const experiments::TableSpec& table : done.file.experiment.tables)
    delivery.text(folder / (table.name + ".csv"), table_csv(table, done));
  const fs::path svg = folder / (name + ".svg");
  delivery.text(svg, figure_svg(drawings(done.file.experiment, done.outcome), done.file.experiment.title));
  pictures.make(svg, delivery);
}

std::string verdict_lines(const Reproduced& done) {
  std::string text = fmt::format("{}: {}\n", done.file.experiment.name, terminal_safe(done.file.experiment.title));
  for (const experiments::Verdict& verdict : done.outcome.verdicts)
    text += fmt::format("  {:<8} {:<34} {:>10.4g}  ({}{})\n",
                        verdict.kind == experiments::Verdict::Kind::fails ? "FAILS" : verdict_word(verdict),
                        terminal_safe(verdict.claim.name), verdict.value, bounds_text(verdict.claim),
                        verdict.claim.untested.empty() ? "" : "; not tested: " + verdict.claim.untested);
  return text;
}

Circumstances circumstances(const Job& job, double seconds) {
  std::string command = "hearsay " + job.command;
  for (const std::string& input : job.inputs) command += " " + input;
  if (job.quick) command += " --quick";
  return {.command = std::move(command),
          .processor = processor(),
          .compiler = compiler(),
          .kernels = kernel_name(),
          .threads = threads(),
          .finished = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))),
          .seconds = seconds};
}

int run_all(const Job& job, std::vector<ExperimentFile> files) {
  make_directory(job.out);
  const auto start = Clock::now();
  Delivery delivery;
  Pictures pictures;
  std::vector<Reproduced> all;
  {
    ProgressLine progress(job.quiet);
    const InterruptGuard interrupt;
    for (ExperimentFile& file : files) {
      auto done = reproduce(std::move(file), progress, interrupt);
      if (!done) {
        warn(fmt::format("interrupted; {} holds the figures that were finished", job.out.string()));
        return delivery.finish(stopped_early);
      }
      write_figure(*done, job.out, pictures, delivery);
      all.push_back(std::move(*done));
    }
  }
  const Json claims = claims_json(all);
  delivery.json(job.out / "claims.json", [&claims] { return claims; });
  delivery.text(job.out / "report.html", page_html(all, circumstances(job, seconds_since(start))));

  std::string text;
  for (const Reproduced& done : all) text += verdict_lines(done);
  text += fmt::format("\n{}; see {}\n", tally_text(all), terminal_safe((job.out / "report.html").string()));
  if (pictures.missing()) text += "no PNG and PDF: rsvg-convert is not there (Debian: librsvg2-bin)\n";
  delivery.print(text);
  return delivery.finish(claims["fail"] == 0 ? done : stopped_early);
}

// What a figure leaves behind, by what it is called in messages.
std::vector<RunFile> figure_files(const experiments::Experiment& experiment, const fs::path& directory) {
  const std::string& name = experiment.name;
  const fs::path folder = directory / name;
  std::vector<RunFile> files;
  for (const char* ending : {".csv", ".json", ".svg", ".png", ".pdf"})
    files.push_back({fmt::format("experiment {}", name), folder / (name + ending)});
  for (const experiments::TableSpec& table : experiment.tables)
    files.push_back({fmt::format("table {} of {}", table.name, name), folder / (table.name + ".csv")});
  return files;
}

// The data sets that may be read.
std::vector<RunFile> data_set_files() {
  std::vector<RunFile> files;
  try {
    for (const io::Dataset& dataset : io::datasets())
      for (const fs::path& path : io::locate(dataset, data_directory()).paths)
        if (is_there(path)) files.push_back({fmt::format("data set {}", dataset.name), path});
  } catch (const InvalidArgument&) {  // no directory for data, so none is read
  }
  return files;
}

void check_files(const Job& job, const std::vector<std::string>& inputs, const std::vector<ExperimentFile>& files) {
  RunFiles known;
  for (const std::string& input : inputs) known.reads("input", input);
  for (const auto& [option, path] : data_set_files()) known.reads(option, path);
  for (const char* page : {"claims.json", "report.html"}) known.writes("out", job.out / page);
  for (const ExperimentFile& file : files)
    for (const auto& [option, path] : figure_files(file.experiment, job.out)) known.writes(option, path);
}

int list_experiments() {
  for (const EmbeddedExperiment& embedded : embedded_experiments())
    fmt::print("{:<16} {}\n", embedded.name, parse_experiment(embedded.text, embedded.name, false).experiment.title);
  return done;
}

int run_reproduce(const Job& job) {
  if (job.inputs == std::vector<std::string>{"list"}) return list_experiments();
  std::vector<std::string_view> known = {"all", "list"};
  for (const EmbeddedExperiment& embedded : embedded_experiments()) known.push_back(embedded.name);
  for (const std::string& name : job.inputs)
    require(std::find(known.begin(), known.end(), name) != known.end() && (name != "list" || job.inputs.size() == 1),
            fmt::format("{}: must be one of {}{}", name, fmt::join(known, ", "), did_you_mean(name, known)));
  const bool all = std::find(job.inputs.begin(), job.inputs.end(), "all") != job.inputs.end();
  const auto asked_for = [&job](std::string_view name) {
    return std::find(job.inputs.begin(), job.inputs.end(), name) != job.inputs.end();
  };
  std::vector<ExperimentFile> parsed, files;
  for (const EmbeddedExperiment& embedded : embedded_experiments())
    if (all || asked_for(embedded.name)) parsed.push_back(parse_experiment(embedded.text, embedded.name, job.quick));
  check_files(job, {}, parsed);
  for (ExperimentFile& file : parsed) try {
      load_data(file.experiment);
      files.push_back(std::move(file));
    } catch (const Error& error) {
      if (asked_for(file.experiment.name)) throw;
      warn(fmt::format("{} is left out: {}", file.experiment.name, error.what()));
    }
  return run_all(job, std::move(files));
}

int run_experiment(const Job& job) {
  std::vector<ExperimentFile> files;
  for (const std::string& path : job.inputs) {
    files.push_back(read_experiment(path, job.quick));
    const std::string& name = files.back().experiment.name;
    require(std::count_if(files.begin(), files.end(),
                          [&name](const ExperimentFile& file) { return file.experiment.name == name; }) == 1,
            fmt::format("{}: name = {}: must differ from those of the other files", path, name));
  }
  check_files(job, job.inputs, files);
  for (ExperimentFile& file : files) load_data(file.experiment);
  return run_all(job, std::move(files));
}

}  // namespace

void add_reproduce(CLI::App& root, Action& action) {
  add_command(root, action,
              {.name = "reproduce",
               .summary = "The paper's figures, recomputed and drawn, with its claims checked",
               .input = "WHAT",
               .input_help = "all, or experiments by name; list names them",
               .many_inputs = true,
               .footer = "Exit code 3: a claim does not hold; everything is written all the same.\n\nExamples:\n"
                         "  hearsay reproduce list\n"
                         "  hearsay reproduce all --out figures\n"
                         "  hearsay reproduce fig1 --quick",
               .options = in_experiments},
              run_reproduce);
}

void add_experiment(CLI::App& root, Action& action) {
  add_command(root, action,
              {.name = "experiment",
               .summary = "Run experiments of your own, described as data",
               .input = "FILE.json",
               .input_help = "What to run; experiments/ of the sources holds the paper's, to copy and change",
               .many_inputs = true,
               .footer = "Exit code 3: a claim does not hold; everything is written all the same.\n\nExamples:\n"
                         "  hearsay experiment my.json --out figures",
               .options = in_experiments},
              run_experiment);
}

}  // namespace hearsay::app
