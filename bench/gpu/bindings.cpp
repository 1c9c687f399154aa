// hearsay::cuda for run.py, as plain functions: engines on numbers that lie on the device already, and solves of them.
#include <hearsay/cuda.hpp>
#include <hearsay/error.hpp>
#include <hearsay/ladder.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

thread_local std::string last_error;

template <class Function>
auto guarded(const Function& function) -> decltype(function()) {
  try {
    last_error.clear();
    return function();
  } catch (const std::exception& error) {
    last_error = error.what();
    return {};
  }
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The report in words: the word of the solve, its numbers, and what each rung did.
std::string text_of(const hearsay::LadderResult& result, double seconds) {
  char line[256];
  std::snprintf(line, sizeof line,
                "{\"status\":\"%s\",\"ms\":%.6g,\"estimate\":%.6g,\"bound\":%.6g,\"passes\":%ld,\"rungs\":[",
                name(result.status), 1e3 * seconds,
                std::isfinite(result.certificate.sin_theta_estimate) ? result.certificate.sin_theta_estimate : 1.0,
                std::min(1.0, result.certificate.sin_theta_bound), static_cast<long>(result.passes));
  std::string text = line;
  for (const auto& rung : result.rungs) {
    std::snprintf(line, sizeof line,
                  "%s{\"rung\":\"%s\",\"corrects\":%d,\"double\":%d,\"passes\":%ld,\"ms\":%.6g,\"sine\":%.6g,"
                  "\"rounding\":%.6g,\"floor\":%d}",
                  text.back() == '[' ? "" : ",", name(rung.rung), rung.corrects, rung.in_double,
                  static_cast<long>(rung.passes), 1e3 * rung.seconds, rung.sin_theta, rung.rounding, rung.at_floor);
    text += line;
  }
  return text + "]}";
}

}  // namespace

extern "C" {

const char* bench_error() { return last_error.c_str(); }

void* bench_dense(const void* A, long d, int in_double, int psd) {
  return guarded([&]() -> void* {
    return (in_double ? hearsay::cuda::dense_engine_on<double>(0, static_cast<const double*>(A), d, psd)
                      : hearsay::cuda::dense_engine_on<float>(0, static_cast<const float*>(A), d, psd))
        .release();
  });
}
void* bench_covariance(const float* M, long rows, long columns, int centre) {
  return guarded([&]() -> void* {
    return hearsay::cuda::covariance_engine_on<float>(0, M, rows, columns, centre).engine.release();
  });
}
void* bench_sparse(const long* start, const int* columns, const float* values, long d, long entries, int psd) {
  return guarded([&]() -> void* {
    const hearsay::CsrView<float> A{d,
                                    d,
                                    {reinterpret_cast<const std::int64_t*>(start), static_cast<std::size_t>(d + 1)},
                                    {columns, static_cast<std::size_t>(entries)},
                                    {values, static_cast<std::size_t>(entries)}};
    return hearsay::cuda::sparse_engine<float>(0, A, psd).release();
  });
}
void bench_free(void* engine) { delete static_cast<hearsay::Engine*>(engine); }

// The basis stays on the device: its address, columns and precision. `afresh`: with what is made of the matrix
// beforehand.
const void* bench_solve(void* engine, long rank, double accuracy, const char* precision, unsigned long seed, int afresh,
                        int oversample, char* text, long room, long* columns, int* in_double) {
  return guarded([&]() -> const void* {
    auto& there = *static_cast<hearsay::Engine*>(engine);
    hearsay::LadderOptions options{.precision = hearsay::product_precision(precision),
                                   .rank = rank,
                                   .accuracy = accuracy,
                                   .seed = seed,
                                   .certify = hearsay::Certify::residual,
                                   .load_basis = false};
    if (oversample > 0) options.oversample = oversample;
    const double began = now();
    if (afresh) there.renew();
    const auto result = hearsay::climb(there, options);
    const auto block = hearsay::cuda::block_on_device(there, result.place);
    const std::string said = text_of(result, now() - began);
    std::snprintf(text, static_cast<std::size_t>(room), "%s", said.c_str());
    *columns = block.columns;
    *in_double = block.in_double;
    return block.data;
  });
}
// The same with a look for what was missed, and the basis on the host.
int bench_certified(void* engine, long rank, double accuracy, unsigned long seed, double* basis, char* text,
                    long room) {
  return guarded([&]() -> int {
    auto& there = *static_cast<hearsay::Engine*>(engine);
    const double began = now();
    const auto result = hearsay::climb(there, {.rank = rank, .accuracy = accuracy, .seed = seed});
    std::snprintf(text, static_cast<std::size_t>(room), "%s", text_of(result, now() - began).c_str());
    std::copy(result.basis.data(), result.basis.data() + result.basis.size(), basis);
    return 1;
  });
}

// One verb, many times: milliseconds each. Products of rung 0 to 3; 4: a gram; 5: a step's combination and QR; 6: how
// far a product is off.
double bench_verb(void* engine, int verb, long columns, int in_double, int times) {
  return guarded([&]() -> double {
    auto& there = *static_cast<hearsay::Engine*>(engine);
    there.prepare(columns, in_double, 4, 2);
    for (int b = 0; b < 4; ++b) there.fill_normal(static_cast<std::uint64_t>(b) + 1, b);
    there.orthonormalise(0, {}, 2);
    there.orthonormalise(2, {}, 2);
    hearsay::Small<double> H;
    const auto once = [&] {
      if (verb <= 3) there.multiply(static_cast<hearsay::Rung>(verb), 0, 1);
      if (verb == 4) there.gram(0, 1, 0);
      if (verb == 5) {
        there.combine(1, 1, 0.01, 0, 0.0001, 2);
        there.orthonormalise(1, {0}, 1);
      }
      if (verb == 6) (void)there.product_error(0, 1);
    };
    for (int i = 0; i < 3; ++i) once();
    there.gram(0, 1, 1);
    there.load_small(1, H);
    const double began = now();
    for (int i = 0; i < times; ++i) once();
    there.gram(0, 1, 1);
    there.load_small(1, H);
    return 1e3 * (now() - began) / times;
  });
}
}
