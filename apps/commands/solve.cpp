#include "commands/solve.hpp"

#include "files/inputs.hpp"

namespace hearsay::app {

Request request_of(const Job& job) {
  return {.settings = job.solve, .audit = job.audit, .observe_basis = false, .checkpoint_every = job.checkpoint_every};
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
    : request_(with_blocks(job, dimension)), checkpoint_(checkpoint_of(job)), progress_(job.quiet) {
  request_.observe_with([this, tolerance = *job.solve.power.tolerance](const auto& now) {
    if (progress_.due()) progress_.show(progress_text(now.entry, tolerance));
    return !interrupt_.interrupted();
  });
  request_.warn = [](const std::string& message) { warn(message); };
  if (checkpoint_) request_.checkpoints = &*checkpoint_;
}

void WatchedRequest::add_notes(std::vector<std::string>& notes) const {
  for (std::string& note : notes) note = in_flags(note);
  if (interrupt_.interrupted()) notes.insert(notes.begin(), "interrupted: this is the best basis so far");
}

}  // namespace hearsay::app
