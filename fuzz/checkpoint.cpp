#include <hearsay/io/checkpoint.hpp>
#include <hearsay/io/file.hpp>

#include <cmath>
#include <string>

#include "fuzz.hpp"

// The checksum is put right, as someone who forges a file would, so that what it guards is reached. The first byte
// chooses the number type. What is let through must be safe to go on from: shapes that fit, and no endless loops.
namespace {

template <class S>
void check_state(std::string_view body) {
  using namespace hearsay;
  const std::string sealed = std::string(body) + io::sha256_hex(body);
  const PowerState<S> state = io::parse_checkpoint<S>(sealed, "fuzz", "problem");
  const Index p = state.X.cols();
  fuzz::check(p >= 1 && p <= state.X.rows() && state.X.allFinite());
  fuzz::check(state.X_prev.rows() == state.X.rows() && state.X_prev.cols() == p && state.X_prev.allFinite());
  fuzz::check(state.R.rows() == p && state.R.cols() == p);
  fuzz::check(state.best_basis.size() == 0 || state.best_basis.rows() == state.X.rows());
  fuzz::check(state.t >= 0 && std::abs(state.exponent) <= 1022 && state.last_recheck <= state.t);
  double steps = 0;
  for (std::size_t i = 2; i < state.filter.size(); i += 4) steps += state.filter[i];
  fuzz::check(steps <= static_cast<double>(state.t));
  for (const HistoryEntry& entry : state.history) fuzz::check(entry.t <= state.t && std::isfinite(entry.noise));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return hearsay::fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    if (bytes[0] == 'f')
      check_state<float>(bytes.substr(1));
    else
      check_state<double>(bytes.substr(1));
  });
}
