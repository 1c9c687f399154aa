"""Solves on a CUDA device beside those of torch and cupy, on planted matrices that are made there, in one process.

    python3 bench/gpu/run.py LIBRARY [SECTION ...] [--json FILE]

LIBRARY is build/.../bench/gpu/libhearsay_gpu_bench.so. Sections: verbs, dense, big, deep, rungs, pca, sparse, seeds,
certified, peers, bigpeers, pcapeers, sparsepeers. Every time is a median after warm-up, of a whole solve with what is
made of the matrix; sines are against eigenvectors refined in double precision. Peers are tuned in hindsight: the
cheapest setting that reaches the accuracy is timed.
"""

import ctypes
import json
import sys
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
DEVICE = "cuda"
K = 32


class Library:
    def __init__(self, path):
        c = ctypes
        self.lib = c.CDLL(path)
        for name, result, arguments in (
            ("bench_error", c.c_char_p, []),
            ("bench_dense", c.c_void_p, [c.c_void_p, c.c_long, c.c_int, c.c_int]),
            ("bench_covariance", c.c_void_p, [c.c_void_p, c.c_long, c.c_long, c.c_int]),
            ("bench_sparse", c.c_void_p, [c.c_void_p, c.c_void_p, c.c_void_p, c.c_long, c.c_long, c.c_int]),
            ("bench_free", None, [c.c_void_p]),
            (
                "bench_solve",
                c.c_void_p,
                [
                    c.c_void_p,
                    c.c_long,
                    c.c_double,
                    c.c_char_p,
                    c.c_ulong,
                    c.c_int,
                    c.c_int,
                    c.c_char_p,
                    c.c_long,
                    c.POINTER(c.c_long),
                    c.POINTER(c.c_int),
                ],
            ),
            (
                "bench_certified",
                c.c_int,
                [c.c_void_p, c.c_long, c.c_double, c.c_ulong, c.c_void_p, c.c_char_p, c.c_long],
            ),
            ("bench_verb", c.c_double, [c.c_void_p, c.c_int, c.c_long, c.c_int, c.c_int]),
        ):
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments

    def checked(self, value):
        if not value:
            raise RuntimeError(self.lib.bench_error().decode())
        return value


class Engine:
    """An engine on a tensor, which it borrows."""

    def __init__(self, library, handle, dim):
        self.library, self.handle, self.dim = library, library.checked(handle), dim

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.lib.bench_free(self.handle)

    def solve(self, accuracy, k=K, precision="auto", seed=0, afresh=True, oversample=0):
        room = ctypes.create_string_buffer(1 << 14)
        columns, double = ctypes.c_long(), ctypes.c_int()
        torch.cuda.synchronize()
        at = self.library.checked(
            self.library.lib.bench_solve(
                self.handle,
                k,
                accuracy,
                precision.encode(),
                seed,
                afresh,
                oversample,
                room,
                len(room),
                ctypes.byref(columns),
                ctypes.byref(double),
            )
        )
        facts = json.loads(room.value)
        number = 8 if double.value else 4

        class Borrowed:
            __cuda_array_interface__ = {
                "shape": (self.dim, columns.value),
                "typestr": f"<f{number}",
                "data": (at, False),
                "version": 3,
            }

        return torch.as_tensor(Borrowed(), device=DEVICE)[:, :k].clone(), facts

    def certified(self, accuracy, k=K, seed=0):
        room = ctypes.create_string_buffer(1 << 14)
        basis = torch.empty(self.dim, k, dtype=torch.float64)
        self.library.checked(
            self.library.lib.bench_certified(self.handle, k, accuracy, seed, basis.data_ptr(), room, len(room))
        )
        return basis.to(DEVICE), json.loads(room.value)

    def verb(self, number, columns, in_double=False, times=20):
        value = self.library.lib.bench_verb(self.handle, number, columns, in_double, times)
        if self.library.lib.bench_error():
            raise RuntimeError(self.library.lib.bench_error().decode())
        return value


def say(*words):
    print(*words, flush=True)


# ---- Planted matrices


