// PCA and eigenproblems: from arrays, functions and texts to the solver, and its result back as a dictionary.
#include <memory>

#include "bindings.hpp"
#include "hearsay/arriving_pca.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/solve.hpp"
#include "hearsay/solve_svd.hpp"

#ifdef HEARSAY_HAS_CUDA
#include "hearsay/cuda.hpp"
#include "hearsay/solve_on_engine.hpp"
#endif

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
struct BasisGuard {
  nb::object moment;
  ~BasisGuard() { nb::inst_ptr<Moment>(moment)->basis = {}; }
};

template <class S>
bool observe(Watcher& watch, const Iteration<S>& now) {
  return watch([&now](const nb::object& callback) {
    Moment moment{.entry = now.entry, .cooling = now.cooling};
    moment.basis = [&now] { return nb::cast(given(Block<S>(now.basis))); };
    const BasisGuard guard{nb::cast(std::move(moment))};
    return callback(guard.moment);
  });
}

template <class S>
using Given = std::optional<MatrixIn<S>>;

template <class S>
std::optional<Block<double>> in_double(const Given<S>& block) {
  if (!block) return std::nullopt;
  return Block<double>(borrowed<S>(*block).template cast<double>());
}

// What the caller asks for, as the library takes it, and the caller's own function that watches.
struct Asked {
  Request request;
  Watcher watch;
  std::string instead;  // why the processor computes, where a device was asked for
  std::unique_ptr<EngineMaker> engines;

  Asked(const Options& options, const Noise* noise, nb::object callback)
      : request{.settings = settings_from(options)},
        watch(std::move(callback)),
        engines(engines_from(options, instead)) {
    request.engines = engines.get();
    if (engines == nullptr && !instead.empty() && request.settings.precision == Precision::automatic)
      request.settings.precision = Precision::full;
    request.observe_steps = watch.has_callback();
    request.observe_with([this](const auto& now) { return observe(watch, now); });
    if (noise != nullptr) request.noise = NoiseModels{noise->in<double>(watch), noise->in<float>(watch)};
  }
  Asked(const Asked&) = delete;  // the request points into it
  Asked& operator=(const Asked&) = delete;

  template <class S>
  Asked(const Options& options, const Noise* noise, nb::object callback, std::optional<bool> noisy,
        const Given<S>& start, const Given<S>& reference)
      : Asked(options, noise, std::move(callback)) {
    if (noisy) request.settings.power.products = *noisy ? Products::noisy : Products::exact;
    request.start = in_double<S>(start);
    request.reference = in_double<S>(reference);
  }
};

// Solves without the interpreter's lock.
template <class Solve>
auto unlocked(const Solve& solve) {
  const nb::gil_scoped_release no_gil;
  return solve();
}

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
  out["low"] = cluster->low;
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
  out["nothing_missed_below"] = certificate.nothing_missed_below;
  out["nothing_missed_count_below"] = certificate.nothing_missed_count_below;
  out["nothing_missed_probability"] = certificate.nothing_missed_probability;
  out["random_columns"] = certificate.random_columns;
  out["probe_passes"] = certificate.probe_passes;
  out["probe_products"] = certificate.probe_products;
  out["cluster"] = dictionary(certificate.cluster);
  out["assumptions"] = nb::tuple(nb::cast(certificate.assumptions));
  return out;
}

