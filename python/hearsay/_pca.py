"""PCA with scikit-learn's interface."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from hearsay import _core
from hearsay._arrays import arithmetic, compressed_rows, precision_text, rows_in_place
from hearsay._errors import DataError, InvalidArgument
from hearsay._options import Options, accuracy_on, in_python_words, option_texts, seed_from
from hearsay._progress import watching
from hearsay._result import Callback, Info, info_from
from hearsay._rows import SourceOfRows, is_row_source
from hearsay._stream import Arriving, Stream, row_blocks
from hearsay._warnings import ConvergenceWarning, warn_unless_converged
from hearsay.noise import NoiseLike, as_asked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PCA"]

Array = npt.NDArray[Any]

FLOATS = (np.float64, np.float32)
SHARP = 1e-8  # the estimated sine a fit in double precision aims at where no tolerance is given
DRIFT = "the rows have changed on the way: the components are those of the later part of the stream"
SPELT = ("n_components", "tol", "max_iter", "oversampling", "random_state", "missing", "batch", "noise")


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What fitted components can do: project, and go back."""

    components_: Array
    mean_: Array
    scale_: Array | None = None
    explained_variance_: Array
    whiten: bool = False
    missing: str = "refuse"

    def transform(self, X: Any) -> Array:
        """The coordinates of the samples: (X - mean_) / scale_ components_', each of variance one if they are whitened.

        Missing entries follow ``missing``: a row that "drop-rows" leaves out has NaN for its coordinates.
        """
        check_is_fitted(self)
        if is_row_source(X):
            source = SourceOfRows(X, self.missing != "refuse")
            parts = [self.transform(rows) for rows in source]
            return np.vstack(parts) if parts else np.empty((0, self._n_features_out))
        finite: Any = True if self.missing == "refuse" else "allow-nan"
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, ensure_all_finite=finite, reset=False)
        components = (self.components_ / self._deviations()).astype(X.dtype, copy=False)
        if self.scale_ is not None:
            components = components / self.scale_.astype(X.dtype, copy=False)
        mean = self.mean_.astype(X.dtype, copy=False)
        if sp.issparse(X):
            return self._transform_sparse(X, components, mean)
        # Block by block, so that an offset is subtracted before it meets a product and no second X exists.
        scores = np.empty((X.shape[0], len(components)), dtype=X.dtype)
        first = 0
        for rows in row_blocks(X):
            part = scores[first : first + len(rows)]
            holes = np.isnan(rows).any(axis=1) if self.missing != "refuse" else np.zeros(len(rows), dtype=bool)
            centred = np.nan_to_num(rows - mean) if holes.any() else rows - mean
            np.matmul(centred, components.T, out=part)
            if self.missing == "drop-rows":
                part[holes] = np.nan
            elif self.missing == "em" and holes.any():
                part[holes] = [self._expected_scores(row) for row in rows[holes]] / np.ravel(self._deviations())
            first += len(rows)
        return scores

    def _transform_sparse(self, X: Any, components: Array, mean: Array) -> Array:
        rows = X.tocsr()
        holes = np.isnan(rows.data)
        if holes.any():
            if self.missing == "em":
                raise InvalidArgument("missing = 'em': fills entries in, and needs data that are stored in full")
            rows = rows.copy()
            rows.data = np.where(holes, mean[rows.indices], rows.data)
        scores = np.asarray(rows @ components.T - mean @ components.T)
        if self.missing == "drop-rows":
            scores[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[holes]] = np.nan
        return scores

    def _expected_scores(self, row: Array) -> Array:
        """The coordinates of a row with missing entries: these at their mean given the others, in the model's normal
        distribution (probabilistic PCA), as EM leaves them."""
        here = ~np.isnan(row)
        centred = (row.astype(float) - self.mean_) / (1.0 if self.scale_ is None else self.scale_)
        V, variances = self.components_.T.astype(float), self.explained_variance_.astype(float)
        noise = float(getattr(self, "noise_variance_", 0.0))
        L = np.sqrt(np.maximum(variances - noise, 0))
        noise = max(noise, 1e-12 * float(variances[0])) or 1.0
        P, q = V[here].T @ V[here], centred[here] @ V[here]
        made = L * np.linalg.solve(L[:, None] * P * L + noise * np.eye(len(L)), L * q)
        return np.asarray(q + made - P @ made)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """fit(X).transform(X)."""
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[no-any-return]

    def inverse_transform(self, X: npt.ArrayLike) -> Array:
        """Samples with these coordinates: X components_ scale_ + mean_."""
        check_is_fitted(self)
        scores = np.asarray(X)
        samples = scores @ (self.components_ * self._deviations())
        return np.asarray((samples if self.scale_ is None else samples * self.scale_) + self.mean_)

    def _deviations(self) -> Array | float:
        if not self.whiten:
            return 1.0
        deviations = np.sqrt(self.explained_variance_)
        return np.where(deviations > 0, deviations, np.finfo(deviations.dtype).eps)[:, None]

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class PCA(LinearProjection):
    """Principal component analysis by the accelerated noisy power method; scikit-learn's PCA in its interface.

    Parameters
    ----------
    n_components : int, float, None or "mle"
        How many components to keep. Between 0 and 1: as few as explain more than that share of the variance. "mle": as
        many as Minka's criterion finds, up to 4000 features and with at least as many samples. None: all there are.
    tol : float, optional
        Stop when the residual ||A V - V V'AV||_F / ||A V||_F of the covariance A, measured on the components returned,
        is at most this. None: 1e-10, in single precision 1e-5; and where the eigenvalues span so many orders of
        magnitude that this leaves an estimated sin(theta) above 1e-8, a few iterations more, as far as rounding allows.
    accuracy : float, optional
        Stop when sin(theta) of the subspace is estimated to be at most this, under noise when the error bar is; without
        a ``tol`` of its own that is the same number.
    certify : {"full", "residual", "none"}
        How much to find out about the answer, for ``certificate_``: "full" looks for what may have been missed, with
        products of its own; "residual" spends none on that; "none" says nothing beyond the residual.
    products : int, optional
        Multiply at most so many columns by the matrix; under noise all of them are spent, and the more the better.
    max_iter : int, optional
        Stop after so many iterations in any case. None: 1000, or no limit where ``products`` is given.
    method : {"auto", "anpm", "npm", "krylov", "direct", "averaged"}
        "anpm" is the accelerated noisy power method, "npm" the plain one, "krylov" a block Krylov space, for exact
        products, "direct" forms the covariance, or of wide data the matrix of samples by samples, and finds all its
        eigenvalues, "averaged" is for noisy products: a wide block, then averages of a narrow one, with an error bar.
        "auto" takes averaged where products are noisy; where they are exact, and nothing else is said about the
        iteration, direct or krylov, whichever costs less by the shape of the data, k and the accuracy.
        ``info_.method`` names what was used.
    momentum : {"auto", "paper", "optimal", "none"} or float
        A number is the paper's beta.
    oversampling : "auto" or int
        Extra columns in the block.
    center : bool
        Subtract the mean of every feature. Without it the matrix is X'X / n_samples.
    standardize : bool
        Divide every feature by its standard deviation (divisor n_samples - 1), so that the matrix is the correlation
        matrix: n_samples / (n_samples - 1) times the variances of scikit-learn's StandardScaler are those of PCA after
        it. Constant features are left at zero and named in ``info_.notes``. X is not copied.
    missing : {"refuse", "drop-rows", "mean", "em"}
        What becomes of NaN in X: an error; its row is left out; the mean of its column, without a copy of X; or filled
        in from the components, again and again until it comes to rest (EM, on a copy). ``missing_`` tells how many.
        What is certified is the matrix so made, never the entries.
    batch : int, optional
        Rows of a product, more than components: ``fit`` draws so many at random for each, and ends after three passes
        over the data unless ``max_iter`` says otherwise; ``partial_fit`` takes them as they come and keeps none.
        Such products are noisy, and their averages have an error bar. None: all rows in every product.
    noise : None, str, a model of ``hearsay.noise`` or a function (product, X) -> Xi
        Errors to add to every product with the covariance.
    noise_norm : float, optional
        Your word that no product's error exceeds this in spectral norm: it is added to the error bar, over the gap, for
        errors that are not independent.
    whiten : bool
        Scale the coordinates to variance one, as scikit-learn does.
    precision : {"auto", "double", "single", "mixed"}
        "auto" keeps float32 and computes everything else in double; "mixed" does in single precision what single
        precision can certify, on a copy, and the rest in double. On a device as in ``hearsay.eigsh``.
    device : {"cpu", "cuda", "cuda:1", "cuda,cpu", ...}
        Where products of dense data are made, as in ``hearsay.eigsh``.
    random_state : int, None, RandomState or Generator
        Drives the random start block and nothing else.
    warm_start : bool
        Start from the components of the last fit.
    callback : function, optional
        Called with every iteration (t, residual, momentum, basis, ...); returning False stops the solve. "auto" then
        takes a way that has iterations.
    verbose : bool
        Show a bar (tqdm's, if it is installed).

    Attributes
    ----------
    components_ : ndarray (n_components_, n_features_in_)
        By decreasing variance; the largest entry of each is positive.
    explained_variance_, explained_variance_ratio_, singular_values_, mean_, noise_variance_ : ndarray or float
        As in scikit-learn.
    scale_ : ndarray or None
        What each feature was divided by: its standard deviation, 1 where it is constant. None: not standardized.
    missing_ : dict
        policy, entries, rows, dropped_rows, empty_rows and, of "em", rounds, change and settled.
    n_components_, n_samples_, n_features_in_, feature_names_in_ : int or ndarray
        As in scikit-learn.
    n_iter_ : int
        At least 1; ``info_.iterations`` has the solver's count.
    converged_ : bool
    status_ : str
        Why it ended: "converged", "noise_floor", "rounding_floor", "ambiguous", "iteration_limit",
        "stopped_by_observer" or "breakdown". Anything but the first comes with a ConvergenceWarning.
    residual_ : float
        Of exactly these components.
    noise_floor_ : float
        Where the residual stopped falling, if ``status_`` is "noise_floor"; else NaN.
    sin_theta_ : float
        About the sine of the largest angle between the components and the true ones: under noise the error bar.
    error_bar_ : ErrorBar or None
        Of noisy products that were averaged.
    certificate_ : Certificate
        How right the components are: bounds, estimates and what is unknown, kept apart.
    sin_theta_bar_ : float
        Of ``partial_fit`` by batches: about how far the components are from those of where the rows come from, as
        sin(theta), within a factor of 3 in about 95 of 100 streams; NaN before there is enough to average.
    drift_ : bool
        Of ``partial_fit`` by batches: earlier and later rows disagree by more than chance explains.
    history_ : structured array
        A record per iteration: t, momentum, edge, residual, noise, theta_1, theta_k, theta_next, sin_theta.
    info_ : Info
        All of it, and what it cost.

    Notes
    -----
    The data are not copied when they are float64 or float32 with contiguous rows, be it a slice of a larger array, or
    CSR with 32-bit indices (of which the row starts are copied). Fortran order, other types and CSC are copied once, in
    the number type of the solve: rows are centred block by block in cache, which needs them side by side.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import hearsay
    >>> X = load_iris().data
    >>> pca = hearsay.PCA(2).fit(X)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9246, 0.0531])
    >>> pca.transform(X).shape
    (150, 2)
    >>> pca.status_
    'converged'
    """

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        tol: float | None = None,
        accuracy: float | None = None,
        certify: str = "full",
        products: int | None = None,
        max_iter: int | None = None,
        method: str = "auto",
        momentum: str | float = "auto",
        oversampling: str | int = "auto",
        center: bool = True,
        standardize: bool = False,
        missing: str = "refuse",
        batch: int | None = None,
        noise: NoiseLike = None,
        noise_norm: float | None = None,
        whiten: bool = False,
        precision: str = "auto",
        device: str = "cpu",
        random_state: Any = 0,
        warm_start: bool = False,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.accuracy = accuracy
        self.certify = certify
        self.products = products
        self.max_iter = max_iter
        self.method = method
        self.momentum = momentum
        self.oversampling = oversampling
        self.center = center
        self.standardize = standardize
        self.missing = missing
        self.batch = batch
        self.noise = noise
        self.noise_norm = noise_norm
        self.whiten = whiten
        self.precision = precision
        self.device = device
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> PCA:
        """Finds the components of X (n_samples x n_features); y is ignored.

        A row of weight 2 counts as two rows, one of weight 0 not at all: the mean is weighted, and the covariance is
        divided by the sum of the weights less one, which must be positive. None is negative.

        X may be any object with ``shape`` and ``blocks()`` (``hearsay.RowSource``): its rows are read pass by pass and
        never held, in double precision.
        """
        X = self._samples_in(X)
        for stream in ("_stream", "_arriving", "sin_theta_bar_", "drift_"):
            if hasattr(self, stream):
                delattr(self, stream)
        start = self._warm_block(X.shape[1]) if self.warm_start else None
        weights, rows = None, X.shape[0]
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            weights = np.ascontiguousarray(weights)
            rows = max(1, int(weights.sum()))  # that they stand for
        limit = min(rows, X.shape[1])
        try:
            if self._rule_of_the_core():
                made = self._solve(X, self.n_components, start, self.batch, weights)
            else:
                made = self._solve(X, self._first_rank(limit), start, self.batch, weights)
            while not self._rule_of_the_core() and self._wants_more(made, limit):
                made = self._solve(X, min(limit, 2 * made["vectors"].shape[1]), made["vectors"], self.batch, weights)
        except DataError:
            if isinstance(X, SourceOfRows):
                raise
            assert_all_finite(X, allow_nan=self.missing != "refuse", estimator_name="PCA", input_name="X")
            raise
        rank = made["vectors"].shape[1] if self._rule_of_the_core() else self._share_rank(made)
        dropped = made["missing"]["dropped_rows"]
        self._keep(made, rank, samples=X.shape[0] - dropped, limit=min(rows - dropped, X.shape[1]))
        warn_unless_converged(self.info_)
        return self

    def _samples_in(self, X: Any) -> Any:
        if is_row_source(X):
            source = SourceOfRows(X, self.missing != "refuse")
            least = 2 if self.center else 1
            if source.shape[0] < least or source.shape[1] < 1:
                raise InvalidArgument(
                    f"source: is of shape {source.shape}; it needs {least} rows and a column at least"
                )
            if self.precision not in ("auto", "double"):
                raise InvalidArgument(
                    f"precision = {self.precision!r}: rows that pass by are solved in double precision"
                )
            self.n_features_in_ = source.shape[1]
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return source
        return validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=FLOATS,
            ensure_all_finite=False,  # the core looks, in the pass that finds the mean
            ensure_min_samples=2 if self.center else 1,
        )

    def partial_fit(self, X: Any, y: Any = None) -> PCA:
        """Takes in more rows of a stream and finds the components of all rows seen so far.

        Without ``batch`` the number of rows, their mean and their scatter are kept, in double precision. Up to about
        16,000 features the answer is that of ``fit`` on all rows at once. Beyond, only leading directions of the
        scatter are kept, twice as many as components and at least 32 more, and the answer is an approximation. Each
        call starts from the last one's components.

        With ``batch`` every so many rows make one noisy product, whose averages are the answer: memory is about ten
        times that of the components, and two batches, however long the stream. ``sin_theta_bar_`` says how good the
        answer is after every call, ``drift_`` whether the rows have changed on the way, which also comes with a
        ConvergenceWarning. A second pass over the same rows may be fed like the first.
        """
        if self.device != "cpu":
            raise InvalidArgument(f"device = {self.device}: must be cpu for partial_fit, whose rows pass by")
        if self.batch is not None:
            return self._partial_fit_by_batches(X)
        first = not hasattr(self, "_stream")
        X = self._rows_of_stream(X, first)
        features = X.shape[1]
        if first:
            rank = self.n_components if isinstance(self.n_components, Integral) else features
            self._stream = Stream(features, self.center, kept=max(2 * int(rank), int(rank) + 32))
        stream = self._stream
        stream.add(X)
        limit = min(stream.samples, features)
        rank = self._first_rank(limit) if not isinstance(self.n_components, Integral) else min(limit, self.n_components)
        start = None if first else self._warm_block(features)
        made = self._solve_stream(stream, rank, start)
        while self._wants_more(made, limit):
            made = self._solve_stream(stream, min(limit, 2 * made["vectors"].shape[1]), made["vectors"])
        self._keep(made, self._share_rank(made), samples=stream.samples, limit=limit)
        self.components_ = self.components_.astype(X.dtype, copy=False)
        self.mean_ = self.mean_.astype(X.dtype, copy=False)
        warn_unless_converged(self.info_)
        return self

    def _rows_of_stream(self, X: Any, first: bool) -> Any:
        """Rows as they pass by: those with missing entries can be left out, but filled in they cannot be."""
        drop = self.missing == "drop-rows"
        finite: Any = "allow-nan" if self.missing != "refuse" else True
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, ensure_all_finite=finite, reset=first)
        holes = np.isnan(X.sum(axis=1)).ravel() if self.missing != "refuse" else np.zeros(X.shape[0], dtype=bool)
        if holes.any() and not drop:
            raise InvalidArgument(
                f"missing = {self.missing!r}: partial_fit cannot fill in rows that pass by; use 'drop-rows', or fit"
            )
        return X[~holes] if holes.any() else X

    def _partial_fit_by_batches(self, X: Any) -> PCA:
        if self.standardize:
            raise InvalidArgument("standardize = True: must be False where partial_fit goes by batches")
        first = not hasattr(self, "_arriving")
        X = self._rows_of_stream(X, first)
        if first:
            self._arriving = self._begin_arriving(X)
        stream = self._arriving
        stream.add(X)
        made = stream.made(self._solve)
        made["info"] = made.get("info") or info_from(made, 0.0, self.method, self.momentum, self.accuracy)
        rank = made["vectors"].shape[1]
        self._keep(made, rank, samples=stream.samples, limit=min(stream.samples, X.shape[1]))
        self.components_ = self.components_.astype(X.dtype, copy=False)
        self.mean_ = self.mean_.astype(X.dtype, copy=False)
        bar = made.get("stream_bar", {})
        self.sin_theta_bar_ = float(bar.get("sin_theta", np.nan))
        self.drift_ = bool(bar.get("drift", False))
        if self.drift_:
            warnings.warn(DRIFT, ConvergenceWarning, stacklevel=3)
        return self

    def _begin_arriving(self, X: Any) -> Arriving:
        features, asked = X.shape[1], self.n_components
        if not isinstance(asked, Integral) or isinstance(asked, bool) or not 1 <= asked < features:
            raise InvalidArgument(
                f"n_components = {asked!r}: must be an int from 1 to {features - 1}, below the number of features, "
                "where `batch` is given"
            )
        for name in ("method", "momentum"):
            if getattr(self, name) not in ("auto", "averaged"):
                raise InvalidArgument(
                    f"{name} = {getattr(self, name)!r}: must be 'auto' where partial_fit goes by batches"
                )
        if self.noise is not None:
            raise InvalidArgument(f"noise = {self.noise!r}: must be None where partial_fit goes by batches")
        with in_python_words(*SPELT):
            options = option_texts(n_components=asked, batch=self.batch, random_state=seed_from(self.random_state))
            return Arriving(features, options, bool(self.center), arithmetic(X.dtype, self.precision))

    def get_covariance(self) -> Array:
        """The model's: components_' (explained_variance_ - noise_variance_) components_ + noise_variance_ I."""
        check_is_fitted(self)
        spare = np.maximum(self.explained_variance_ - self.noise_variance_, 0)
        covariance = np.asarray((self.components_.T * spare) @ self.components_)
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        return covariance

    def score_samples(self, X: Any) -> Array:
        """The log-likelihood of each sample under the normal distribution with that covariance (Tipping and Bishop);
        of the standardized sample, where ``standardize`` is set."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        variances, noise, left = self.explained_variance_.astype(float), self.noise_variance_, self.mean_.size
        left -= self.n_components_
        if not (variances > 0).all() or (left > 0 and not noise > 0):
            raise InvalidArgument("score: the covariance is singular; ask for fewer components")
        log_determinant = np.log(variances).sum() + (left * np.log(noise) if left else 0.0)
        constant = self.mean_.size * np.log(2 * np.pi) + log_determinant
        likelihoods = np.empty(X.shape[0])
        first = 0
        for rows in row_blocks(X):
            centred = rows.astype(float) - self.mean_
            if self.scale_ is not None:
                centred /= self.scale_
            scores = centred @ self.components_.T
            distance = np.square(scores) @ (1 / variances)
            if left:
                distance += (np.square(centred).sum(axis=1) - np.square(scores).sum(axis=1)) / noise
            likelihoods[first : first + len(rows)] = -0.5 * (distance + constant)
            first += len(rows)
        return likelihoods

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of score_samples(X): what a search over n_components maximises."""
        return float(self.score_samples(X).mean())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the convergence of the last fit (``hearsay.plots.convergence``)."""
        check_is_fitted(self)
        return self.info_.plot(ax)

    # ---- The solve --------------------------------------------------------------------------------------------------

    def _options(self, rank: Any, dtype: np.dtype[Any], batch: int | None = None) -> tuple[Options, _core.Noise | None]:
        noise_options, model = as_asked(self.noise)
        options = noise_options + option_texts(
            n_components=rank,
            tol=self.tol,
            accuracy=accuracy_on(self.device, self.tol, self.accuracy),
            certify=self.certify,
            products=self.products,
            max_iter=self.max_iter,
            batch=batch,
            standardize=bool(self.standardize),
            missing=self.missing,
            method=self.method,
            momentum=self.momentum,
            oversampling=self.oversampling,
            noise_norm=self.noise_norm,
            precision=precision_text(dtype, self.precision, self.device),
            device=self.device,
            random_state=seed_from(self.random_state),
        )
        return options, model

    def _solve(
        self, X: Any, rank: Any, start: Array | None, batch: int | None = None, weights: Array | None = None
    ) -> dict[str, Any]:
        dtype = arithmetic(X.dtype, self.precision)
        with in_python_words(*SPELT):
            options, model = self._options(rank, dtype, batch)
            tolerance = _core.tolerance_of(options)
            sharp = self.tol is None and self.accuracy is None and dtype == np.float64 and self.precision != "mixed"
            wished_accuracy = SHARP if sharp and batch is None and self.device == "cpu" else None
            center = bool(self.center)
            start = None if start is None else np.ascontiguousarray(start, dtype=dtype)
            with watching(self.callback, self.verbose, tolerance, "PCA") as watch:
                if isinstance(X, SourceOfRows):
                    made = _core.pca_rows(X, *X.shape, options, center, model, start, watch, weights)
                elif sp.issparse(X):
                    made = _core.pca_sparse(
                        *compressed_rows(X, dtype), options, center, wished_accuracy, model, start, watch, weights
                    )
                else:
                    rows = rows_in_place(X, dtype)
                    made = _core.pca_dense(rows, options, center, wished_accuracy, model, start, watch, weights)
        if isinstance(X, SourceOfRows) and not made["total_variance"] > 0:
            made["total_variance"] = float(scaled(np.float64(X.total_variance(center)), -made["exponent"]))
        made["info"] = info_from(made, tolerance, self.method, self.momentum, self.accuracy)
        return made

    def _solve_stream(self, stream: Stream, rank: int, start: Array | None) -> dict[str, Any]:
        dtype = np.dtype(np.float64)
        scale: Array | None = None
        covariance = np.empty(0)
        if self.standardize and stream.scatter is None:
            raise InvalidArgument("standardize = True: must be False for partial_fit with so many features")
        with in_python_words(*SPELT):
            options, model = self._options(rank, dtype)
            tolerance = _core.tolerance_of(options)
            start = None if start is None else np.ascontiguousarray(start, dtype=dtype)
            with watching(self.callback, self.verbose, tolerance, "PCA") as watch:
                if stream.scatter is not None:
                    covariance = stream.scatter / stream.divisor
                    if self.standardize:
                        covariance, scale = standardized(covariance)
                    made = _core.eigs_dense(covariance, options, 0.0, True, None, model, start, None, watch)
                else:
                    rows = stream.factor * np.sqrt(len(stream.factor) / stream.divisor)
                    made = _core.pca_dense(rows, options, False, None, model, start, watch)
        made["mean"] = stream.mean.copy()
        made["scale"] = scale
        made["total_variance"] = float(np.trace(covariance)) if self.standardize else stream.total_variance
        made["singular_values"] = np.sqrt(np.maximum(0, made["eigenvalues"]) * stream.divisor)
        made["info"] = info_from(made, tolerance, self.method, self.momentum, self.accuracy)
        return made

    def _warm_block(self, features: int) -> Array | None:
        block: Array | None = getattr(self, "_block", None)
        return block if block is not None and len(block) == features else None

    # ---- How many components ----------------------------------------------------------------------------------------

    def _share(self) -> float | None:
        """The share of the variance that is asked for, where a share is."""
        asked = self.n_components
        is_share = isinstance(asked, Real) and not isinstance(asked, Integral) and 0 < asked < 1
        return float(asked) if is_share else None  # type: ignore[arg-type]

    def _rule_of_the_core(self) -> bool:
        """Whether the core finds the rank: by Minka's criterion, or by a share where products are exact."""
        if isinstance(self.n_components, str):
            if self.n_components != "mle":
                raise InvalidArgument(
                    f"n_components = {self.n_components!r}: must be an int, a share between 0 and 1, 'mle' or None"
                )
            return True
        return self._share() is not None and self.batch is None and self.noise is None

    def _first_rank(self, limit: int) -> int:
        asked = self.n_components
        if asked is None:
            return limit
        if self._share() is not None:
            return min(limit, 8)
        if not isinstance(asked, Integral) or isinstance(asked, bool) or not 1 <= asked <= limit:
            raise InvalidArgument(
                f"n_components = {asked!r}: must be an int from 1 to {limit}, the lesser of samples and features, "
                "a share between 0 and 1, or None"
            )
        return int(asked)

    def _wants_more(self, made: dict[str, Any], limit: int) -> bool:
        share, found = self._share(), made["vectors"].shape[1]
        if share is None or found == limit or made["status"] == "stopped_by_observer":
            return False
        return bool(made["eigenvalues"].sum(dtype=float) < share * made["total_variance"])

    def _share_rank(self, made: dict[str, Any]) -> int:
        share, found = self._share(), int(made["vectors"].shape[1])
        if share is None:
            return found
        explained = np.cumsum(made["eigenvalues"], dtype=float)
        return min(found, int(np.searchsorted(explained, share * made["total_variance"], side="right")) + 1)

    # ---- The fitted attributes --------------------------------------------------------------------------------------

    def _keep(self, made: dict[str, Any], rank: int, samples: int, limit: int) -> None:
        self.info_: Info = made["info"]
        variances, total = made["eigenvalues"][:rank], made["total_variance"]
        vectors = made["vectors"][:, :rank]
        if self.n_components is None:
            vectors = with_settled_rest(vectors, variances, max(samples, len(vectors)))
        self.components_ = np.ascontiguousarray(vectors.T)
        self.mean_ = made["mean"]
        self.scale_ = made["scale"] if self.standardize else None
        self.missing_ = made.get("missing", {"policy": "refuse"})
        self.n_components_ = rank
        self.n_samples_ = samples
        self.explained_variance_ = scaled(variances, self.info_.exponent)
        self.explained_variance_ratio_ = variances / total if total > 0 else np.zeros_like(variances)
        self.singular_values_ = made["singular_values"][:rank]
        left = max(0.0, total - float(variances.sum(dtype=float))) if rank < limit else 0.0
        self.noise_variance_ = float(scaled(np.float64(left / max(1, limit - rank)), self.info_.exponent))
        self.n_iter_ = max(1, self.info_.iterations)
        self.converged_ = self.info_.converged
        self.status_ = self.info_.status
        self.residual_ = self.info_.residual
        self.noise_floor_ = self.info_.noise_floor
        self.sin_theta_ = self.info_.sin_theta_estimate
        self.error_bar_ = self.info_.error_bar
        self.certificate_ = self.info_.certificate
        self.history_ = self.info_.history
        self._block = _block_of(made)


