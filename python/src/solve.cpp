// PCA and eigenproblems: from arrays, functions and texts to the solver, and its result back as a dictionary.
#include <chrono>
#include <cmath>
#include <memory>

#include "bindings.hpp"
#include "hearsay/error.hpp"
#include "hearsay/mixed.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/pca.hpp"
#include "hearsay/spectrum.hpp"

namespace hearsay::python {

namespace {

// ---- Noise ----------------------------------------------------------------------------------------------------------

// A noise model in either arithmetic, or the caller's own function (product, X) -> Xi.
struct Noise {
  NoiseModel<double> in_double = {};
  NoiseModel<float> in_float = {};
  nb::object function = {};

  // The interpreter's lock is not held where the model is used: it borrows the function.
  template <class S>
  NoiseModel<S> in(Watcher& watch) const {
    if (function.is_valid())
      return {"callable", 0, [this, &watch](std::uint64_t product, ConstBlockView<S> X, BlockView<S> Xi) {
                const nb::gil_scoped_acquire gil;
                const nb::object made = watch.through_interrupt([&] { return function(product, given(Block<S>(X))); });
                Xi = borrowed<S>(nb::cast<MatrixIn<S>>(made, false));
              }};
    if constexpr (std::is_same_v<S, double>)
      return in_double;
    else
      return in_float;
  }
};

// ---- One solve ------------------------------------------------------------------------------------------------------

// What the caller's function is given. The basis is copied when it is asked for, and there only until it returns.
struct Moment {
  HistoryEntry entry;
  bool cooling = false;
  std::function<nb::object()> basis = {};
};

// Takes the basis back, however the function ends.
struct Passing {
  nb::object moment;
  ~Passing() { nb::inst_ptr<Moment>(moment)->basis = {}; }
};

template <class S>
bool observe(Watcher& watch, const Iteration<S>& now) {
  return watch([&now](const nb::object& callback) {
    Moment moment{.entry = now.entry, .cooling = now.cooling};
    moment.basis = [&now] { return nb::cast(given(Block<S>(now.basis))); };
    const Passing passing{nb::cast(std::move(moment))};
    return callback(passing.moment);
  });
}

template <class S>
struct Request {
  SolveSettings settings;
  const Noise* noise = nullptr;
  std::optional<Block<S>> start = {}, reference = {};
  Watcher watch;
};

template <class S>
using Given = std::optional<MatrixIn<S>>;

template <class S>
Request<S> request_from(const Options& options, const Noise* noise, const Given<S>& start, const Given<S>& reference,
                        nb::object callback, std::optional<bool> noisy_products = {}) {
  Request<S> request{.settings = settings_from(options), .noise = noise, .watch = Watcher(std::move(callback))};
  if (start) request.start = copied<S>(*start);
  if (reference) request.reference = copied<S>(*reference);
  if (noisy_products) request.settings.power.products = *noisy_products ? Products::noisy : Products::exact;
  return request;
}

// Runs `solve(options, noise, hooks)` without the interpreter's lock. `spectrum_of` is asked where an optimal
// momentum or an adversary must know the spectrum.
template <class S, class Spectral, class Solve>
auto run(Request<S>& request, const Spectral& spectrum_of, const Solve& solve) {
  const nb::gil_scoped_release no_gil;
  const SolveSettings& settings = request.settings;
  PowerOptions options = settings.power;
  NoiseModel<S> noise;
  const auto [kind, level] = settings.noise;
  const bool adversarial = kind == NoiseChoice::Kind::adversarial;
  if (settings.optimal_momentum || adversarial) {
    const Spectrum spectrum = spectrum_of(settings);
    if (settings.optimal_momentum) options.momentum = Momentum::optimal(spectrum.lambda_next);
    require(!adversarial || spectrum.vectors.size() > 0,
            "noise = adversarial: needs all eigenvectors, which are computed up to dimension " +
                std::to_string(largest_dense_dimension) + " only");
    if (adversarial) noise = adversarial_noise<S>(spectrum.vectors.template cast<S>(), level, settings.noise_seed);
  }
  if (kind == NoiseChoice::Kind::gaussian) noise = gaussian_noise<S>(level, settings.noise_seed);
  if (kind == NoiseChoice::Kind::sphere) noise = sphere_noise<S>(level, settings.noise_seed);
  if (request.noise != nullptr) noise = request.noise->template in<S>(request.watch);

  Hooks<S> hooks;
  hooks.observe = [&request](const Iteration<S>& now) { return observe(request.watch, now); };
  if (request.start) hooks.start = &*request.start;
  if (request.reference) hooks.reference = &*request.reference;
  return solve(options, noise, hooks);
}

template <class S>
PowerResult<S> power(OperatorRef<S> A, const NoiseModel<S>& noise, const PowerOptions& options, const Hooks<S>& hooks) {
  if (!noise.fill) return principal_subspace<S>(A, options, hooks);
  const NoisyOperator<S> inexact(A, noise);
  return principal_subspace<S>(inexact, options, hooks);
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// ---- Results --------------------------------------------------------------------------------------------------------

constexpr std::size_t history_columns = 9;

ArrayOut<double> history_of(const std::vector<HistoryEntry>& history) {
  std::vector<double> numbers;
  numbers.reserve(history.size() * history_columns);
  for (const HistoryEntry& e : history)
    numbers.insert(numbers.end(), {static_cast<double>(e.t), e.momentum, e.edge, e.residual, e.noise, e.theta_1,
                                   e.theta_k, e.theta_next, e.sin_theta});
  return given_vector(std::move(numbers), history_columns);
}

nb::object dictionary(const std::optional<Cluster>& cluster) {
  if (!cluster) return nb::none();
  nb::dict out;
  out["first"] = cluster->first;
  out["last"] = cluster->last;
  out["open"] = cluster->open;
  out["spread"] = cluster->spread;
  out["sin_theta"] = cluster->sin_theta;
  out["kind"] = name(cluster->kind);
  return out;
}

nb::dict dictionary(const Certificate& certificate) {
  nb::dict out;
  out["level"] = name(certificate.level);
  out["residual"] = certificate.residual;
  out["rounding"] = certificate.rounding;
  out["sin_theta"] = name(certificate.sin_theta);
  out["sin_theta_bound"] = certificate.sin_theta_bound;
  out["sin_theta_estimate"] = certificate.sin_theta_estimate;
  out["nothing_missed"] = name(certificate.nothing_missed);
  out["nothing_missed_above"] = certificate.nothing_missed_above;
  out["nothing_missed_count"] = certificate.nothing_missed_count;
  out["nothing_missed_probability"] = certificate.nothing_missed_probability;
  out["random_columns"] = certificate.random_columns;
  out["probe_passes"] = certificate.probe_passes;
  out["probe_products"] = certificate.probe_products;
  out["cluster"] = dictionary(certificate.cluster);
  out["assumptions"] = nb::tuple(nb::cast(certificate.assumptions));
  return out;
}

template <class S>
nb::dict dictionary(PowerResult<S>&& result, const Watcher& watch) {
  nb::dict out;
  out["eigenvalues"] = given(std::move(result.eigenvalues));
  out["vectors"] = given(std::move(result.basis));
  out["block"] = given(std::move(result.block));
  out["status"] = name(result.status);
  out["method"] = name(result.method);
  out["interrupted"] = watch.interrupted();
  out["iterations"] = result.iterations;
  out["residual"] = result.residual;
  out["noise_floor"] = result.noise_floor;
  out["noise_level"] = result.noise_level;
  out["gap"] = result.gap;
  out["sin_theta_estimate"] = result.sin_theta_estimate;
  out["certificate"] = dictionary(result.certificate);
  out["momentum"] = result.momentum;
  out["edge"] = result.edge;
  out["damping"] = result.damping == Damping::centred ? "centred" : "symmetric";
  out["extraction"] = result.extraction == Extraction::nested ? "nested" : "ritz";
  out["columns"] = result.columns;
  out["cooldown_steps"] = result.cooldown_steps;
  out["products"] = result.products;
  out["passes"] = result.passes;
  out["workspace_bytes"] = result.workspace_bytes;
  out["exponent"] = result.exponent;
  out["history"] = history_of(result.history);
  out["notes"] = nb::cast(result.notes);
  return out;
}

template <class S>
nb::dict dictionary(PcaResult<S>&& result, const Watcher& watch) {
  nb::dict out = dictionary(std::move(result.power), watch);
  out["mean"] = given(std::move(result.mean));
  out["singular_values"] = given(std::move(result.singular_values));
  out["total_variance"] = result.total_variance;
  out["by_samples"] = result.by_samples;
  out["formed"] = result.formed;
  return out;
}

// ---- PCA ------------------------------------------------------------------------------------------------------------

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

template <class S>
DenseCovariance<S> covariance(const BorrowedBlock<S>& data, bool center) {
  return DenseCovariance<S>(data, {.center = center});
}
template <class S>
SparseCovariance<S> covariance(const CsrView<S>& data, bool center) {
  return SparseCovariance<S>(data, center);
}

template <class S, class Data>
nb::dict analyse(const Data& data, bool center, double sharpen_to, Request<S> request) {
  Stopwatch watch;
  PcaResult<S> result = run<S>(
      request,
      [&](const SolveSettings& settings) { return find_spectrum<S>(covariance<S>(data, center), settings.power); },
      [&](const PowerOptions& options, const NoiseModel<S>& noise, const Hooks<S>& hooks) {
        return pca<S>(data, PcaOptions<S>{.power = options, .center = center, .noise = noise, .sharpen_to = sharpen_to},
                      hooks);
      });
  const double seconds = watch.seconds();
  nb::dict out = dictionary(std::move(result), request.watch);
  out["seconds"] = seconds;
  return out;
}

template <class S>
nb::dict pca_dense(const MatrixIn<S>& data, const Options& options, bool center, double sharpen_to, const Noise* noise,
                   const Given<S>& start, nb::object callback) {
  return analyse<S>(borrowed<S>(data), center, sharpen_to,
                    request_from<S>(options, noise, start, {}, std::move(callback)));
}

template <class S>
nb::dict pca_sparse(const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns,
                    const VectorIn<S>& values, Index cols, const Options& options, bool center, double sharpen_to,
                    const Noise* noise, const Given<S>& start, nb::object callback) {
  const SparseIn<S> data{row_start, columns, values, cols};
  return analyse<S>(data.view(), center, sharpen_to, request_from<S>(options, noise, start, {}, std::move(callback)));
}

// Both copies of the data are the caller's; the result is in double.
nb::dict pca_mixed(const MatrixIn<double>& data, const MatrixIn<float>& rounded, const Options& options, bool center,
                   const Given<double>& start, nb::object callback) {
  Request<double> request = request_from<double>(options, nullptr, start, {}, std::move(callback));
  Stopwatch watch;
  const auto covariance_of = [center]<class S>(const BorrowedBlock<S>& rows) {
    const nb::gil_scoped_release no_gil;  // the mean takes a pass
    return DenseCovariance<S>(rows, {.center = center, .form_at_once = sizeof(S) == sizeof(float)});
  };
  const auto A = covariance_of(borrowed<double>(data));
  const auto A_single = covariance_of(borrowed<float>(rounded));
  PcaResult<double> result;
  result.power = run<double>(
      request, [&](const SolveSettings& settings) { return find_spectrum<double>(A, settings.power); },
      [&](const PowerOptions& asked, const NoiseModel<double>&, const Hooks<double>& hooks) {
        return mixed_precision_subspace(
            A_single, A, asked, hooks, [&request](const Iteration<float>& now) { return observe(request.watch, now); });
      });
  result.mean = A.mean();
  result.singular_values = (result.power.eigenvalues.cwiseMax(0.0) * A.divisor()).cwiseSqrt();
  result.total_variance = std::ldexp(A.total_variance(), A.facts().exponent - result.power.exponent);
  result.formed = A.formed();
  const double seconds = watch.seconds();
  nb::dict out = dictionary(std::move(result), request.watch);
  out["seconds"] = seconds;
  return out;
}

// ---- Eigenproblems --------------------------------------------------------------------------------------------------

// What the user adds to a matrix: a shift, and the word that it has no negative eigenvalue.
struct Matter {
  double shift = 0;
  bool psd = false;
};

template <class S, class Matrix>
nb::dict solve_matrix(const Matrix& matrix, const Matter& matter, Request<S>& request) {
  const ShiftedOperator<S> A(matrix, static_cast<S>(matter.shift), matter.psd);
  Stopwatch watch;
  PowerResult<S> result = run<S>(
      request, [&](const SolveSettings& settings) { return find_spectrum<S>(A, settings.power); },
      [&](const PowerOptions& options, const NoiseModel<S>& noise, const Hooks<S>& hooks) {
        return power<S>(A, noise, options, hooks);
      });
  const double seconds = watch.seconds();
  if (matter.shift != 0) {
    const double shift = std::ldexp(matter.shift, -result.exponent);
    result.eigenvalues.array() -= static_cast<S>(shift);
    result.certificate.nothing_missed_above -= shift;
  }
  nb::dict out = dictionary(std::move(result), request.watch);
  out["seconds"] = seconds;
  return out;
}

template <class S>
nb::dict eigs_dense(const MatrixIn<S>& matrix, const Options& options, double shift, bool psd,
                    std::optional<bool> noisy, const Noise* noise, const Given<S>& start, const Given<S>& reference,
                    nb::object callback) {
  auto request = request_from<S>(options, noise, start, reference, std::move(callback), noisy);
  return solve_matrix<S>(DenseSymmetric<S>(borrowed<S>(matrix)), {shift, psd}, request);
}

template <class S>
nb::dict eigs_sparse(const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns,
                     const VectorIn<S>& values, Index cols, const Options& options, double shift, bool psd,
                     std::optional<bool> noisy, const Noise* noise, const Given<S>& start, const Given<S>& reference,
                     nb::object callback) {
  const SparseIn<S> matrix{row_start, columns, values, cols};
  auto request = request_from<S>(options, noise, start, reference, std::move(callback), noisy);
  return solve_matrix<S>(SparseSymmetric<S>(matrix.view()), {shift, psd}, request);
}

// The function takes a block as a new array and gives one of the same shape and type; what it raises comes out.
template <class S>
nb::dict eigs_function(const nb::callable& function, Index dim, const Options& options, double shift, bool psd,
                       std::optional<bool> noisy, const Noise* noise, const Given<S>& start, const Given<S>& reference,
                       nb::object callback) {
  auto request = request_from<S>(options, noise, start, reference, std::move(callback), noisy);
  const CallbackOperator<S> A(dim, [&](ConstBlockView<S> X, BlockView<S> Y) {
    const nb::gil_scoped_acquire gil;
    const nb::object product = request.watch.through_interrupt([&] { return function(given(Block<S>(X))); });
    Y = borrowed<S>(nb::cast<MatrixIn<S>>(product, false));
  });
  return solve_matrix<S>(A, {shift, psd}, request);
}

nb::dict embed(Index nodes, const EdgesIn& edges, const std::optional<VectorIn<double>>& weights,
               const Options& options, const Noise* noise, nb::object callback) {
  auto request = request_from<double>(options, noise, {}, {}, std::move(callback));
  return solve_matrix<double>(NormalisedGraph<double>(graph_of(nodes, edges, weights)), {}, request);
}

// ---- Binding --------------------------------------------------------------------------------------------------------

// A function may lead back to its model, by the frames of what it raised: the collector must see that way.
int traverse_noise(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    const nb::object& function = nb::inst_ptr<Noise>(self)->function;
    Py_VISIT(function.ptr());
  }
  return 0;
}

int clear_noise(PyObject* self) {
  nb::inst_ptr<Noise>(self)->function.reset();
  return 0;
}

PyType_Slot noise_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_noise)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_noise)},
                             {0, nullptr}};

