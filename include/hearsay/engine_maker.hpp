// Makes engines (engine.hpp) of what a caller has: a device, as a whole solve sees it. Request::engines takes one.
#pragma once

#include <memory>
#include <string>

#include "hearsay/csr.hpp"
#include "hearsay/engine.hpp"

namespace hearsay {

/// The covariance of samples in rows: its engine, and what was found on the way.
struct CovarianceEngine {
  std::unique_ptr<Engine> engine;
  Vector<double> mean;        ///< zero where not centred
  double total_variance = 0;  ///< the trace
};

class HEARSAY_API EngineMaker {
 public:
  EngineMaker() = default;
  EngineMaker(const EngineMaker&) = delete;
  EngineMaker& operator=(const EngineMaker&) = delete;
  virtual ~EngineMaker() = default;

  /// A symmetric matrix, both triangles; an engine may borrow it.
  virtual std::unique_ptr<Engine> dense(const BorrowedBlock<double>& A, bool positive_semidefinite) = 0;
  virtual std::unique_ptr<Engine> dense(const BorrowedBlock<float>& A, bool positive_semidefinite) = 0;
  virtual std::unique_ptr<Engine> sparse(const CsrView<double>& A, bool positive_semidefinite) = 0;
  virtual std::unique_ptr<Engine> sparse(const CsrView<float>& A, bool positive_semidefinite) = 0;
  /// M'M / (m - 1) of centred rows, M'M / m of others; an engine may borrow the data.
  virtual CovarianceEngine covariance(const BorrowedBlock<double>& data, bool centre) = 0;
  virtual CovarianceEngine covariance(const BorrowedBlock<float>& data, bool centre) = 0;
};

}  // namespace hearsay
