// What the binding files share: arrays in and out, a solve's settings, and who may stop it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/engine_maker.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/options.hpp"
#include "hearsay/power.hpp"

namespace hearsay::python {

namespace nb = nanobind;

void bind_options(nb::module_& m);
void bind_solve(nb::module_& m);
void bind_symmetric(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_network(nb::module_& m);
void bind_agent(nb::module_& m);
void bind_private(nb::module_& m);
void bind_ledger(nb::module_& m);
void bind_theory(nb::module_& m);

// ---- Arrays ---------------------------------------------------------------------------------------------------------

template <class S>
using MatrixIn = nb::ndarray<const S, nb::ndim<2>, nb::device::cpu>;
template <class T>
using VectorIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class S>
using ArrayOut = nb::ndarray<nb::numpy, S>;

/// The array's own memory. Rows must be contiguous; the step from one to the next is free.
template <class S>
BorrowedBlock<S> borrowed(const MatrixIn<S>& array) {
  const auto rows = static_cast<Index>(array.shape(0)), cols = static_cast<Index>(array.shape(1));
  const auto step = static_cast<Index>(array.stride(0));
  if (rows > 0 && ((cols > 1 && array.stride(1) != 1) || (rows > 1 && step < cols)))
    throw nb::value_error("array: the numbers of a row must lie side by side, and the rows in order");
  return {array.data(), rows, cols, Eigen::OuterStride<>(rows > 1 ? step : cols)};
}

template <class S>
Block<S> copied(const MatrixIn<S>& array) {
  return borrowed<S>(array);
}

/// Hands memory to NumPy without copying it.
template <class Matrix>
auto given(Matrix&& matrix) {
  using Owned = std::remove_cvref_t<Matrix>;
  using S = typename Owned::Scalar;
  auto* owned = new Owned(std::forward<Matrix>(matrix));
  const nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<Owned*>(pointer); });
  const auto rows = static_cast<std::size_t>(owned->rows()), cols = static_cast<std::size_t>(owned->cols());
  if constexpr (Owned::ColsAtCompileTime == 1)
    return ArrayOut<S>(owned->data(), {rows}, owner);
  else
    return ArrayOut<S>(owned->data(), {rows, cols}, owner);
}

template <class T>
ArrayOut<T> given_vector(std::vector<T> values, std::size_t columns = 0) {
  auto* owned = new std::vector<T>(std::move(values));
  const nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  if (columns == 0) return ArrayOut<T>(owned->data(), {owned->size()}, owner);
  return ArrayOut<T>(owned->data(), {owned->size() / columns, columns}, owner);
}

/// A matrix by its stored rows, whose parts stay where they are.
template <class S>
struct SparseIn {
  VectorIn<std::int64_t> row_start;
  VectorIn<std::int32_t> columns;
  VectorIn<S> values;
  Index cols;

  CsrView<S> view() const {
    return {.rows = static_cast<Index>(row_start.size()) - 1,
            .cols = cols,
            .row_start = {row_start.data(), row_start.size()},
            .columns = {columns.data(), columns.size()},
            .values = {values.data(), values.size()}};
  }
};

/// Edges as an e x 2 array of node numbers, and one weight each or none.
using EdgesIn = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
Graph graph_of(Index nodes, const EdgesIn& edges, const std::optional<VectorIn<double>>& weights);
ArrayOut<std::int32_t> edges_of(const Graph& graph);

// ---- A solve --------------------------------------------------------------------------------------------------------

using Options = std::vector<std::pair<std::string, std::string>>;

/// Names and texts as the option table has them.
SolveSettings settings_from(const Options& options);
/// Where an option `device` asks for products to be made; nothing: here, or why here in `instead`.
std::unique_ptr<EngineMaker> engines_from(const Options& options, std::string& instead);
std::pair<DecentralizedSettings, SolveSettings> decentralized_settings_from(const Options& options);

/// The result of agents, in Python's words; takes its memory.
nb::dict dictionary_of(DecentralizedResult&& result, bool interrupted);

/// Who may stop a solve: the caller's function, and Ctrl-C, which ends it with the best so far.
class Watcher {
 public:
  explicit Watcher(nb::object callback) : callback_(std::move(callback)) {}

  bool interrupted() const { return interrupted_; }
  bool has_callback() const { return !callback_.is_none(); }

  /// Calls `function`, and once more where Ctrl-C broke into it: the solve then ends at its next step with a measured
  /// answer. A second Ctrl-C goes through.
  template <class Function>
  nb::object through_interrupt(const Function& function) {
    try {
      return function();
    } catch (nb::python_error& error) {
      if (interrupted_ || !error.matches(PyExc_KeyboardInterrupt)) throw;
      interrupted_ = true;
    }
    return function();
  }

  /// Whether to go on. `call` makes what the caller's function is given, and calls it.
  template <class Call>
  bool operator()(const Call& call) {
    const nb::gil_scoped_acquire gil;
    if (interrupted_) return false;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return callback_.is_none() || !call(callback_).is(nb::handle(Py_False));
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
      interrupted_ = true;
      return false;
    }
  }

 private:
  nb::object callback_;
  bool interrupted_ = false;
};

}  // namespace hearsay::python
