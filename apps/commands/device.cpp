#include "commands/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "hearsay/device_error.hpp"
#include "hearsay/error.hpp"
#include "hearsay/ladder.hpp"

#ifdef HEARSAY_HAS_CUDA
#include "hearsay/cuda.hpp"
#endif

namespace hearsay::app {

namespace {

// Options of a solve that say something on a device, and those that are about what goes in and out.
constexpr std::string_view known_on_device[] = {
    "rank", "accuracy",   "certify", "seed",   "oversample", "max-iterations", "device",  "product-precision",
    "psd",  "components", "json",    "report", "trace",      "quiet",          "threads", "memory"};

int number_of(const std::string& device) {
  if (device == "cuda") return 0;
  require(device.starts_with("cuda:"), fmt::format("device = {}: must be cpu, cuda or cuda:N", device));
  return static_cast<int>(std::min<std::int64_t>(parse_integer("device", device.substr(5), 0), 1 << 20));
}

#ifdef HEARSAY_HAS_CUDA
constexpr double default_accuracy = 1e-4;

template <class S>
std::unique_ptr<Engine> engine_for(const Job& job, const Block<S>& matrix) {
  return cuda::dense_engine<S>(number_of(job.device), borrow(matrix), job.psd);
}
template <class S>
std::unique_ptr<Engine> engine_for(const Job& job, const CsrMatrix<S>& matrix) {
  return cuda::sparse_engine<S>(number_of(job.device), borrow(matrix), job.psd);
}

// In words, what each rung did.
void add_notes(const LadderResult& result, const std::string& where, std::vector<std::string>& notes) {
  notes.push_back(fmt::format("computed on {}", where));
  for (const RungReport& rung : result.rungs) {
    std::string text =
        fmt::format("rung {}{}: {} products of the block, {:.3g} ms", name(rung.rung),
                    rung.corrects ? ", corrected by rounded products" : "", rung.passes, 1e3 * rung.seconds);
    if (rung.rounding > 0)
      text += fmt::format("; sine {:.2g} with rounding {:.2g} of a product{}", rung.sin_theta, rung.rounding,
                          rung.at_floor ? ", its floor" : "");
    notes.push_back(text);
  }
}

Solution<double> climbed(const Job& job, Engine& engine) {
  const PowerOptions& power = job.solve.power;
  LadderOptions options{.precision = job.product_precision,
                        .rank = power.rank,
                        .accuracy = power.accuracy.value_or(0) > 0 ? *power.accuracy : default_accuracy,
                        .oversample = power.oversample,
                        .seed = power.seed,
                        .certify = power.certify};
  if (power.max_iterations) options.max_passes = std::max<Index>(1, *power.max_iterations);
  const auto began = std::chrono::steady_clock::now();
  LadderResult result = climb(engine, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  add_notes(result, engine.facts().where, result.notes);
  return {std::move(static_cast<PowerResult<double>&>(result)), {}, seconds};
}
#endif

}  // namespace

bool check_device(const Job& job) {
  if (job.device == "cpu") {
    require(!job.given.contains("product-precision"), "product-precision: is for a device; give --device as well");
    return false;
  }
  [[maybe_unused]] const int number = number_of(job.device);
  for (const auto& [name, text] : job.given)
    require(std::find(std::begin(known_on_device), std::end(known_on_device), name) != std::end(known_on_device),
            fmt::format("--{}: says nothing on a device; leave it out, or leave out --device", name));
#ifdef HEARSAY_HAS_CUDA
  (void)cuda::require_device(number);
  return true;
#else
  throw DeviceError(
      fmt::format("device = {}: this hearsay was built without CUDA; build it with -DHEARSAY_CUDA=ON, which needs "
                  "NVIDIA's CUDA toolkit",
                  job.device));
#endif
}

Solution<double> solve_on_device([[maybe_unused]] const Job& job, [[maybe_unused]] const io::Data& data) {
#ifdef HEARSAY_HAS_CUDA
  return std::visit([&job](const auto& matrix) { return climbed(job, *engine_for(job, matrix)); }, data.matrix);
#else
  throw DeviceError("device: this hearsay was built without CUDA");
#endif
}

std::vector<std::string> describe_devices() {
#ifdef HEARSAY_HAS_CUDA
  std::string why;
  std::vector<std::string> lines;
  for (const cuda::Device& device : cuda::devices(&why))
    lines.push_back(fmt::format("cuda:{} {}, {:.0f} GB, compute capability {}.{}", device.number, device.name,
                                static_cast<double>(device.memory_bytes) / 1e9, device.major, device.minor));
  if (lines.empty()) lines.push_back(fmt::format("none ({})", why));
  return lines;
#else
  return {"none (built without CUDA)"};
#endif
}

}  // namespace hearsay::app