nb::dict dictionary(ErrorBar&& bar) {
  nb::dict out;
  out["kind"] = name(bar.kind);
  out["sin_theta"] = bar.sin_theta;
  out["inside"] = bar.inside;
  out["outside"] = bar.outside;
  out["last_block"] = bar.last_block;
  out["bias"] = bar.bias;
  out["drift"] = bar.drift;
  out["steps"] = bar.steps;
  out["products_needed"] = bar.products_needed;
  out["vectors"] = given(std::move(bar.vectors));
  out["eigenvalues"] = given(std::move(bar.eigenvalues));
  out["resolved"] = bar.resolved;
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
  out["which"] = name(result.which);
  out["shift_found"] = result.shift_found;
  out["norm_seen"] = result.norm_seen;
  out["interrupted"] = watch.interrupted();
  out["iterations"] = result.iterations;
  out["residual"] = result.residual;
  out["noise_floor"] = result.noise_floor;
  out["noise_level"] = result.noise_level;
  out["gap"] = result.gap;
  out["sin_theta_estimate"] = result.sin_theta_estimate;
  out["certificate"] = dictionary(result.certificate);
  if (result.method == SolveMethod::averaged)
    out["error_bar"] = dictionary(std::move(result.bar));
  else
    out["error_bar"] = nb::none();
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

void add_climb(nb::dict& out, const std::optional<ClimbFacts>& climb) {
  nb::list rungs;
  if (climb)
    for (const RungReport& rung : climb->rungs) {
      nb::dict one;
      one["products"] = name(rung.rung);
      one["corrected"] = rung.corrects;
      one["blocks"] = rung.in_double ? "double" : "single";
      one["passes"] = rung.passes;
      one["columns"] = rung.products;
      one["seconds"] = rung.seconds;
      const bool looked = rung.rounding > 0;
      one["sin_theta"] = looked ? nb::cast(rung.sin_theta) : nb::none();
      one["rounding"] = looked ? nb::cast(rung.rounding) : nb::none();
      one["at_floor"] = rung.at_floor;
      rungs.append(one);
    }
  out["rungs"] = nb::tuple(rungs);
  out["device"] = climb ? climb->where : std::string("cpu");
}

template <class S>
nb::dict dictionary(Solution<S>&& solution, const Watcher& watch) {
  nb::dict out = dictionary(std::move(solution.power), watch);
  out["seconds"] = solution.seconds;
  add_climb(out, solution.climb);
  return out;
}

nb::dict dictionary(const MissingFacts& missing) {
  nb::dict out;
  out["policy"] = nb::str(name(missing.policy).data(), name(missing.policy).size());
  out["entries"] = missing.entries;
  out["rows"] = missing.rows;
  out["empty_rows"] = missing.empty_rows;
  out["dropped_rows"] = missing.dropped;
  out["rounds"] = missing.rounds;
  out["change"] = missing.change;
  out["settled"] = missing.settled;
  return out;
}

template <class S>
nb::dict dictionary(PcaSolution<S>&& solution, const Watcher& watch) {
  PcaResult<S>& result = solution.pca;
  nb::dict out = dictionary(std::move(result.power), watch);
  out["mean"] = given(std::move(result.mean));
  out["singular_values"] = given(std::move(result.singular_values));
  out["total_variance"] = result.total_variance;
  out["samples"] = result.samples;
  out["scale"] = given(std::move(result.scale));
  out["constant"] = nb::cast(result.constant);
  out["missing"] = dictionary(result.missing);
  out["by_samples"] = result.by_samples;
  out["formed"] = result.formed;
  out["seconds"] = solution.seconds;
  add_climb(out, solution.climb);
  return out;
}

template <class S>
nb::dict dictionary(SvdSolution<S>&& solution, const Watcher& watch);

// With why it was computed here, where it was to be elsewhere.
template <class Solution>
nb::dict told(Solution&& solution, const Asked& asked) {
  nb::dict out = dictionary(std::forward<Solution>(solution), asked.watch);
  if (!asked.instead.empty()) nb::cast<nb::list>(out["notes"]).insert(0, nb::str(asked.instead.c_str()));
  return out;
}

// ---- PCA ------------------------------------------------------------------------------------------------------------

// The rows of a product, which are none of the solver's options.
std::optional<Index> batch_in(const Options& options) {
  std::optional<Index> batch;
  for (const auto& [name, text] : options)
    if (name == "batch") batch = parse_integer(name, text, 1);
  return batch;
}

using WeightsIn = std::optional<VectorIn<double>>;

// What is said of the data, and is none of the solver's options either. Borrows the weights.
PcaSettings pca_settings(const Options& options, bool center, std::optional<double> wished_accuracy,
                         const WeightsIn& weights) {
  PcaSettings settings{.center = center, .wished_accuracy = wished_accuracy, .batch = batch_in(options)};
  for (const auto& [name, text] : options) {
    if (name == "standardize") settings.standardize = text == "true";
    if (name == "missing") settings.missing = missing_policy(text);
  }
  if (weights) settings.weights = {weights->data(), weights->size()};
  return settings;
}

template <class S, class Data>
nb::dict analyse(const Data& data, const PcaSettings& settings, Asked& asked, const Given<S>& start) {
  asked.request.start = in_double<S>(start);
  return told(unlocked([&] { return solve_pca<S>(data, asked.request, settings); }), asked);
}

template <class S>
nb::dict pca_dense(const MatrixIn<S>& data, const Options& options, bool center, std::optional<double> wished_accuracy,
                   const Noise* noise, const Given<S>& start, nb::object callback, const WeightsIn& weights) {
  Asked asked(options, noise, std::move(callback));
  return analyse<S>(borrowed<S>(data), pca_settings(options, center, wished_accuracy, weights), asked, start);
}

template <class S>
nb::dict pca_sparse(const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns,
                    const VectorIn<S>& values, Index cols, const Options& options, bool center,
                    std::optional<double> wished_accuracy, const Noise* noise, const Given<S>& start,
                    nb::object callback, const WeightsIn& weights) {
  const SparseIn<S> data{row_start, columns, values, cols};
  Asked asked(options, noise, std::move(callback));
  return analyse<S>(data.view(), pca_settings(options, center, wished_accuracy, weights), asked, start);
}

// Rows that an object of Python's hands over, pass by pass: begin(), then next() until it gives None. Other threads
// than the caller's may read.
class PythonRows final : public RowSource<double> {
 public:
  PythonRows(nb::object source, Index rows, Index cols, Watcher& watch)
      : source_(std::move(source)), rows_(rows), cols_(cols), watch_(&watch) {}

  Index cols() const override { return cols_; }
  std::optional<Index> rows() const override { return rows_; }
  std::string name() const override { return "source"; }

  void rewind() override {
    const nb::gil_scoped_acquire gil;
    block_.reset();
    used_ = handed_on_ = 0;
    source_.attr("begin")();
  }

  Index read(BlockView<double> out) override {
    Index filled = 0;
    while (filled < out.rows()) {
      if (used_ == held() && !next_block()) break;
      const Index count = std::min(out.rows() - filled, held() - used_);
      out.middleRows(filled, count) = borrowed<double>(*block_).middleRows(used_, count);
      used_ += count;
      filled += count;
      handed_on_ += count;
    }
    return filled;
  }

 private:
  Index held() const { return block_ ? static_cast<Index>(block_->shape(0)) : 0; }

  // Where Ctrl-C broke into it the pass is begun again, and goes on with the rows that are due.
  bool next_block() {
    const nb::gil_scoped_acquire gil;
    bool again = false;
    Index left_out = 0;
    const nb::object found = watch_->through_interrupt([&] {
      if (again) {
        source_.attr("begin")();
        left_out = handed_on_;
      }
      again = true;
      nb::object rows = source_.attr("next")();
      for (; left_out > 0 && !rows.is_none(); rows = source_.attr("next")()) {
        const auto count = static_cast<Index>(nb::cast<MatrixIn<double>>(rows, false).shape(0));
        if (count > left_out) break;
        left_out -= count;
      }
      return rows;
    });
    block_.reset();
    used_ = 0;
    if (found.is_none()) return false;
    block_ = nb::cast<MatrixIn<double>>(found, false);
    used_ = left_out;
    return true;
  }

  nb::object source_;
  Index rows_, cols_;
  Watcher* watch_;
  std::optional<MatrixIn<double>> block_;
  Index used_ = 0, handed_on_ = 0;  // of the block; of the pass
};

nb::dict pca_rows(nb::object source, Index rows, Index cols, const Options& options, bool center, const Noise* noise,
                  const Given<double>& start, nb::object callback, const WeightsIn& weights) {
  Asked asked(options, noise, std::move(callback));
  asked.request.start = in_double<double>(start);
  PythonRows data(std::move(source), rows, cols, asked.watch);
  const PcaSettings settings = pca_settings(options, center, std::nullopt, weights);
  return told(unlocked([&] { return solve_pca(data, asked.request, settings); }), asked);
}

// Rows that arrive, and what is known of them so far.
ArrivingOptions arriving_options(const Options& options, bool center) {
  const PowerOptions power = settings_from(options).power;
  return {.rank = power.rank, .center = center, .batch = batch_in(options).value_or(0), .seed = power.seed};
}

template <class S>
nb::dict result_of(const ArrivingPca<S>& stream) {
  Watcher nobody{nb::none()};
  nb::dict out = dictionary(PcaSolution<S>{.pca = stream.result()}, nobody);
  out["stream_bar"] = dictionary(ErrorBar(stream.result().power.bar));
  return out;
}

template <class S>
void bind_arriving(nb::module_& m, const char* name) {
  using nb::arg;
  nb::class_<ArrivingPca<S>>(m, name, "PCA of rows that arrive and are not kept.")
      .def(
          "__init__",
          [](ArrivingPca<S>* self, Index features, const Options& options, bool center) {
            new (self) ArrivingPca<S>(features, arriving_options(options, center));
          },
          arg("features"), arg("options"), arg("center"))
      .def(
          "add",
          [](ArrivingPca<S>& self, const MatrixIn<S>& rows) {
            unlocked([&] { return self.add(borrowed<S>(rows)), 0; });
          },
          arg("rows").noconvert())
      .def("result", &result_of<S>)
      .def_prop_ro("samples", &ArrivingPca<S>::samples)
      .def_prop_ro("batches", &ArrivingPca<S>::batches);
}

// ---- Eigenproblems --------------------------------------------------------------------------------------------------

template <class S>
nb::dict eigs_dense(const MatrixIn<S>& matrix, const Options& options, double shift, bool psd,
                    std::optional<bool> noisy, const Noise* noise, const Given<S>& start, const Given<S>& reference,
                    nb::object callback) {
  Asked asked(options, noise, std::move(callback), noisy, start, reference);
  const BorrowedBlock<S> A = borrowed<S>(matrix);
  return told(unlocked([&] { return solve_matrix<S>(A, asked.request, {shift, psd}); }), asked);
}

template <class S>
nb::dict eigs_sparse(const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns,
                     const VectorIn<S>& values, Index cols, const Options& options, double shift, bool psd,
                     std::optional<bool> noisy, const Noise* noise, const Given<S>& start, const Given<S>& reference,
                     nb::object callback) {
  const SparseIn<S> matrix{row_start, columns, values, cols};
  Asked asked(options, noise, std::move(callback), noisy, start, reference);
  const CsrView<S> A = matrix.view();
  return told(unlocked([&] { return solve_matrix<S>(A, asked.request, {shift, psd}); }), asked);
}

#ifdef HEARSAY_HAS_CUDA
// A matrix that lies on a device, row-major, and is not copied; the vectors come back on that device, in its type.
template <class S>
nb::dict eigs_on_device(const nb::ndarray<const S, nb::ndim<2>, nb::c_contig, nb::device::cuda>& matrix,
                        const Options& options, bool psd, const Given<double>& start, nb::object callback) {
  Asked asked(options, nullptr, std::move(callback), std::nullopt, start, Given<double>());
  const int device = matrix.device_id();
  const auto d = static_cast<Index>(matrix.shape(0));
  std::shared_ptr<S> vectors;
  Solution<double> solution = unlocked([&] {
    cuda::wait_for_device(device);  // what the caller's streams still write
    const auto engine = cuda::dense_engine_on<S>(device, matrix.data(), d, psd);
    Solution<double> made = solve_on(*engine, asked.request);
    vectors = cuda::sent_to_device<S>(device, made.power.basis);
    return made;
  });
  const std::size_t shape[] = {static_cast<std::size_t>(d), static_cast<std::size_t>(solution.power.basis.cols())};
  nb::dict out = told(std::move(solution), asked);
  auto* kept = new std::shared_ptr<S>(std::move(vectors));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<S>*>(p); });
  out["vectors"] = nb::cast(nb::ndarray<S, nb::ndim<2>, nb::device::cuda>(
      kept->get(), 2, shape, owner, nullptr, nb::dtype<S>(), nb::device::cuda::value, device));
  return out;
}
#endif

