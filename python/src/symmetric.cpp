// Whether a matrix is symmetric, asked of the library.
#include "hearsay/symmetric.hpp"

#include "bindings.hpp"

namespace hearsay::python {

namespace {

template <class S>
void require_symmetric_dense(const MatrixIn<S>& matrix) {
  const BorrowedBlock<S> A = borrowed<S>(matrix);
  const nb::gil_scoped_release no_gil;
  require_symmetric(ConstBlockView<S>(A), "matrix");
}

template <class S>
void require_symmetric_sparse(const VectorIn<std::int64_t>& row_start, const VectorIn<std::int32_t>& columns,
                              const VectorIn<S>& values, Index cols) {
  const CsrView<S> A{static_cast<Index>(row_start.size()) - 1,
                     cols,
                     {row_start.data(), row_start.size()},
                     {columns.data(), columns.size()},
                     {values.data(), values.size()}};
  const nb::gil_scoped_release no_gil;
  require_symmetric(A, "matrix");
}

template <class S>
void bind(nb::module_& m) {
  m.def("require_symmetric_dense", &require_symmetric_dense<S>, nb::arg("matrix").noconvert());
  m.def("require_symmetric_sparse", &require_symmetric_sparse<S>, nb::arg("row_start").noconvert(),
        nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("cols"));
}

}  // namespace

void bind_symmetric(nb::module_& m) {
  bind<double>(m);
  bind<float>(m);
}

}  // namespace hearsay::python
