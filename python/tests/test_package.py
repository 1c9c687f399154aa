"""The package as a whole: types, examples, documentation, and what it does to a process."""

import ast
import doctest
import importlib
import inspect
import multiprocessing
import os
import pathlib
import pydoc
import re
import runpy
import subprocess
import sys
import warnings

import matplotlib
import numpy as np
import pytest
from conftest import decaying_samples
from scipy.sparse.linalg import aslinearoperator

import hearsay
from hearsay import _core

matplotlib.use("Agg")

SOURCE = pathlib.Path(os.environ.get("HEARSAY_SOURCE", pathlib.Path(__file__).parents[2]))
INSTALLED = pathlib.Path(hearsay.__file__).parent
MODULES = sorted(path.stem for path in INSTALLED.glob("*.py") if path.stem != "__init__")
EXAMPLES = sorted((SOURCE / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("name", ["hearsay", *(f"hearsay.{module}" for module in MODULES)])
def test_every_example_in_a_docstring_runs(name):
    if name == "hearsay.dask":
        pytest.importorskip("dask.array", reason="dask is not installed (./dev adapters installs it)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)

    assert result.failed == 0


def test_docstrings_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    shown = {name: finder.find(getattr(hearsay, name), name) for name in hearsay.__all__}

    for name in (
        "PCA",
        "Agent",
        "DecentralizedPCA",
        "SpectralEmbedding",
        "SpectralClustering",
        "TruncatedSVD",
        "svds",
        "eigsh",
        "plan",
        "gossip",
        "theory",
    ):
        assert any(test.examples for test in shown[name]), name


@pytest.mark.parametrize("page", ["README.md", "docs/guide/python.md"])
def test_the_python_on_a_page_runs(page):
    X = decaying_samples(120, 12, seed=4)
    A = X.T @ X
    known = {"X": X, "A": np.pad(A, (0, 988)), "operator": aslinearoperator(A), "batches": np.split(X, 3)}
    known |= {f"X_{agent}": shard for agent, shard in enumerate(np.split(X, 3), 1)}
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / page).read_text(), flags=re.DOTALL)

    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {**known, "hearsay": hearsay})


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs_without_a_warning(script):
    run = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=300)

    assert run.returncode == 0, run.stderr
    assert run.stdout and run.stderr == ""


def test_there_are_three_examples():
    assert [path.stem for path in EXAMPLES] == ["decentralized_digits", "graph_embedding", "noisy_products"]


def test_strict_types_hold_in_the_package_and_the_examples(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "--config-file", "pyproject.toml"],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert run.returncode == 0, run.stdout + run.stderr


def test_a_users_mistake_is_a_type_error(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(
        "import hearsay\n"
        "values, vectors, info = hearsay.eigsh([[1.0]], 1)\n"
        "status: int = info.status\n"
        "pca: hearsay.PCA = hearsay.PCA(2, tolerance=1e-3)\n"
    )

    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert 'user.py:3: error: Incompatible types in assignment (expression has type "str"' in run.stdout
    assert 'user.py:4: error: Unexpected keyword argument "tolerance"' in run.stdout
    assert run.stdout.count("error:") == 2


def test_the_stub_names_everything_the_extension_has():
    stub = {}
    exec(  # the stub is Python; its types are not looked at
        compile("from __future__ import annotations\n" + (INSTALLED / "_core.pyi").read_text(), "_core.pyi", "exec"),
        stub,
    )

    def public(names):
        return {name for name in names if not name.startswith("_")}

    modules = {"annotations", "Callable", "Any", "np", "npt"}
    of_devices = {"eigs_on_device"}  # where the extension was built with CUDA
    assert public(vars(_core)) | of_devices == (public(stub) | set(stub["__annotations__"])) - modules
    for name in ("Noise", "Iteration", "GossipMatrix", "GossipSpectrum", "DecentralizedIteration"):
        assert public(vars(getattr(_core, name))) == public(vars(stub[name])), name


def test_the_functions_of_the_theory_are_those_of_the_extensions_table():
    written = runpy.run_path(str(SOURCE / "tools" / "write_theory.py"))
    text = (INSTALLED / "theory.py").read_text()

    assert len(written["functions"]()) > 40
    expected = ast.dump(ast.parse(written["with_functions"](text)))
    assert ast.dump(ast.parse(text)) == expected, "./dev theory writes them anew"


def test_a_function_of_the_theory_has_help():
    page = pydoc.render_doc(hearsay.theory.iterations_npm, renderer=pydoc.plaintext)

    assert "iterations_npm(lambda_k: 'float', lambda_next: 'float', epsilon: 'float', start_tangent: 'float')" in page
    assert "Guarantee, without momentum." in page
    assert str(inspect.signature(hearsay.theory.damped)).endswith("damping: 'str' = 'centred') -> 'Damped'")


def test_everything_public_is_there():
    assert (INSTALLED / "py.typed").exists()
    for name in hearsay.__all__:
        assert getattr(hearsay, name) is not None and name in dir(hearsay)
    with pytest.raises(AttributeError, match="no attribute 'PCB'"):
        _ = hearsay.PCB


def test_its_namespace_holds_public_names_alone():
    script = """if True:
        import hearsay

        for name in hearsay.__all__:
            getattr(hearsay, name)  # those that wait until they are asked for, too
        assert {name for name in vars(hearsay) if not name.startswith("_")} == set(hearsay.__all__)
        assert {name for name in dir(hearsay) if not name.startswith("__")} == set(hearsay.__all__)
        assert "__version__" in dir(hearsay)
    """  # in a program of its own: here other tests have imported modules that users ask for by name

    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


def test_importing_it_imports_neither_scikit_learn_nor_matplotlib():
    script = "import sys, hearsay; sys.exit(any(name in sys.modules for name in ('sklearn', 'matplotlib', 'pandas')))"

    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


def test_the_extension_needs_nothing_but_the_language_runtimes():
    extension = pathlib.Path(_core.__file__)
    needed = subprocess.run(["readelf", "-d", extension], capture_output=True, text=True, check=True).stdout

    libraries = {line.split("[")[1].split("]")[0] for line in needed.splitlines() if "(NEEDED)" in line}
    runtimes = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0"}
    assert libraries - runtimes <= {path.name for path in extension.parent.glob("lib*.so*")}


def fit_in_child(connection, X):
    connection.send(hearsay.PCA(3).fit(X).components_)


def test_a_forked_child_can_fit_what_its_parent_fitted():
    X = decaying_samples(20_000, 60, seed=9)  # large enough for threads
    here = hearsay.PCA(3).fit(X).components_
    receive, send = multiprocessing.Pipe(duplex=False)

    child = multiprocessing.get_context("fork").Process(target=fit_in_child, args=(send, X))
    child.start()
    there = receive.recv() if receive.poll(120) else None
    child.kill() if there is None else child.join()

    assert there is not None, "the child waits for ever"
    assert np.array_equal(here, there)


def test_solves_in_several_threads_do_not_disturb_each_other():
    from concurrent.futures import ThreadPoolExecutor

    data = [decaying_samples(400, 20, seed=seed) for seed in range(6)]
    alone = [hearsay.PCA(3, callback=lambda now: None).fit(X).components_ for X in data]

    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda X: hearsay.PCA(3, callback=lambda now: None).fit(X).components_, data))

    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_the_version_is_that_of_the_project():
    assert f"project(hearsay VERSION {hearsay.__version__} " in (SOURCE / "CMakeLists.txt").read_text()