// The function takes a block as a new array and gives one of the same shape and type; what it raises comes out.
template <class S>
nb::dict eigs_function(const nb::callable& function, Index dim, const Options& options, double shift, bool psd,
                       std::optional<bool> noisy, const Noise* noise, const Given<S>& start, const Given<S>& reference,
                       nb::object callback) {
  Asked asked(options, noise, std::move(callback), noisy, start, reference);
  const CallbackOperator<S> A(dim, [&](ConstBlockView<S> X, BlockView<S> Y) {
    const nb::gil_scoped_acquire gil;
    const nb::object product = asked.watch.through_interrupt([&] { return function(given(Block<S>(X))); });
    Y = borrowed<S>(nb::cast<MatrixIn<S>>(product, false));
  });
  return told(unlocked([&] { return solve<S>(A, asked.request, {shift, psd}); }), asked);
}

// ---- Singular values ------------------------------------------------------------------------------------------------

template <class S>
nb::dict dictionary(SvdSolution<S>&& solution, const Watcher& watch) {
  SvdResult<S>& svd = solution.svd;
  nb::dict out = dictionary(PowerResult<S>{static_cast<const PowerFacts&>(svd), std::move(svd.right),
                                           std::move(svd.singular_values), Block<S>()},
                            watch);
  out["left"] = given(std::move(svd.left));
  out["errors"] = given(std::move(svd.errors));
  out["errors_are"] = name(svd.errors_are);
  out["rounding"] = svd.rounding;
  out["within"] = svd.within;
  out["resolved"] = svd.resolved;
  out["frobenius_norm"] = svd.frobenius_norm;
  out["by_rows"] = svd.by_rows;
  out["sharpened"] = svd.sharpened;
  out["seconds"] = solution.seconds;
  add_climb(out, solution.climb);
  return out;
}