def hadamard(n):
    made = torch.ones(1, 1, dtype=torch.float64, device=DEVICE)
    while made.shape[0] < n:
        made = torch.cat([torch.cat([made, made], 1), torch.cat([made, -made], 1)], 0)
    return made / n**0.5


def transform(rows):
    """Every row by the Walsh-Hadamard transform, in place."""
    n, a = rows.shape[1], 1
    while a * a < n:
        a *= 2
    inner, outer = hadamard(a), hadamard(n // a)
    step = max(1, 2**28 // n)
    for i in range(0, rows.shape[0], step):
        part = rows[i : i + step].view(-1, n // a, a)
        rows[i : i + step] = torch.matmul(torch.matmul(outer, part), inner).view(-1, n)
    return rows


def planted(values):
    """Q diag(values) Q' of single precision, symmetric; Q's first 128 columns; Q = H D H, random signs D."""
    d = len(values)
    generator = torch.Generator(device=DEVICE)
    generator.manual_seed(5)
    sign = (torch.randint(0, 2, (d,), generator=generator, device=DEVICE) * 2 - 1).double()
    f = transform(values.double().view(1, -1).clone()).view(-1) / d**0.5
    i = torch.arange(d, device=DEVICE)
    A = torch.empty(d, d, dtype=torch.float64, device=DEVICE)
    for r in range(0, d, 1024):
        A[r : r + 1024] = sign[r : r + 1024, None] * sign[None] * f[i[r : r + 1024, None] ^ i[None]]
    transform(A)
    step = 4096
    for r in range(0, d, step):
        for c in range(0, r + 1, step):
            kept = A[r : r + step, c : c + step].clone()
            A[r : r + step, c : c + step] = A[c : c + step, r : r + step].t().clone()
            A[c : c + step, r : r + step] = kept.t()
    transform(A)
    single = torch.empty(d, d, dtype=torch.float32, device=DEVICE)
    for r in range(0, d, step):
        single[r : r + step] = A[r : r + step]
    del A
    for r in range(0, d, step):
        for c in range(0, r, step):
            single[c : c + step, r : r + step] = single[r : r + step, c : c + step].t()
        block = single[r : r + step, r : r + step]
        single[r : r + step, r : r + step] = (block + block.t()) / 2
    first = torch.zeros(128, d, dtype=torch.float64, device=DEVICE)
    first[torch.arange(128), torch.arange(128)] = 1
    vectors = transform(transform(first) * sign[None]).t().contiguous()
    return single, vectors


def spectrum(name, d):
    i = torch.arange(d, device=DEVICE, dtype=torch.float64)
    return 1 / (i + 1) if name == "1/i" else torch.exp(-i / 50) + 1e-4


def in_double(A, X, step=8192):
    return torch.cat([A[r : r + step].double() @ X for r in range(0, A.shape[0], step)])


def refined(A, vectors, steps, k=K):
    """The leading eigenvectors of the matrix as it is stored."""
    X = vectors[:, :96].clone()
    for _ in range(steps):
        X = torch.linalg.qr(in_double(A, X))[0]
    H = X.t() @ in_double(A, X)
    _, Z = torch.linalg.eigh((H + H.t()) / 2)
    return (X @ Z.flip(1))[:, :k].contiguous()


def sine(U, V):
    V = torch.linalg.qr(V.double())[0]
    return torch.linalg.matrix_norm(U - V @ (V.t() @ U), 2).item()


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


# ---- Ours and the peers'


def ours(results, label, engine, U, accuracy, times=11, **options):
    runs = []
    for seed in range(times + 2):
        V, facts = engine.solve(accuracy, seed=seed, **options)
        runs.append((facts, sine(U, V)))
    runs = runs[2:]
    wrong = sum(1 for f, s in runs if f["status"] == "converged" and s > accuracy)
    milliseconds = median([f["ms"] for f, _ in runs])
    f = min((f for f, _ in runs), key=lambda f: abs(f["ms"] - milliseconds))
    results.append(
        {
            "what": label,
            "accuracy": accuracy,
            "ms": milliseconds,
            "sine": max(s for _, s in runs),
            "estimate": max(f["estimate"] for f, _ in runs),
            "least": min(f["estimate"] / s for f, s in runs),
            "wrong": wrong,
            "status": sorted({f["status"] for f, _ in runs}),
            "rungs": f["rungs"],
        }
    )
    rungs = "; ".join(
        f"{r['rung']}{'+' if r['corrects'] else ''}{' in double' if r['double'] else ''} {r['passes']}: "
        f"{r['ms']:.3f} ms"
        for r in f["rungs"]
    )
    say(
        f"{label} {accuracy:g}: {milliseconds:.3f} ms, {sorted({f['status'] for f, _ in runs})}, "
        f"sine at most {max(s for _, s in runs):.1e}, estimate {max(f['estimate'] for f, _ in runs):.1e}, "
        f"estimate/sine at least {min(f['estimate'] / s for f, s in runs):.2f}, wrong words {wrong} | {rungs}"
    )
    return milliseconds


def peer(results, label, U, candidates, accuracy, times=5):
    tried = []
    for setting, function in candidates:
        try:
            reached = sine(U, function())
            tried.append(f"{setting}: {reached:.1e}")
            if reached > accuracy:
                continue
            took = []
            for _ in range(times):
                torch.cuda.synchronize()
                began = time.perf_counter()
                function()
                torch.cuda.synchronize()
                took.append(1e3 * (time.perf_counter() - began))
            results.append(
                {"what": label, "accuracy": accuracy, "ms": median(took), "sine": reached, "setting": setting}
            )
            say(f"peer {label} {accuracy:g}: {median(took):.1f} ms, {setting}, sine {reached:.1e}")
            return
        except Exception as error:  # a peer that fails is a result
            tried.append(f"{setting}: {str(error)[:90]}")
    say(f"peer {label} {accuracy:g}: not reached; {tried}")
    results.append({"what": label, "accuracy": accuracy, "ms": None, "tried": tried})


def eigsh(A, **options):
    import cupy
    import cupyx.scipy.sparse.linalg as linalg

    matrix = cupy.from_dlpack(A) if isinstance(A, torch.Tensor) else A
    return torch.from_dlpack(linalg.eigsh(matrix, k=K, **options)[1])


def dense_peers(results, label, A, U, accuracy, times=5):
    tolerances = (1e-2, 1e-3) if accuracy > 1e-5 else (1e-3, 1e-4, 1e-6)
    peer(
        results,
        f"{label}, cupy eigsh",
        U,
        [(f"tol {t:g}, ncv {n}", lambda t=t, n=n: eigsh(A, tol=t, ncv=n)) for t in tolerances for n in (80, 96, 128)],
        accuracy,
        times,
    )
    iterations = (5, 6, 7, 8, 10, 14) if accuracy > 1e-5 else (9, 10, 12, 16)
    peer(
        results,
        f"{label}, torch svd_lowrank",
        U,
        [(f"q 64, niter {n}", lambda n=n: torch.svd_lowrank(A, q=64, niter=n)[0][:, :K]) for n in iterations],
        accuracy,
        times,
    )
    if accuracy > 1e-5:
        peer(
            results,
            f"{label}, torch lobpcg",
            U,
            [(f"niter {n}", lambda n=n: torch.lobpcg(A, k=K, niter=n, tol=1e-9)[1]) for n in (12, 24, 40)],
            accuracy,
            3,
        )
    if accuracy > 1e-5 and A.shape[0] <= 20000:
        peer(results, f"{label}, torch eigh", U, [("all", lambda: torch.linalg.eigh(A)[1].flip(1)[:, :K])], accuracy, 1)


# ---- Sections

VERBS = (
    "product in fp16",
    "product in tf32",
    "product in single",
    "product in double",
    "gram",
    "combination and QR",
    "error of a product",
)


def verbs(library, results):
    for d in (16384, 65536):
        A = torch.randn(d, d, device=DEVICE)
        for r in range(0, d, 4096):
            for c in range(0, r, 4096):
                A[c : c + 4096, r : r + 4096] = A[r : r + 4096, c : c + 4096].t()
            block = A[r : r + 4096, r : r + 4096]
            A[r : r + 4096, r : r + 4096] = (block + block.t()) / 2
        with Engine(library, library.lib.bench_dense(A.data_ptr(), d, 0, 0), d) as engine:
            for columns in (32, 64):
                line = []
                for v, word in enumerate(VERBS):
                    ms = engine.verb(v, columns, times=20 if d < 20000 else 5)
                    share = f" = {4.0 * d * d / ms * 1e-9:.2f} TB/s of the matrix" if v < 3 else ""
                    line.append(f"{word} {ms:.4f} ms{share}")
                    results.append({"what": f"{word}, d {d}, p {columns}", "ms": ms})
                say(f"d {d}, p {columns}: " + "; ".join(line))
        del A
        torch.cuda.empty_cache()


def with_dense(library, d, names, function, steps=14):
    for name in names:
        A, vectors = planted(spectrum(name, d))
        U = refined(A, vectors, steps)
        with Engine(library, library.lib.bench_dense(A.data_ptr(), d, 0, 1), d) as engine:
            function(f"d {d}, {name}", A, U, engine)
        del A, vectors, U
        torch.cuda.empty_cache()


def dense(library, results):
    with_dense(
        library,
        16384,
        ("1/i", "exp"),
        lambda label, A, U, engine: [ours(results, label, engine, U, e) for e in (1e-2, 1e-4, 1e-6, 1e-10)],
        60,
    )


def rungs(library, results):
    def each(label, A, U, engine):
        for precision in ("fp16", "tf32", "single", "double"):
            for accuracy in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
                ours(results, f"{label}, {precision} alone", engine, U, accuracy, 3, precision=precision)

    with_dense(library, 16384, ("1/i",), each, 60)


def certified(library, results):
    def each(label, A, U, engine):
        for accuracy in (1e-4, 1e-10):
            runs = [engine.certified(accuracy, seed=s) for s in range(4)]
            sines = [sine(U, V) for V, _ in runs]
            bounds = [f["bound"] for _, f in runs]
            milliseconds = median([f["ms"] for _, f in runs[1:]])
            say(
                f"{label} certified {accuracy:g}: {milliseconds:.2f} ms, sine {max(sines):.1e}, "
                f"bound {min(bounds):.1e} to {max(bounds):.1e}, {runs[0][1]['status']}"
            )
            results.append(
                {
                    "what": f"{label}, certified",
                    "accuracy": accuracy,
                    "ms": milliseconds,
                    "sine": max(sines),
                    "bound": max(bounds),
                }
            )

    with_dense(library, 16384, ("1/i", "exp"), each, 60)


def seeds(library, results):
    """100 seeds of every instance: no word may be wrong."""
    for name, d in (("1/i", 8192), ("exp", 8192), ("1/i", 2048), ("exp", 2048)):
        with_dense(
            library,
            d,
            (name,),
            lambda label, A, U, engine: [
                ours(results, f"{label}, 100 seeds", engine, U, e, 100) for e in (1e-2, 1e-4, 1e-5, 1e-6, 1e-10)
            ],
            60,
        )


def big(library, results):
    with_dense(
        library,
        65536,
        ("1/i",),
        lambda label, A, U, engine: [ours(results, label, engine, U, e, 5) for e in (1e-2, 1e-4, 1e-6)],
        8,
    )


def peers(library, results):
    def each(label, A, U, engine):
        dense_peers(results, label, A, U, 1e-4)
        dense_peers(results, label, A, U, 1e-6, 3)
        wide = A.double()
        peer(
            results,
            f"{label}, cupy eigsh in double",
            U,
            [
                (f"tol {t:g}, ncv {n}", lambda t=t, n=n: eigsh(wide, tol=t, ncv=n))
                for t in (1e-6, 1e-8)
                for n in (80, 128)
            ],
            1e-10,
            3,
        )
        peer(
            results,
            f"{label}, torch svd_lowrank in double",
            U,
            [(f"q 64, niter {n}", lambda n=n: torch.svd_lowrank(wide, q=64, niter=n)[0][:, :K]) for n in (16, 18, 22)],
            1e-10,
            3,
        )

    with_dense(library, 16384, ("1/i", "exp"), each, 60)


def bigpeers(library, results):
    def each(label, A, U, engine):
        peer(
            results,
            f"{label}, torch svd_lowrank",
            U,
            [(f"q 64, niter {n}", lambda n=n: torch.svd_lowrank(A, q=64, niter=n)[0][:, :K]) for n in (6, 7, 8)],
            1e-4,
            3,
        )
        peer(
            results,
            f"{label}, cupy eigsh",
            U,
            [(f"tol {t:g}, ncv {n}", lambda t=t, n=n: eigsh(A, tol=t, ncv=n)) for t in (1e-2, 1e-3) for n in (96,)],
            1e-4,
            1,
        )

    with_dense(library, 65536, ("1/i",), each, 8)


def tall(rows, d):
    values = 1 / torch.arange(1, d + 1, device=DEVICE, dtype=torch.float64)
    H = hadamard(d)
    generator = torch.Generator(device=DEVICE)
    generator.manual_seed(9)
    sign = (torch.randint(0, 2, (d,), generator=generator, device=DEVICE) * 2 - 1).double()
    B = (values.sqrt()[:, None] * ((H * sign[None]) @ H).t()).float()
    M = torch.empty(rows, d, device=DEVICE)
    for r in range(0, rows, 50000):
        M[r : r + 50000] = torch.randn(min(50000, rows - r), d, device=DEVICE, generator=generator) @ B + 0.5
    mean = (
        M.double().mean(0)
        if rows * d < 10**9
        else sum(M[r : r + 100000].double().sum(0) for r in range(0, rows, 100000)) / rows
    )
    C = torch.zeros(d, d, dtype=torch.float64, device=DEVICE)
    for r in range(0, rows, 100000):
        part = M[r : r + 100000].double() - mean
        C += part.t() @ part
    _, Z = torch.linalg.eigh(C / (rows - 1))
    return M, Z.flip(1)[:, :K].contiguous()


def gram_and_eigh(M):
    C = torch.zeros(M.shape[1], M.shape[1], device=DEVICE)
    mean = M.mean(0)
    for r in range(0, M.shape[0], 100000):
        part = M[r : r + 100000] - mean
        C += part.t() @ part
    return torch.linalg.eigh(C)[1].flip(1)[:, :K]


def pca_of(library, results, rows, d, with_peers):
    M, U = tall(rows, d)
    label = f"PCA {rows} x {d}"

    def whole(accuracy):
        torch.cuda.synchronize()
        began = time.perf_counter()
        with Engine(library, library.lib.bench_covariance(M.data_ptr(), rows, d, 1), d) as engine:
            V, facts = engine.solve(accuracy, afresh=False)
            return V, facts, 1e3 * (time.perf_counter() - began)

    whole(1e-4)
    runs = [whole(1e-4) for _ in range(3)]
    milliseconds = median([t for _, _, t in runs])
    error = max(sine(U, V) for V, _, _ in runs)
    facts = runs[0][1]
    say(
        f"{label}: {milliseconds:.2f} ms with mean, scale and memory, sine {error:.1e}, "
        f"{facts['status']} estimate {facts['estimate']:.1e}, {facts['rungs']}"
    )
    results.append({"what": label, "accuracy": 1e-4, "ms": milliseconds, "sine": error, "rungs": facts["rungs"]})
    if with_peers:
        low_rank = [
            (f"q 64, niter {n}", lambda n=n: torch.pca_lowrank(M, q=64, niter=n)[2][:, :K]) for n in (4, 5, 6, 8)
        ]
        peer(results, f"{label}, torch pca_lowrank", U, low_rank, 1e-4, 3)
        peer(results, f"{label}, gram and eigh", U, [("single precision", lambda: gram_and_eigh(M))], 1e-4, 3)


def pca(library, results, with_peers=False):
    for rows, d in ((1000000, 512), (1000000, 4096)):
        pca_of(library, results, rows, d, with_peers)
        torch.cuda.empty_cache()


def pcapeers(library, results):
    pca(library, results, True)


def sparse(library, results, with_peers=False):
    import cupy
    import cupyx.scipy.sparse as matrices

    n, entries, k = 4000000, 32000000, 30
    generator = cupy.random.default_rng(3)
    # communities of many sizes, so that there are some leading eigenvectors
    i = generator.integers(0, n, entries, dtype=cupy.int32)
    block = (cupy.sqrt(i.astype(cupy.float64) / n) * 60).astype(cupy.int32)
    low = ((block / 60.0) ** 2 * n).astype(cupy.int64)
    high = cupy.minimum((((block + 1) / 60.0) ** 2 * n).astype(cupy.int64), n)
    inside = generator.random(entries) < 0.6 + 0.006 * block
    j = cupy.where(
        inside, low + (generator.random(entries) * (high - low)).astype(cupy.int64), generator.integers(0, n, entries)
    ).astype(cupy.int32)
    A = matrices.coo_matrix((cupy.ones(entries, dtype=cupy.float32), (i, j)), shape=(n, n)).tocsr()
    A = (A + A.T).tocsr()
    degree = cupy.maximum(cupy.asarray(A.sum(axis=1)).ravel(), 1)
    scale = matrices.diags(1 / cupy.sqrt(degree))
    A = ((scale @ A @ scale + matrices.identity(n, dtype=cupy.float32)) * 0.5).astype(cupy.float32).tocsr()
    A.sum_duplicates()
    A.sort_indices()
    start, columns, values = A.indptr.get().astype("int64"), A.indices.get().astype("int32"), A.data.get()
    handle = library.lib.bench_sparse(start.ctypes.data, columns.ctypes.data, values.ctypes.data, n, len(values), 1)
    with Engine(library, handle, n) as engine:
        say(
            f"sparse {n} nodes, {len(values)} entries: "
            + "; ".join(f"{VERBS[v]} p {p} {engine.verb(v, p, times=5):.3f} ms" for p in (32, 64) for v in (0, 2, 4, 5))
        )
        V, facts = engine.solve(1e-4, k=k, afresh=False)
        V, facts = engine.solve(1e-4, k=k, seed=1, afresh=False)
        exact, truth = engine.solve(1e-8, k=k, precision="double", seed=2, afresh=False)
        say(
            f"sparse: {facts['ms']:.1f} ms, {facts['status']}, estimate {facts['estimate']:.1e}, "
            f"sine {sine(exact, V):.1e}, {facts['rungs']}; reference {truth['status']} {truth['estimate']:.1e}"
        )
        results.append(
            {"what": "sparse", "accuracy": 1e-4, "ms": facts["ms"], "sine": sine(exact, V), "rungs": facts["rungs"]}
        )
        if with_peers:
            import cupyx.scipy.sparse.linalg as linalg

            peer(
                results,
                "sparse, cupy eigsh",
                exact,
                [
                    (f"tol {t:g}, ncv {c}", lambda t=t, c=c: torch.from_dlpack(linalg.eigsh(A, k=k, tol=t, ncv=c)[1]))
                    for t in (1e-3, 1e-4)
                    for c in (80,)
                ],
                1e-4,
                1,
            )


def sparsepeers(library, results):
    sparse(library, results, True)


def main():
    arguments = sys.argv[1:]
    path = None
    if "--json" in arguments:
        at = arguments.index("--json")
        path = arguments[at + 1]
        del arguments[at : at + 2]
    if not arguments or arguments[0] in ("-h", "--help"):
        say(__doc__)
        return
    library = Library(arguments[0])
    results = []
    sections = arguments[1:] or [
        "verbs",
        "dense",
        "peers",
        "big",
        "bigpeers",
        "pcapeers",
        "sparsepeers",
        "certified",
        "rungs",
        "seeds",
    ]
    for section in sections:
        began = time.perf_counter()
        say(f"--- {section}, on {torch.cuda.get_device_name()}")
        try:
            globals()[section](library, results)
        except Exception as error:  # the others are still worth their time
            say(f"{section} failed: {error}")
        torch.cuda.empty_cache()
        say(f"--- {section} took {time.perf_counter() - began:.0f} s")
        if path:
            with open(path, "w") as file:
                json.dump(results, file, indent=1)


main()