void bind_noise(nb::module_& m) {
  nb::class_<Noise>(m, "Noise", nb::type_slots(noise_slots),
                    "The error added to every product: a model in single and double precision.")
      .def_static(
          "gaussian",
          [](double sigma, std::uint64_t seed) {
            return Noise{gaussian_noise<double>(sigma, seed), gaussian_noise<float>(sigma, seed)};
          },
          nb::arg("sigma"), nb::arg("seed"))
      .def_static(
          "sphere",
          [](double xi, std::uint64_t seed) {
            return Noise{sphere_noise<double>(xi, seed), sphere_noise<float>(xi, seed)};
          },
          nb::arg("xi"), nb::arg("seed"))
      .def_static(
          "adversarial",
          [](const MatrixIn<double>& basis, double xi, std::uint64_t seed) {
            const Block<double> U = copied<double>(basis);
            return Noise{adversarial_noise<double>(U, xi, seed), adversarial_noise<float>(U.cast<float>(), xi, seed)};
          },
          nb::arg("basis"), nb::arg("xi"), nb::arg("seed"))
      .def_static(
          "tight_outside",
          [](const VectorIn<double>& direction, Index rank, double xi) {
            const Vector<double> v =
                Eigen::Map<const Vector<double>>(direction.data(), static_cast<Index>(direction.size()));
            return Noise{tight_outside_noise<double>(v, rank, xi),
                         tight_outside_noise<float>(v.cast<float>(), rank, xi)};
          },
          nb::arg("direction"), nb::arg("rank"), nb::arg("xi"))
      .def_static(
          "tight_inside",
          [](const MatrixIn<double>& basis, double lambda_k, double two_sqrt_beta) {
            const Block<double> U = copied<double>(basis);
            return Noise{tight_inside_noise<double>(U, lambda_k, two_sqrt_beta),
                         tight_inside_noise<float>(U.cast<float>(), lambda_k, two_sqrt_beta)};
          },
          nb::arg("basis"), nb::arg("lambda_k"), nb::arg("two_sqrt_beta"))
      .def_static(
          "function", [](const nb::callable& function) { return Noise{.function = function}; }, nb::arg("function"));
}

