"""TruncatedSVD with scikit-learn's interface."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from hearsay._arrays import arithmetic, precision_text
from hearsay._errors import DataError, InvalidArgument
from hearsay._options import in_python_words, option_texts, seed_from
from hearsay._result import Callback
from hearsay._svds import SvdInfo, solve_svd, svd_info_from
from hearsay._warnings import warn_unless_converged

__all__ = ["TruncatedSVD"]

Array = npt.NDArray[Any]

FLOATS = (np.float64, np.float32)
SPELT = ("n_components", "tol", "max_iter", "oversampling", "random_state")


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Dimensionality reduction by singular values, without centring; scikit-learn's TruncatedSVD in its interface.

    Unlike the randomized default of scikit-learn's it stops when its tolerance is met, and says how right it is.

    Parameters
    ----------
    n_components : int
        How many, from 1 to the lesser of samples and features.
    algorithm, n_iter, n_oversamples, power_iteration_normalizer
        Of scikit-learn's solvers: accepted, and without effect.
    random_state : int, None, RandomState or Generator
        Drives the random start block and nothing else.
    tol : float, optional
        Stop when ||X'X V - V S^2||_F / ||X'X V||_F, of the very vectors that are returned, is at most this. 0 or None:
        1e-10, in single precision 1e-5.
    accuracy, certify, products, max_iter, method, momentum, oversampling, callback, verbose
        As in ``hearsay.PCA``.
    precision : {"auto", "double", "single", "mixed"}
        "auto" keeps float32 and computes everything else in double.

    Attributes
    ----------
    components_ : ndarray (n_components, n_features_in_)
        Right singular vectors, by decreasing singular value; the largest entry of each is positive.
    singular_values_ : ndarray (n_components,)
    explained_variance_, explained_variance_ratio_ : ndarray (n_components,)
        The variance of each column of ``transform(X)``, and its share of that of X, as in scikit-learn.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.
    n_iter_ : int
    converged_ : bool
    status_ : str
        Why it ended. Anything but "converged" comes with a ConvergenceWarning.
    residual_, sin_theta_ : float
        Of exactly these components.
    certificate_ : Certificate
        How right the subspaces are; ``info_.errors`` says it of each singular value.
    info_ : SvdInfo
        All of it, and what it cost.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, hearsay
    >>> X = sp.random_array((200, 1000), density=0.02, rng=np.random.default_rng(0), format="csr")
    >>> svd = hearsay.TruncatedSVD(5).fit(X)
    >>> svd.transform(X).shape
    (200, 5)
    >>> svd.status_
    'converged'
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "auto",
        n_iter: int | None = None,
        n_oversamples: int | None = None,
        power_iteration_normalizer: str = "auto",
        random_state: Any = 0,
        tol: float | None = None,
        accuracy: float | None = None,
        certify: str = "full",
        products: int | None = None,
        max_iter: int | None = None,
        method: str = "auto",
        momentum: str | float = "auto",
        oversampling: str | int = "auto",
        precision: str = "auto",
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.accuracy = accuracy
        self.certify = certify
        self.products = products
        self.max_iter = max_iter
        self.method = method
        self.momentum = momentum
        self.oversampling = oversampling
        self.precision = precision
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> TruncatedSVD:
        """Finds the components of X (n_samples x n_features); y is ignored."""
        self._fit(X)
        warn_unless_converged(self.info_)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """The coordinates of the samples: left singular vectors times singular values."""
        scores = self._fit(X)
        warn_unless_converged(self.info_)
        return scores

    def transform(self, X: Any) -> Array:
        """The coordinates of other samples: X components_'."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, reset=False)
        return np.asarray(safe_sparse_dot(X, self.components_.T.astype(X.dtype, copy=False)))

    def inverse_transform(self, X: npt.ArrayLike) -> Array:
        """Samples with these coordinates: X components_."""
        check_is_fitted(self)
        return np.asarray(np.asarray(X) @ self.components_)

    def _fit(self, X: Any) -> Array:
        X = validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=FLOATS,
            ensure_all_finite=False,  # the core looks
        )
        rank = self._rank(X.shape)
        dtype = arithmetic(X.dtype, self.precision)
        with in_python_words(*SPELT):
            options = option_texts(
                n_components=rank,
                tol=self.tol or None,
                accuracy=self.accuracy,
                certify=self.certify,
                products=self.products,
                max_iter=self.max_iter,
                method=self.method,
                momentum=self.momentum,
                oversampling=self.oversampling,
                precision=precision_text(dtype, self.precision),
                random_state=seed_from(self.random_state),
            )
        try:
            made, tolerance = solve_svd(X, dtype, options, None, self.callback, self.verbose, SPELT)
        except DataError:
            assert_all_finite(X, estimator_name="TruncatedSVD", input_name="X")
            raise
        return self._keep(made, tolerance, X)

    def _rank(self, shape: tuple[int, int]) -> int:
        asked, limit = self.n_components, min(shape)
        if not isinstance(asked, Integral) or isinstance(asked, bool) or not 1 <= asked <= limit:
            raise InvalidArgument(
                f"n_components = {asked!r}: must be an int from 1 to {limit}, the lesser of n_samples = {shape[0]} and "
                f"n_features = {shape[1]}"
            )
        return int(asked)

    def _keep(self, made: dict[str, Any], tolerance: float, X: Any) -> Array:
        self.info_: SvdInfo = svd_info_from(made, tolerance, self.method, self.momentum, self.accuracy)
        self.components_ = np.ascontiguousarray(made["vectors"].T)
        self.singular_values_ = made["eigenvalues"]
        with np.errstate(over="ignore", under="ignore"):
            scores = np.asarray(made["left"] * self.singular_values_)
            if self.info_.exponent:
                scores = np.ldexp(scores, self.info_.exponent)
            self.explained_variance_ = np.var(scores, axis=0)
            total = mean_variance_axis(X, axis=0)[1].sum() if sp.issparse(X) else np.var(X, axis=0).sum()
        ratio = self.explained_variance_ / total if total > 0 else np.zeros_like(self.explained_variance_)
        self.explained_variance_ratio_ = ratio
        self.n_iter_ = max(1, self.info_.iterations)
        self.converged_ = self.info_.converged
        self.status_ = self.info_.status
        self.residual_ = self.info_.residual
        self.sin_theta_ = self.info_.sin_theta_estimate
        self.certificate_ = self.info_.certificate
        return scores

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