def scaled(variances: Any, exponent: int) -> Any:
    """2^exponent variances: infinite or zero where they leave the range of their type, as squares of 1e300 do."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(variances, exponent) if exponent else variances


def standardized(covariance: Array) -> tuple[Array, Array]:
    """The correlation matrix, and the standard deviations: 1 for a constant feature, of which nothing is left."""
    deviations = np.sqrt(np.diag(covariance))
    scale = np.where(deviations > 0, deviations, 1.0)
    return np.ascontiguousarray(covariance / np.outer(scale, scale)), scale


def with_settled_rest(vectors: Array, variances: Array, size: int) -> Array:
    """Directions in which the data do not vary are anybody's choice: here they follow from those in which they do, and
    not from the order of the rows, their weights or the seed."""
    least = 10 * size * np.finfo(vectors.dtype).eps * (variances[0] if len(variances) else 0)
    known = int(np.count_nonzero(variances > least))
    rest = vectors.shape[1] - known
    if rest == 0:
        return vectors
    V = vectors[:, :known].astype(float)
    beside = np.eye(len(V), rest) - V @ V[:rest].T
    Q, R = np.linalg.qr(beside)
    if np.abs(np.diag(R)).min() < 1e-4:  # the first axes do not span the rest
        return vectors
    Q, R = np.linalg.qr(Q - V @ (V.T @ Q))
    Q *= np.sign(Q[np.abs(Q).argmax(axis=0), np.arange(rest)])
    return np.hstack([vectors[:, :known], Q.astype(vectors.dtype)])


def _block_of(made: dict[str, Any]) -> Array:
    """The best warm start: the solver's whole block, where that lived on the features' side."""
    block: Array = made["vectors"] if made.get("by_samples") else made["block"]
    return block