template <class S>
nb::dict svd_dense(const MatrixIn<S>& matrix, const Options& options, const Given<S>& start, nb::object callback) {
  Asked asked(options, nullptr, std::move(callback), std::nullopt, start, Given<S>());
  const BorrowedBlock<S> A = borrowed<S>(matrix);
  return told(unlocked([&] { return solve_svd<S>(A, asked.request); }), asked);
}

template <class S>
nb::dict svd_sparse(const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns,
                    const VectorIn<S>& values, Index cols, const Options& options, const Given<S>& start,
                    nb::object callback) {
  const SparseIn<S> matrix{row_start, columns, values, cols};
  Asked asked(options, nullptr, std::move(callback), std::nullopt, start, Given<S>());
  const CsrView<S> A = matrix.view();
  return told(unlocked([&] { return solve_svd<S>(A, asked.request); }), asked);
}

// Two functions, X -> A X and U -> A'U, as those of eigs_function.
template <class S>
nb::dict svd_function(const nb::callable& multiply, const nb::callable& multiply_transposed, Index rows, Index cols,
                      const Options& options, const Given<S>& start, nb::object callback) {
  Asked asked(options, nullptr, std::move(callback), std::nullopt, start, Given<S>());
  const auto calling = [&asked](const nb::callable& function) {
    return [&asked, &function](ConstBlockView<S> X, BlockView<S> Y) {
      const nb::gil_scoped_acquire gil;
      const nb::object product = asked.watch.through_interrupt([&] { return function(given(Block<S>(X))); });
      Y = borrowed<S>(nb::cast<MatrixIn<S>>(product, false));
    };
  };
  const RectangularFunctions<S> A{rows, cols, calling(multiply), calling(multiply_transposed)};
  return told(unlocked([&] { return solve_svd<S>(A, asked.request); }), asked);
}

