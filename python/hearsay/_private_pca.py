"""Principal components under differential privacy, with scikit-learn's interface."""

from __future__ import annotations

import hashlib
import os
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from hearsay import _core
from hearsay._arrays import compressed_rows, rows_in_place
from hearsay._errors import InvalidArgument
from hearsay._ledger import Ledger, Receipt
from hearsay._options import in_python_words, option_texts
from hearsay._warnings import ConvergenceWarning

__all__ = ["PrivatePCA"]

Array = npt.NDArray[Any]


def _digest(made: dict[str, Any]) -> str:
    """Of all that was released, as ``hearsay pca --dp`` has it."""
    parts = [made[name] for name in ("release", "mean", "directions") if name in made]
    texts = [hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest() for part in parts]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Principal components under (epsilon, delta)-differential privacy.

    ``fit`` releases the sum of the outer products of the rows once, with noise, and solves what it released: every
    fitted attribute is private by that one release. ``fit`` again on the same rows is another release, and costs again:
    with a ``ledger`` it is paid for before a row is read, and refused where the budget does not allow it. ``transform``
    of rows that are themselves to be protected is not private.

    Parameters
    ----------
    n_components : int
    epsilon, delta : float
        The budget of one ``fit``.
    row_norm : float
        Rows are shortened to this norm, which must be chosen without a look at the data; the noise grows with its
        square. There is no default.
    center : {"none", "dp-mean"} or array-like (n_features,)
        What is subtracted from every row before it is shortened: nothing; a mean that is released too, for a tenth of
        the squared budget, and needs ``public_rows``; or a mean that is public.
    neighbours : {"add-remove", "replace"}
        Which data sets must look alike: with a row more or less, or with a row in another's place.
    public_rows : int, optional
        How many rows there are, where everybody may know: makes variances of the sums of squares.
    ledger : hearsay.Ledger, str or path-like, optional
        What ``fit`` is paid from. A path to a ledger that is not there yet begins one, whose budget is that of this
        ``fit``.
    release : {"auto", "stored", "lazy", "fresh"}
        The noisy covariance at once; products with it whose noise is drawn as they are asked for, for more features
        than fit: by itself where four times n_features_in_^2 numbers are more than half of the memory; or three
        products with fresh noise each, which is less accurate.
    insecure_seed : int, optional
        Noise that can be repeated, for tests. Nothing is private then, and ``private_`` is False.

    Attributes
    ----------
    components_ : ndarray (n_components, n_features_in_)
        The largest entry of each is positive.
    explained_variance_ : ndarray (n_components,)
        With the noise's share taken off; 0 where noise drowns it. Sums of squares, not divided by the number of rows,
        where that is not public.
    mean_ : ndarray (n_features_in_,)
        What was subtracted: zero, given, or released.
    sin_theta_ : float
        The private error bar: about the sine of the largest angle to the components without noise; 1 where nothing is
        known.
    captured_, explained_ : float
        About what share of the variance that so many components can capture these do; of all variance.
    covariance_release_ : ndarray (n_features_in_, n_features_in_)
        What was released, and all else is made of: the sum of outer products with noise. Not positive semidefinite. Of
        other forms than stored the products with ``release_directions_``, which is all there is.
    release_directions_ : ndarray (n_features_in_, asked) or None
    receipt_ : tuple or None
        The ledger's id, the number of the record that paid, and its SHA-256.
    mu_, sigma_ : float
        What the release costs, for ``hearsay.privacy``; the noise's standard deviation on its diagonal.
    private_ : bool
    status_ : str
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np, hearsay
    >>> X = np.random.default_rng(0).standard_normal((20000, 8)) * [3, 2, 1, 0.5, 0.5, 0.5, 0.5, 0.5]
    >>> pca = hearsay.PrivatePCA(2, epsilon=1.0, delta=1e-6, row_norm=6.0, public_rows=20000).fit(X)
    >>> pca.components_.shape, pca.private_
    ((2, 8), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        row_norm: float | None = None,
        center: str | npt.ArrayLike = "none",
        neighbours: str = "add-remove",
        public_rows: int | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        release: str = "auto",
        insecure_seed: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.row_norm = row_norm
        self.center = center
        self.neighbours = neighbours
        self.public_rows = public_rows
        self.ledger = ledger
        self.release = release
        self.insecure_seed = insecure_seed

    def fit(self, X: Any, y: Any = None) -> PrivatePCA:
        """Spends the budget on the rows of X (n_samples x n_features); y is ignored."""
        setup = self._setup()
        if self.ledger is not None:
            self._check_shape(np.shape(X) if hasattr(X, "shape") else ())
        ledger, self.receipt_ = self._pay()
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64)
        options = option_texts(rank=self.n_components)
        with in_python_words("n_components"):
            double = np.dtype(np.float64)
            if sp.issparse(X):
                made = _core.private_pca_sparse(*compressed_rows(X, double), options, setup, self.insecure_seed)
            else:
                rows = rows_in_place(X, double)
                made = _core.private_pca_dense(rows, options, setup, self.insecure_seed)
        if ledger is not None and self.receipt_ is not None:
            ledger.released(self.receipt_, _digest(made))
        self._keep(made)
        return self

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        """What the core would refuse after it was paid for."""
        if len(shape) != 2:
            return
        if not 1 <= self.n_components <= shape[1]:
            raise InvalidArgument(f"n_components = {self.n_components}: must lie in [1, {shape[1]}], the dimension")
        if not isinstance(self.center, str) and np.size(self.center) != shape[1]:
            given = np.size(self.center)
            raise InvalidArgument(f"mean: has {given} numbers, and must have {shape[1]}, as the rows have")

    def _pay(self) -> tuple[Ledger | None, Receipt | None]:
        """On the disk when this returns; nothing of the rows has been read."""
        if self.ledger is None:
            return None, None
        if self.insecure_seed is not None:
            raise InvalidArgument("ledger: accounts for private releases, and with insecure_seed there is none")
        ledger = self.ledger
        if not isinstance(ledger, Ledger):
            if os.path.lexists(ledger):
                ledger = Ledger(ledger, neighbours=self.neighbours)
            else:
                name = os.path.basename(os.fspath(ledger)).removesuffix(".ledger")
                epsilon, delta = float(self.epsilon), float(self.delta)
                ledger = Ledger(ledger, data=name, epsilon=epsilon, delta=delta, neighbours=self.neighbours)
        receipt = ledger.spend(
            _core.gaussian_mu(float(self.epsilon), float(self.delta)),
            query=f"the {self.n_components} largest components, row norm {self.row_norm:g}",
            command=f"hearsay.PrivatePCA({self.n_components}, epsilon={self.epsilon!r}, delta={self.delta!r}).fit",
            neighbours=self.neighbours,
        )
        return ledger, receipt

    def _setup(self) -> _core.Privacy:
        """Everything that can be refused before a row is seen."""
        if not isinstance(self.n_components, Integral) or isinstance(self.n_components, bool) or self.n_components < 1:
            raise InvalidArgument(
                f"n_components = {self.n_components!r}: must be an int of at least 1: how many components there are "
                "would be a release of its own"
            )
        if not isinstance(self.row_norm, Real) or isinstance(self.row_norm, bool):
            raise InvalidArgument(
                f"row_norm = {self.row_norm!r}: must be a number, and chosen without a look at the data: it says how "
                "much noise a row needs"
            )
        for name in ("public_rows", "insecure_seed"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < 0):
                raise InvalidArgument(f"{name} = {value!r}: must be None or an int, not negative")
        if self.public_rows == 0:
            raise InvalidArgument("public_rows = 0: must be at least 1")
        if isinstance(self.center, str):
            if self.center not in ("none", "dp-mean"):
                raise InvalidArgument(f"center = {self.center!r}: must be 'none', 'dp-mean', or a mean that is public")
            center, mean = self.center, None
        else:
            center, mean = "given", np.ascontiguousarray(self.center, dtype=np.float64).ravel()
        norm = float(self.row_norm)
        rows = int(self.public_rows or 0)
        budget = float(self.epsilon), float(self.delta)
        return _core.Privacy(*budget, norm, self.neighbours, center, mean, rows, self.release)

    def _keep(self, made: dict[str, Any]) -> None:
        self.components_ = made["vectors"].T
        self.explained_variance_ = made["values"]
        self.mean_ = made["mean"]
        self.sin_theta_ = float(made["sin_theta"])
        self.captured_ = float(made["captured"])
        self.explained_ = float(made["explained"])
        self.covariance_release_ = made["release"]
        self.release_directions_ = made.get("directions")
        self.mu_ = float(made["mu"])
        self.sigma_ = float(made["sigma"])
        self.private_ = self.insecure_seed is None
        self.status_ = made["status"]
        if self.status_ != "converged":
            warnings.warn(f"the solve of the release ended as {self.status_}", ConvergenceWarning, stacklevel=3)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def transform(self, X: Any) -> Array:
        """(X - mean_) components_'. What comes out is as private as X is: not at all by itself."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)
        return np.asarray(safe_sparse_dot(X, self.components_.T) - self.mean_ @ self.components_.T)

    def inverse_transform(self, X: npt.ArrayLike) -> Array:
        """X components_ + mean_."""
        check_is_fitted(self)
        return np.asarray(np.asarray(X) @ self.components_ + self.mean_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        tags.non_deterministic = self.insecure_seed is None
        return tags
