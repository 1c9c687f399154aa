// Private components and what a release costs: the interpreter's lock is not held while rows are read.
#include "bindings.hpp"
#include "hearsay/error.hpp"
#include "hearsay/private_pca.hpp"

namespace hearsay::python {

namespace {

template <class Kind>
Kind chosen(std::string_view keyword, const std::string& text, std::initializer_list<Kind> kinds) {
  for (const Kind kind : kinds)
    if (name(kind) == text) return kind;
  throw InvalidArgument(std::string(keyword) + " = " + text + ": is not known");
}

struct Privacy {
  PrivacySettings settings;

  Privacy(double epsilon, double delta, double row_norm, const std::string& neighbours, const std::string& center,
          const std::optional<VectorIn<double>>& mean, Index public_rows, const std::string& release)
      : settings{
            .budget = {epsilon, delta},
            .row_norm = row_norm,
            .neighbours = chosen("neighbours", neighbours, {Neighbours::add_remove, Neighbours::replace}),
            .center = chosen("center", center, {PrivateCenter::none, PrivateCenter::given, PrivateCenter::dp_mean}),
            .public_rows = public_rows,
            .form = chosen("release", release,
                           {ReleaseForm::automatic, ReleaseForm::stored, ReleaseForm::lazy, ReleaseForm::fresh})} {
    if (mean) settings.mean = Eigen::Map<const Eigen::VectorXd>(mean->data(), static_cast<Index>(mean->shape(0)));
    check(Request{}, settings);  // before anything is spent
  }
};

nb::dict dictionary(PrivatePcaSolution found) {
  nb::dict out;
  out["vectors"] = given(std::move(found.solution.power.basis));
  out["values"] = given(Vector<double>(found.accuracy.values / found.divisor));
  out["status"] = name(found.solution.power.status);
  out["form"] = std::string(name(found.form));
  out["release"] = given(std::move(found.release));
  if (found.form != ReleaseForm::stored) out["directions"] = given(std::move(found.directions));
  out["mean"] = given(std::move(found.mean));
  out["sin_theta"] = found.accuracy.sin_theta;
  out["captured"] = found.accuracy.captured;
  out["explained"] = found.accuracy.explained;
  out["above_noise"] = found.accuracy.above_noise;
  out["mu"] = found.plan.mu;
  out["sigma"] = found.plan.sigma;
  return out;
}

template <class Data>
nb::dict solve_privately(const Data& data, const Options& options, const Privacy& privacy,
                         std::optional<std::uint64_t> insecure_seed) {
  const Request request{.settings = settings_from(options)};
  PrivatePcaSolution found;
  {
    const nb::gil_scoped_release no_gil;
    found = solve_private_pca(data, request, privacy.settings,
                              insecure_seed ? insecure_words(*insecure_seed) : system_words());
  }
  return dictionary(std::move(found));
}

nb::tuple expected(const Privacy& privacy, Index rank, Index dimension, const VectorIn<double>& spectrum,
                   std::optional<double> sine) {
  const PrivatePlanRequest request{
      .privacy = privacy.settings,
      .rank = rank,
      .dimension = dimension,
      .spectrum = Eigen::Map<const Eigen::VectorXd>(spectrum.data(), static_cast<Index>(spectrum.shape(0)))};
  const PrivatePlan plan = plan_private_pca(request);
  return nb::make_tuple(plan.sin_theta, plan.captured, plan.release.sigma,
                        sine ? epsilon_for_sine(request, *sine) : std::nullopt);
}

}  // namespace

void bind_private(nb::module_& m) {
  using nb::arg;
  nb::class_<Privacy>(m, "Privacy")
      .def(nb::init<double, double, double, const std::string&, const std::string&,
                    const std::optional<VectorIn<double>>&, Index, const std::string&>(),
           arg("epsilon"), arg("delta"), arg("row_norm"), arg("neighbours"), arg("center"), arg("mean").none(),
           arg("public_rows"), arg("release"));
  m.def(
      "private_pca_dense",
      [](const MatrixIn<double>& data, const Options& options, const Privacy& privacy,
         std::optional<std::uint64_t> seed) { return solve_privately(borrowed<double>(data), options, privacy, seed); },
      arg("data").noconvert(), arg("options"), arg("privacy"), arg("insecure_seed").none());
  m.def(
      "private_pca_sparse",
      [](const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns, const VectorIn<double>& values,
         Index cols, const Options& options, const Privacy& privacy, std::optional<std::uint64_t> seed) {
        return solve_privately(SparseIn<double>{row_start, columns, values, cols}.view(), options, privacy, seed);
      },
      arg("row_start").noconvert(), arg("columns").noconvert(), arg("values").noconvert(), arg("cols"), arg("options"),
      arg("privacy"), arg("insecure_seed").none());
  m.def("private_plan", &expected, arg("privacy"), arg("rank"), arg("dimension"), arg("spectrum"), arg("sine").none());
  m.def(
      "gaussian_mu",
      [](double epsilon, double delta) {
        return gaussian_mu({epsilon, delta});
      },
      arg("epsilon"), arg("delta"));
  m.def("gaussian_epsilon", &gaussian_epsilon, arg("mu"), arg("delta"));
  m.def("gaussian_delta", &gaussian_delta, arg("mu"), arg("epsilon"));
}

}  // namespace hearsay::python