nb::dict embed(Index nodes, const EdgesIn& edges, const std::optional<VectorIn<double>>& weights,
               const Options& options, const Noise* noise, nb::object callback) {
  Asked asked(options, noise, std::move(callback));
  const Graph graph = graph_of(nodes, edges, weights);
  Solution<double> solution = unlocked([&] { return solve_graph(graph, asked.request); });
  Block<double> embedding = unit_rows(solution.power.basis);
  nb::dict out = dictionary(std::move(solution), asked.watch);
  out["embedding"] = given(std::move(embedding));
  return out;
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
  m.def("pca_dense", &pca_dense<S>, arg("data").noconvert(), arg("options"), arg("center"),
        arg("wished_accuracy").none(), arg("noise").none(), arg("start").noconvert().none(), arg("callback").none(),
        arg("weights").noconvert().none() = nb::none());
  m.def("pca_sparse", &pca_sparse<S>, arg("row_start").noconvert(), arg("columns").noconvert(),
        arg("values").noconvert(), arg("cols"), arg("options"), arg("center"), arg("wished_accuracy").none(),
        arg("noise").none(), arg("start").noconvert().none(), arg("callback").none(),
        arg("weights").noconvert().none() = nb::none());
#ifdef HEARSAY_HAS_CUDA
  m.def("eigs_on_device", &eigs_on_device<S>, arg("matrix").noconvert(), arg("options"), arg("psd"),
        arg("start").noconvert().none(), arg("callback").none());
#endif
  m.def("eigs_dense", &eigs_dense<S>, arg("matrix").noconvert(), arg("options"), arg("shift"), arg("psd"),
        arg("noisy").none(), arg("noise").none(), arg("start").noconvert().none(), arg("reference").noconvert().none(),
        arg("callback").none());
  m.def("eigs_sparse", &eigs_sparse<S>, arg("row_start").noconvert(), arg("columns").noconvert(),
        arg("values").noconvert(), arg("cols"), arg("options"), arg("shift"), arg("psd"), arg("noisy").none(),
        arg("noise").none(), arg("start").noconvert().none(), arg("reference").noconvert().none(),
        arg("callback").none());
  m.def("svd_dense", &svd_dense<S>, arg("matrix").noconvert(), arg("options"), arg("start").noconvert().none(),
        arg("callback").none());
  m.def("svd_sparse", &svd_sparse<S>, arg("row_start").noconvert(), arg("columns").noconvert(),
        arg("values").noconvert(), arg("cols"), arg("options"), arg("start").noconvert().none(),
        arg("callback").none());
}

}  // namespace

