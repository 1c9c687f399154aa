"""The compiled half. Options are pairs of texts, as the option table spells them; results are dictionaries."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[Any]
_Doubles = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int32]
_Longs = npt.NDArray[np.int64]
_Options = list[tuple[str, str]]
_Result = dict[str, Any]
_Callback = Callable[[Any], Any] | None

version: str
bar_factor: float
bar_confidence: float
unresolved_sine: float

def kernel_name() -> str: ...
def threads() -> int: ...
def set_threads(count: int) -> None: ...
def in_words(message: str, spelt: _Options) -> str: ...
def option_table() -> list[dict[str, Any]]: ...
def tolerance_of(options: _Options) -> float: ...

class Noise:
    @staticmethod
    def gaussian(sigma: float, seed: int) -> Noise: ...
    @staticmethod
    def sphere(xi: float, seed: int) -> Noise: ...
    @staticmethod
    def adversarial(basis: _Doubles, xi: float, seed: int) -> Noise: ...
    @staticmethod
    def tight_outside(direction: _Doubles, rank: int, xi: float) -> Noise: ...
    @staticmethod
    def tight_inside(basis: _Doubles, lambda_k: float, two_sqrt_beta: float) -> Noise: ...
    @staticmethod
    def function(function: Callable[[int, _Array], _Array]) -> Noise: ...

class Iteration:
    @property
    def t(self) -> int: ...
    @property
    def momentum(self) -> float: ...
    @property
    def edge(self) -> float: ...
    @property
    def residual(self) -> float: ...
    @property
    def noise(self) -> float: ...
    @property
    def theta_1(self) -> float: ...
    @property
    def theta_k(self) -> float: ...
    @property
    def theta_next(self) -> float: ...
    @property
    def sin_theta(self) -> float: ...
    @property
    def cooling(self) -> bool: ...
    @property
    def basis(self) -> _Array: ...

def pca_dense(
    data: _Array,
    options: _Options,
    center: bool,
    wished_accuracy: float | None,
    noise: Noise | None,
    start: _Array | None,
    callback: _Callback,
    weights: _Array | None = None,
) -> _Result: ...
def pca_rows(
    source: Any,
    rows: int,
    cols: int,
    options: _Options,
    center: bool,
    noise: Noise | None,
    start: _Array | None,
    callback: _Callback,
    weights: _Array | None = None,
) -> _Result: ...
def pca_sparse(
    row_start: _Longs,
    columns: _Ints,
    values: _Array,
    cols: int,
    options: _Options,
    center: bool,
    wished_accuracy: float | None,
    noise: Noise | None,
    start: _Array | None,
    callback: _Callback,
    weights: _Array | None = None,
) -> _Result: ...

class ArrivingDouble:
    def __init__(self, features: int, options: _Options, center: bool) -> None: ...
    def add(self, rows: _Array) -> None: ...
    def result(self) -> _Result: ...
    @property
    def samples(self) -> int: ...
    @property
    def batches(self) -> int: ...

class ArrivingSingle:
    def __init__(self, features: int, options: _Options, center: bool) -> None: ...
    def add(self, rows: _Array) -> None: ...
    def result(self) -> _Result: ...
    @property
    def samples(self) -> int: ...
    @property
    def batches(self) -> int: ...

def svd_dense(matrix: _Array, options: _Options, start: _Array | None, callback: _Callback) -> _Result: ...
def svd_sparse(
    row_start: _Longs,
    columns: _Ints,
    values: _Array,
    cols: int,
    options: _Options,
    start: _Array | None,
    callback: _Callback,
) -> _Result: ...
def svd_function_double(
    multiply: Callable[[_Array], _Array],
    multiply_transposed: Callable[[_Array], _Array],
    rows: int,
    cols: int,
    options: _Options,
    start: _Array | None,
    callback: _Callback,
) -> _Result: ...
def svd_function_single(
    multiply: Callable[[_Array], _Array],
    multiply_transposed: Callable[[_Array], _Array],
    rows: int,
    cols: int,
    options: _Options,
    start: _Array | None,
    callback: _Callback,
) -> _Result: ...
def require_symmetric_dense(matrix: _Array) -> None: ...
def require_symmetric_sparse(row_start: _Longs, columns: _Ints, values: _Array, cols: int) -> None: ...
def eigs_dense(
    matrix: _Array,
    options: _Options,
    shift: float,
    psd: bool,
    noisy: bool | None,
    noise: Noise | None,
    start: _Array | None,
    reference: _Array | None,
    callback: _Callback,
) -> _Result: ...
def eigs_sparse(
    row_start: _Longs,
    columns: _Ints,
    values: _Array,
    cols: int,
    options: _Options,
    shift: float,
    psd: bool,
    noisy: bool | None,
    noise: Noise | None,
    start: _Array | None,
    reference: _Array | None,
    callback: _Callback,
) -> _Result: ...
def eigs_function_double(
    function: Callable[[_Array], _Array],
    dim: int,
    options: _Options,
    shift: float,
    psd: bool,
    noisy: bool | None,
    noise: Noise | None,
    start: _Array | None,
    reference: _Array | None,
    callback: _Callback,
) -> _Result: ...
def eigs_function_single(
    function: Callable[[_Array], _Array],
    dim: int,
    options: _Options,
    shift: float,
    psd: bool,
    noisy: bool | None,
    noise: Noise | None,
    start: _Array | None,
    reference: _Array | None,
    callback: _Callback,
) -> _Result: ...
def embed(
    nodes: int,
    edges: _Ints,
    weights: _Doubles | None,
    options: _Options,
    noise: Noise | None,
    callback: _Callback,
) -> _Result: ...
def kmeans(
    points: _Doubles, clusters: int, restarts: int, max_iterations: int, tolerance: float, seed: int
) -> _Result: ...
def connected_components(nodes: int, edges: _Ints) -> _Ints: ...
def planted_partition(
    nodes: int, communities: int, mean_degree_inside: float, mean_degree_outside: float, seed: int
) -> _Ints: ...
def planted_communities(nodes: int, communities: int) -> _Ints: ...
def adjusted_rand_index(first: _Ints, second: _Ints) -> float: ...
def ring_graph(nodes: int) -> _Ints: ...
def path_graph(nodes: int) -> _Ints: ...
def star_graph(nodes: int) -> _Ints: ...
def complete_graph(nodes: int) -> _Ints: ...
def grid_graph(rows: int, columns: int) -> _Ints: ...
def torus_graph(rows: int, columns: int) -> _Ints: ...
def erdos_renyi_graph(nodes: int, probability: float, seed: int) -> _Ints: ...
def random_regular_graph(nodes: int, degree: int, seed: int) -> _Ints: ...

class GossipMatrix:
    @staticmethod
    def ring(agents: int) -> GossipMatrix: ...
    @staticmethod
    def metropolis(nodes: int, edges: _Ints) -> GossipMatrix: ...
    @staticmethod
    def from_rows(row_start: _Longs, columns: _Ints, values: _Doubles) -> GossipMatrix: ...
    def lazy(self) -> GossipMatrix: ...
    @property
    def agents(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def diameter(self) -> int: ...
    def rows(self) -> tuple[_Doubles, _Ints, _Longs]: ...
    def spectrum(self) -> GossipSpectrum: ...

class GossipSpectrum:
    def __init__(self, lo: float, hi: float) -> None: ...
    @property
    def lo(self) -> float: ...
    @property
    def hi(self) -> float: ...
    @property
    def measured(self) -> bool: ...
    @property
    def gap(self) -> float: ...

class DecentralizedIteration:
    @property
    def t(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def rounds_next(self) -> int: ...
    @property
    def residual(self) -> float: ...
    @property
    def disagreement(self) -> float: ...
    @property
    def momentum(self) -> float: ...
    @property
    def sin_theta(self) -> float: ...

def gossip_contraction(kind: str, spectrum: GossipSpectrum, rounds: int) -> float: ...
def gossip_rounds(kind: str, spectrum: GossipSpectrum, goal: float) -> int: ...
def gossip(
    matrix: GossipMatrix, kind: str, rounds: int, values: _Doubles
) -> tuple[_Doubles, tuple[int, int, int, int]]: ...
def decentralized_pca(
    matrix: GossipMatrix,
    shards: list[_Doubles],
    centred: bool,
    options: _Options,
    reference: _Doubles | None,
    callback: _Callback,
) -> tuple[_Result, _Doubles]: ...

class Agent:
    def __init__(
        self,
        number: int,
        rows: _Doubles,
        columns: list[str],
        names: list[str],
        matrix: GossipMatrix,
        options: _Options,
        centred: bool,
        configuration: str,
        patience: list[float],
        told_time: bool,
        nonce: int,
        callback: _Callback,
    ) -> None: ...
    @property
    def neighbours(self) -> list[int]: ...
    @property
    def done(self) -> bool: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def now(self) -> float: ...
    def receive(self, neighbour: int, frame: bytes) -> None: ...
    def frames(self, timeout: float | None) -> list[tuple[int, bytes]]: ...
    def opened(self, neighbour: int) -> None: ...
    def closed(self, neighbour: int, reason: str) -> None: ...
    def tell(self, seconds: float) -> None: ...
    def stop(self) -> None: ...
    def leave(self) -> None: ...
    def close(self) -> None: ...
    def result(self) -> _Result: ...

def plan(
    dimension: int,
    rank: int,
    lambda_1: float,
    lambda_k: float,
    lambda_next: float,
    eigenvalues: list[float],
    epsilon: float,
    start_tangent: float | None,
    noise_level: float | None,
    noise_sigma: float | None,
    small_beta: float | None,
    agents: int | None,
    gossip_gap: float,
    max_norm: float | None,
    degree: float,
) -> _Result: ...

class Privacy:
    def __init__(
        self,
        epsilon: float,
        delta: float,
        row_norm: float,
        neighbours: str,
        center: str,
        mean: _Doubles | None,
        public_rows: int,
        release: str,
    ) -> None: ...

def private_pca_dense(data: _Doubles, options: _Options, privacy: Privacy, insecure_seed: int | None) -> _Result: ...
def private_pca_sparse(
    row_start: _Longs,
    columns: _Ints,
    values: _Doubles,
    cols: int,
    options: _Options,
    privacy: Privacy,
    insecure_seed: int | None,
) -> _Result: ...
def private_plan(
    privacy: Privacy, rank: int, dimension: int, spectrum: _Doubles, sine: float | None
) -> tuple[float, float, float, float | None]: ...
def ledger_show(path: str) -> dict[str, Any]: ...
def ledger_begin(
    path: str, data: str, site: str, neighbours: str, epsilon: float, delta: float, when: int
) -> None: ...
def ledger_reserve(
    path: str, mu: float, neighbours: str, query: str, command: str, when: int
) -> tuple[str, int, str]: ...
def ledger_released(path: str, receipt: tuple[str, int, str], digest: str, when: int) -> None: ...
def gaussian_mu(epsilon: float, delta: float) -> float: ...
def gaussian_epsilon(mu: float, delta: float) -> float: ...
def gaussian_delta(mu: float, epsilon: float) -> float: ...

theory: Any  # its functions are typed in theory.py
