// hearsay::cuda from outside: it solves on a device, or says by an exception of ours why there is none.
#include <hearsay/cuda.hpp>
#include <hearsay/device_error.hpp>
#include <hearsay/solve.hpp>

#include <cmath>
#include <iostream>

int main() {
  hearsay::Block<double> A = hearsay::Block<double>::Zero(64, 64);
  for (hearsay::Index i = 0; i < 64; ++i) A(i, i) = 1.0 / static_cast<double>(i + 1);
  hearsay::Request request;
  request.settings.power.rank = 2;
  request.settings.precision = hearsay::Precision::automatic;
  try {
    const auto engines = hearsay::cuda::engines(0);
    request.engines = engines.get();
    const auto found = hearsay::solve_matrix<double>(hearsay::borrow(A), request, {.positive_semidefinite = true});
    std::cout << found.climb->where << ": " << found.power.eigenvalues.transpose() << '\n';
    return std::abs(found.power.eigenvalues(1) - 0.5) <= 1e-6 ? 0 : 1;
  } catch (const hearsay::DeviceError& error) {
    std::cout << error.what() << '\n';
    return hearsay::cuda::devices().empty() ? 0 : 1;
  }
}
