#include "commands/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hearsay/error.hpp"

#ifdef HEARSAY_HAS_CUDA
#include "hearsay/cuda.hpp"
#endif

namespace hearsay::app {

namespace {

constexpr double default_accuracy = 1e-4;

// Options of a solve that say something on a device, and those that are about what goes in and out.
constexpr std::string_view known_on_device[] = {
    "rank",   "accuracy",  "certify",    "seed",    "oversample",   "max-iterations", "device",   "precision",
    "start",  "psd",       "components", "scores",  "left",         "right",          "whiten",   "center",
    "json",   "report",    "trace",      "quiet",   "threads",      "memory",         "clusters", "restarts",
    "labels", "embedding", "dataset",    "missing", "label-column", "raw-shape",      "raw-type", "largest-component"};

std::shared_ptr<EngineMaker> engines_of([[maybe_unused]] int number) {
#ifdef HEARSAY_HAS_CUDA
  return cuda::engines(number);
#else
  throw DeviceError(
      fmt::format("device = cuda:{}: this hearsay was built without CUDA; build it with -DHEARSAY_CUDA=ON, which needs "
                  "NVIDIA's CUDA toolkit",
                  number));
#endif
}

}  // namespace

void choose_device(Job& job) {
  const DeviceChoice wish = device_choice(job.device);
  if (!wish.on_device) return;
  for (const auto& [name, text] : job.given)
    require(std::find(std::begin(known_on_device), std::end(known_on_device), name) != std::end(known_on_device),
            fmt::format("--{}: says nothing on a device; leave it out, or leave out --device", name));
  const Precision precision = job.solve.precision;
  require(!wish.or_here || !job.given.contains("precision") || precision == Precision::full ||
              precision == Precision::single || precision == Precision::automatic,
          fmt::format("precision = {}: is for a device alone; leave cpu out of --device", name(precision)));
  if (!job.given.contains("precision")) job.solve.precision = Precision::automatic;
  if (!(job.solve.power.accuracy.value_or(0) > 0)) job.solve.power.accuracy = default_accuracy;
  try {
    job.engines = engines_of(wish.number);
  } catch (const DeviceError& error) {
    if (!falls_back(job, error)) throw;
  }
}

bool falls_back(Job& job, const DeviceError& error) {
  if (!device_choice(job.device).or_here) return false;
  job.engines.reset();
  job.instead = fmt::format("computed by the processor: {}", error.what());
  if (job.solve.precision == Precision::automatic) job.solve.precision = Precision::full;
  return true;
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
