#include "commands/solve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/inputs.hpp"

namespace hearsay::app {

Request request_of(const Job& job) {
  return {.settings = job.solve,
          .audit = job.audit,
          .observe_basis = false,
          .observe_steps = !job.trace.empty() || !job.report.empty(),  // which show them
          .checkpoint_every = job.checkpoint_every,
          .engines = job.engines.get()};
}

namespace {

Request with_blocks(const Job& job, Index dimension) {
  Request request = request_of(job);
  request.start = load_block(job.start, "start", dimension);
  request.reference = load_reference(job.reference, dimension, job.solve.power.rank);
  return request;
}

std::optional<io::CheckpointFile> checkpoint_of(const Job& job) {
  using Begin = io::CheckpointFile::Begin;
  if (job.checkpoint.empty()) return std::nullopt;
  return io::CheckpointFile(job.checkpoint, configuration(job), job.resume ? Begin::where_it_stopped : Begin::afresh);
}

}  // namespace

WatchedRequest::WatchedRequest(const Job& job, Index dimension)
    : request_(with_blocks(job, dimension)),
      checkpoint_(checkpoint_of(job)),
      progress_(job.quiet),
      instead_(job.instead) {
  request_.observe_with([this, tolerance = *job.solve.power.tolerance](const auto& now) {
    if (progress_.due()) progress_.show(progress_text(now.entry, tolerance));
    return !interrupt_.interrupted();
  });
  request_.warn = [](const std::string& message) { warn(message); };
  if (checkpoint_) request_.checkpoints = &*checkpoint_;
}

// "pass 2 of about 8: 37 % of the rows, 41 s left"
void WatchedRequest::show_reading(const Reading& now, const StreamPlan& plan) const {
  std::string text = fmt::format("pass {} of {}{} ({})", now.pass, plan.certain ? "" : "about ",
                                 std::max(plan.passes, now.pass), name(plan.way));
  if (plan.rows && *plan.rows > 0) {
    const double part = static_cast<double>(now.rows) / static_cast<double>(*plan.rows);
    const double all = static_cast<double>(now.pass - 1) + part;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    text += fmt::format(": {:.0f} % of the rows", 100 * part);
    if (all > 0)
      text += fmt::format(", {:.0f} s left",
                          seconds * (std::max<double>(static_cast<double>(plan.passes), all) - all) / all);
  } else {
    text += fmt::format(": {} rows", now.rows);
  }
  progress_.show(text);
}

bool WatchedRequest::goes_on(const Reading& now, const StreamPlan& plan) const {
  if (progress_.due()) show_reading(now, plan);
  return !interrupt_.interrupted();
}

void WatchedRequest::add_notes(std::vector<std::string>& notes) const {
  for (std::string& note : notes) note = in_flags(note);
  if (!instead_.empty()) notes.insert(notes.begin(), instead_);
  if (interrupt_.interrupted()) notes.insert(notes.begin(), "interrupted: this is the best basis so far");
}

}  // namespace hearsay::app