void bind_moment(nb::module_& m) {
  nb::class_<Moment>(m, "Iteration", "One iteration, as a callback sees it.")
      .def_prop_ro("t", [](const Moment& now) { return now.entry.t; })
      .def_prop_ro("momentum", [](const Moment& now) { return now.entry.momentum; })
      .def_prop_ro("edge", [](const Moment& now) { return now.entry.edge; })
      .def_prop_ro("residual", [](const Moment& now) { return now.entry.residual; })
      .def_prop_ro("noise", [](const Moment& now) { return now.entry.noise; })
      .def_prop_ro("theta_1", [](const Moment& now) { return now.entry.theta_1; })
      .def_prop_ro("theta_k", [](const Moment& now) { return now.entry.theta_k; })
      .def_prop_ro("theta_next", [](const Moment& now) { return now.entry.theta_next; })
      .def_prop_ro("sin_theta", [](const Moment& now) { return now.entry.sin_theta; })
      .def_prop_ro("cooling", [](const Moment& now) { return now.cooling; })
      .def_prop_ro("basis", [](const Moment& now) {
        if (!now.basis) throw nb::value_error("basis: is there only while the callback runs");
        return now.basis();
      });
}

template <class S>
void bind_solves(nb::module_& m) {
  using nb::arg;
  m.def("pca_dense", &pca_dense<S>, arg("data").noconvert(), arg("options"), arg("center"), arg("sharpen_to"),
        arg("noise").none(), arg("start").noconvert().none(), arg("callback").none());
  m.def("pca_sparse", &pca_sparse<S>, arg("row_start").noconvert(), arg("columns").noconvert(),
        arg("values").noconvert(), arg("cols"), arg("options"), arg("center"), arg("sharpen_to"), arg("noise").none(),
        arg("start").noconvert().none(), arg("callback").none());
  m.def("eigs_dense", &eigs_dense<S>, arg("matrix").noconvert(), arg("options"), arg("shift"), arg("psd"),
        arg("noisy").none(), arg("noise").none(), arg("start").noconvert().none(), arg("reference").noconvert().none(),
        arg("callback").none());
  m.def("eigs_sparse", &eigs_sparse<S>, arg("row_start").noconvert(), arg("columns").noconvert(),
        arg("values").noconvert(), arg("cols"), arg("options"), arg("shift"), arg("psd"), arg("noisy").none(),
        arg("noise").none(), arg("start").noconvert().none(), arg("reference").noconvert().none(),
        arg("callback").none());
}

}  // namespace

void bind_solve(nb::module_& m) {
  using nb::arg;
  bind_noise(m);
  bind_moment(m);
  bind_solves<double>(m);
  bind_solves<float>(m);
  m.def("pca_mixed", &pca_mixed, arg("data").noconvert(), arg("rounded").noconvert(), arg("options"), arg("center"),
        arg("start").noconvert().none(), arg("callback").none());
  const auto bind_function = [&m]<class S>(const char* name, S) {
    m.def(name, &eigs_function<S>, arg("function"), arg("dim"), arg("options"), arg("shift"), arg("psd"),
          arg("noisy").none(), arg("noise").none(), arg("start").noconvert().none(),
          arg("reference").noconvert().none(), arg("callback").none());
  };
  bind_function("eigs_function_double", double{});
  bind_function("eigs_function_single", float{});
  m.def("embed", &embed, arg("nodes"), arg("edges").noconvert(), arg("weights").noconvert().none(), arg("options"),
        arg("noise").none(), arg("callback").none());
}

}  // namespace hearsay::python