void bind_solve(nb::module_& m) {
  using nb::arg;
  m.attr("bar_factor") = bar_factor;
  m.attr("bar_confidence") = bar_confidence;
  m.attr("unresolved_sine") = unresolved_sine;
  bind_noise(m);
  bind_moment(m);
  bind_solves<double>(m);
  bind_solves<float>(m);
  bind_arriving<double>(m, "ArrivingDouble");
  bind_arriving<float>(m, "ArrivingSingle");
  const auto bind_function = [&m]<class S>(const char* name, S) {
    m.def(name, &eigs_function<S>, arg("function"), arg("dim"), arg("options"), arg("shift"), arg("psd"),
          arg("noisy").none(), arg("noise").none(), arg("start").noconvert().none(),
          arg("reference").noconvert().none(), arg("callback").none());
  };
  const auto bind_svd_function = [&m]<class S>(const char* name, S) {
    m.def(name, &svd_function<S>, arg("multiply"), arg("multiply_transposed"), arg("rows"), arg("cols"), arg("options"),
          arg("start").noconvert().none(), arg("callback").none());
  };
  bind_svd_function("svd_function_double", double{});
  bind_svd_function("svd_function_single", float{});
  bind_function("eigs_function_double", double{});
  bind_function("eigs_function_single", float{});
  m.def("embed", &embed, arg("nodes"), arg("edges").noconvert(), arg("weights").noconvert().none(), arg("options"),
        arg("noise").none(), arg("callback").none());
  m.def("pca_rows", &pca_rows, nb::arg("source"), nb::arg("rows"), nb::arg("cols"), nb::arg("options"),
        nb::arg("center"), nb::arg("noise").none(), nb::arg("start").noconvert().none(), nb::arg("callback").none(),
        nb::arg("weights").noconvert().none() = nb::none());
}

}  // namespace hearsay::python
