"""Standardizing, weights, missing values, ranks by a rule: held against numpy on the matrix they stand for."""

import json
import math
import os

import numpy as np
import pytest

from conftest import is_orthonormal, sin_theta


@pytest.fixture
def samples():
    rng = np.random.default_rng(5)
    mixing = rng.standard_normal((9, 9)) * np.linspace(3, 0.2, 9)[:, None]
    return rng.standard_normal((240, 9)) @ mixing * 10.0 ** np.arange(-4, 5) + 100


def components(matrix, k):
    """The leading eigenvectors, the eigenvalues and the trace of a covariance."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors[:, ::-1][:, :k], values[::-1][:k], values.sum()


def agrees(result, basis, matrix, k, tolerance=1e-8):
    vectors, values, total = components(matrix, k)
    assert result["status"] == "converged"
    assert is_orthonormal(basis)
    assert sin_theta(vectors, basis) <= tolerance
    assert np.allclose(result["eigenvalues"], values, rtol=1e-8)
    assert np.isclose(result["total_variance"], total, rtol=1e-9)


def with_holes(data, share, seed=1):
    rng = np.random.default_rng(seed)
    holes = rng.random(data.shape) < share
    holes[:, 0] &= rng.random(len(data)) < 0.5
    return np.where(holes, np.nan, data)


def write_csv(path, data, names=None, missing=("", "NA", "nan", "NaN", "?", "null", "N/A", '""')):
    rng = np.random.default_rng(0)
    lines = [] if names is None else [",".join(names)]
    for row in data:
        lines.append(",".join(rng.choice(missing) if np.isnan(x) else repr(float(x)) for x in row))
    path.write_text("\n".join(lines) + "\n")


def write_mtx(path, data):
    rows, cols = np.nonzero(data)
    lines = ["%%MatrixMarket matrix coordinate real general", f"{data.shape[0]} {data.shape[1]} {len(rows)}"]
    lines += [f"{i + 1} {j + 1} {float(data[i, j])!r}" for i, j in zip(rows, cols)]
    path.write_text("\n".join(lines) + "\n")


# ---- Standardizing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--stream",), ("--stream", "--block-rows", 7), ("--precision", "mixed"),
                                  ("--method", "anpm")], ids=lambda more: " ".join(map(str, more)))
def test_standardized_data_have_the_correlation_matrix(hearsay, samples, tmp_path, more):
    np.save(tmp_path / "data.npy", samples)

    result = hearsay.json("pca", "data.npy", "-k", 3, "--standardize", "--components", "basis.npy", *more)

    agrees(result, np.load(tmp_path / "basis.npy"), np.corrcoef(samples.T), 3)
    assert result["standardized"] is True and result["constant_columns"] == []
    assert np.allclose(result["scale"], samples.std(axis=0, ddof=1), rtol=1e-12)
    assert np.isclose(result["total_variance"], 9, rtol=1e-12)


def test_more_features_than_samples_are_standardized(hearsay, tmp_path):
    data = np.random.default_rng(2).standard_normal((20, 70)) * np.geomspace(1e-3, 1e3, 70)
    np.save(tmp_path / "data.npy", data)

    result = hearsay.json("pca", "data.npy", "-k", 4, "--standardize", "--components", "basis.npy")

    agrees(result, np.load(tmp_path / "basis.npy"), np.corrcoef(data.T), 4)


@pytest.mark.parametrize("center", [True, False])
def test_sparse_data_are_standardized_where_they_lie(hearsay, tmp_path, center):
    rng = np.random.default_rng(3)
    data = rng.poisson(0.3, (200, 30)) * rng.uniform(0.5, 50, 30)
    data[:, 4] = rng.uniform(1, 2, 200)  # a column that is stored in full
    write_mtx(tmp_path / "data.mtx", data)
    scaled = data / data.std(axis=0, ddof=1)
    matrix = np.cov(scaled.T) if center else scaled.T @ scaled / 200

    more = [] if center else ["--no-center"]
    result = hearsay.json("pca", "data.mtx", "-k", 3, "--standardize", "--components", "basis.npy", "--scores", "s.npy",
                          *more)

    basis = np.load(tmp_path / "basis.npy")
    agrees(result, basis, matrix, 3)
    centred = scaled - scaled.mean(axis=0) if center else scaled
    assert np.allclose(np.load(tmp_path / "s.npy"), centred @ basis, atol=1e-9)


def test_constant_columns_are_named_and_left_at_zero(hearsay, samples, tmp_path):
    samples[:, 2], samples[:, 7] = 5.0, 0.1 + 1e-17
    names = [f"x{j}" for j in range(9)]
    write_csv(tmp_path / "data.csv", samples, names)
    others = [j for j in range(9) if j not in (2, 7)]

    result = hearsay.json("pca", "data.csv", "-k", 2, "--standardize", "--components", "basis.npy")

    basis = np.load(tmp_path / "basis.npy")
    assert result["constant_columns"] == [3, 8]
    assert any("column 3 (x2), column 8 (x7)" in note for note in result["notes"])
    assert not basis[[2, 7]].any()
    vectors, values, _ = components(np.corrcoef(samples[:, others].T), 2)
    assert sin_theta(vectors, basis[others]) <= 1e-8 and np.allclose(result["eigenvalues"], values)
    assert np.isclose(result["total_variance"], 7)


def test_a_variance_beyond_the_numbers_is_refused(hearsay, samples, tmp_path):
    samples[:, 3] *= 1e-200
    np.save(tmp_path / "data.npy", samples)

    hearsay.refuses("pca", "data.npy", "-k", 2, "--standardize", saying=["standardize", "column 4", "range of numbers"])


def test_whitened_scores_have_variance_one(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    hearsay.json("pca", "data.npy", "-k", 3, "--standardize", "--whiten", "--scores", "scores.npy")

    scores = np.load(tmp_path / "scores.npy")
    assert np.allclose(np.cov(scores.T), np.eye(3), atol=1e-9)


# ---- Weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--stream",), ("--standardize",), ("--standardize", "--stream"), ("--no-center",)],
                         ids=lambda more: " ".join(more))
def test_a_weight_counts_as_so_many_rows(hearsay, samples, tmp_path, more):
    counts = np.random.default_rng(1).integers(0, 4, len(samples))
    np.save(tmp_path / "data.npy", samples)
    np.save(tmp_path / "weights.npy", counts.astype(float))
    np.save(tmp_path / "repeated.npy", np.repeat(samples, counts, axis=0))

    weighted = hearsay.json("pca", "data.npy", "-k", 3, "--row-weights", "weights.npy", "--components", "a.npy", *more)
    repeated = hearsay.json("pca", "repeated.npy", "-k", 3, "--components", "b.npy", *more)

    assert np.allclose(weighted["eigenvalues"], repeated["eigenvalues"], rtol=1e-9)
    assert np.allclose(weighted["mean"], repeated["mean"], rtol=1e-12)
    assert np.allclose(weighted["singular_values"], repeated["singular_values"], rtol=1e-9)
    assert sin_theta(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy")) <= 1e-8
    assert weighted["weight_sum"] == counts.sum()
    assert weighted["samples"] == (counts > 0).sum()


def test_sparse_rows_have_weights(hearsay, tmp_path):
    rng = np.random.default_rng(8)
    data = rng.poisson(0.4, (150, 25)).astype(float)
    weights = rng.uniform(0, 3, 150)
    write_mtx(tmp_path / "data.mtx", data)
    np.savetxt(tmp_path / "weights.csv", weights)

    result = hearsay.json("pca", "data.mtx", "-k", 3, "--row-weights", "weights.csv", "--components", "basis.npy")

    mean = weights @ data / weights.sum()
    matrix = ((data - mean).T * weights) @ (data - mean) / (weights.sum() - 1)
    agrees(result, np.load(tmp_path / "basis.npy"), matrix, 3, 1e-7)


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "stream"])
@pytest.mark.parametrize("column", ["w", "4", "last"])
def test_a_column_of_the_data_holds_the_weights(hearsay, samples, tmp_path, stream, column):
    weights = np.random.default_rng(1).uniform(0, 2, len(samples))
    at = 9 if column == "last" else 3
    names = [f"x{j}" for j in range(9)]
    names.insert(at, "w")
    write_csv(tmp_path / "data.csv", np.insert(samples, at, weights, axis=1), names)
    np.save(tmp_path / "data.npy", samples)
    np.save(tmp_path / "weights.npy", weights)

    by_column = hearsay.json("pca", "data.csv", "-k", 2, "--weights-column", column, *stream)
    by_file = hearsay.json("pca", "data.npy", "-k", 2, "--row-weights", "weights.npy")

    assert np.allclose(by_column["eigenvalues"], by_file["eigenvalues"], rtol=1e-10)
    assert by_column["features"] == [name for name in names if name != "w"]


WEIGHTS = {
    "negative": ([1.0, -2, 1, 1], ["row 2", "-2", "not negative"]),
    "NaN": ([1.0, 1, 1, np.nan], ["weights.npy"]),
    "too few": ([1.0, 1, 1], ["there are 3", "for each row"]),
    "too many": ([1.0, 1, 1, 1, 1], ["there are 5"]),
    "all zero": ([0.0, 0, 0, 0], ["zero"]),
    "shares": ([0.25, 0.25, 0.25, 0.25], ["sum is 1", "more than 1"]),
    "a matrix": (np.ones((4, 2)), ["weights.npy", "4 x 2"]),
}


@pytest.mark.attack
@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "stream"])
@pytest.mark.parametrize("weights, saying", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_weights_that_are_none(hearsay, tmp_path, weights, saying, stream):
    np.save(tmp_path / "data.npy", np.arange(12.0).reshape(4, 3) ** 2)
    np.save(tmp_path / "weights.npy", np.asarray(weights))

    hearsay.refuses("pca", "data.npy", "-k", 1, "--row-weights", "weights.npy", "--json", "r.json", *stream, saying=saying)

    assert not os.path.exists(tmp_path / "r.json")


# ---- Missing values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--stream",), ("--standardize",), ("--standardize", "--stream"), ("--no-center",),
                                  ("--precision", "mixed")], ids=lambda more: " ".join(more))
@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_the_mean_stands_for_what_is_missing(hearsay, samples, tmp_path, kind, more):
    holes = with_holes(samples, 0.2)
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    np.save(tmp_path / "filled.npy", filled)
    np.save(tmp_path / "data.npy", holes) if kind == "npy" else write_csv(tmp_path / "data.csv", holes)

    by_us = hearsay.json("pca", f"data.{kind}", "-k", 3, "--missing", "mean", "--components", "a.npy", *more)
    by_hand = hearsay.json("pca", "filled.npy", "-k", 3, "--components", "b.npy", *more)

    assert sin_theta(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy")) <= 1e-8
    assert np.allclose(by_us["eigenvalues"], by_hand["eigenvalues"], rtol=1e-9)
    assert np.allclose(by_us["mean"], by_hand["mean"], rtol=1e-12)
    assert by_us["missing"]["entries"] == np.isnan(holes).sum() and by_us["missing"]["policy"] == "mean"


@pytest.mark.parametrize("more", [(), ("--stream",), ("--stream", "--block-rows", 5), ("--standardize",)],
                         ids=lambda more: " ".join(map(str, more)))
def test_rows_with_missing_entries_are_left_out(hearsay, samples, tmp_path, more):
    holes = with_holes(samples, 0.1)
    whole = holes[~np.isnan(holes).any(axis=1)]
    np.save(tmp_path / "whole.npy", whole)
    write_csv(tmp_path / "data.csv", holes)

    by_us = hearsay.json("pca", "data.csv", "-k", 3, "--missing", "drop-rows", "--components", "a.npy", *more)
    by_hand = hearsay.json("pca", "whole.npy", "-k", 3, "--components", "b.npy", *more)

    assert sin_theta(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy")) <= 1e-8
    assert np.allclose(by_us["eigenvalues"], by_hand["eigenvalues"], rtol=1e-9)
    assert by_us["missing"]["dropped_rows"] == len(samples) - len(whole)
    assert by_us["samples"] == len(whole)
    assert any(f"{len(samples) - len(whole)} rows were left out" in note for note in by_us["notes"])


def test_rows_that_were_left_out_have_no_scores(hearsay, samples, tmp_path):
    holes = with_holes(samples, 0.1)
    np.save(tmp_path / "data.npy", holes)

    hearsay.json("pca", "data.npy", "-k", 2, "--missing", "drop-rows", "--scores", "scores.npy", "--report", "page.html")

    scores = np.load(tmp_path / "scores.npy")
    assert (np.isnan(scores).any(axis=1) == np.isnan(holes).any(axis=1)).all()


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("more", [(), ("--standardize",)], ids=["plain", "standardized"])
def test_em_finds_the_subspace_that_was_planted(hearsay, tmp_path, share, more):
    rng = np.random.default_rng(4)
    loadings = np.linalg.qr(rng.standard_normal((25, 3)))[0]
    data = rng.standard_normal((300, 3)) * [5, 3, 2] @ loadings.T + 4 + 1e-3 * rng.standard_normal((300, 25))
    holes = with_holes(data, share)
    np.save(tmp_path / "data.npy", holes)
    whole = data / data.std(axis=0, ddof=1) if more else data
    truth = components(np.cov(whole.T), 3)[0]

    em = hearsay.json("pca", "data.npy", "-k", 3, "--missing", "em", "--components", "em.npy", "--scores", "s.npy", *more)
    hearsay.json("pca", "data.npy", "-k", 3, "--missing", "mean", "--components", "mean.npy", *more)

    by_em, by_mean = (sin_theta(truth, np.load(tmp_path / name)) for name in ("em.npy", "mean.npy"))
    assert em["missing"]["settled"] is True and em["missing"]["rounds"] > 1
    assert by_em <= 2e-2 and by_em <= by_mean / 5, (by_em, by_mean)
    assert any("not the entries" in note for note in em["notes"])
    if not more:
        basis = np.load(tmp_path / "em.npy")
        assert np.abs(np.load(tmp_path / "s.npy") - (data - em["mean"]) @ basis).max() <= 0.05


def test_em_on_whole_data_is_plain_pca(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    em = hearsay.json("pca", "data.npy", "-k", 3, "--missing", "em")
    plain = hearsay.json("pca", "data.npy", "-k", 3)

    assert em["eigenvalues"] == plain["eigenvalues"]
    assert em["missing"]["rounds"] == 0 and em["missing"]["settled"] is True


def test_missing_values_are_refused_with_their_cell_and_the_policies(hearsay, tmp_path):
    cells = {"": "the cell is empty", "NA": "'NA' is not a number", "nan": "NaN"}
    for cell, why in cells.items():
        (tmp_path / "data.csv").write_text(f"a,b\n1,2\n3,{cell}\n5,7\n")
        for more in ([], ["--stream"], ["--missing", "refuse"]):
            hearsay.refuses("pca", "data.csv", "-k", 1, *more,
                            saying=["data.csv:3:2", why, "--missing", "drop-rows, mean or em"])
    np.save(tmp_path / "data.npy", np.array([[1.0, 2], [3, np.nan], [4, 5]]))
    hearsay.refuses("pca", "data.npy", "-k", 1, saying=["data.npy: row 2, column 2", "--missing"])
    (tmp_path / "a.csv").write_text("1,2\n3,\n")
    hearsay.refuses("decentralized", "a.csv", "a.csv", "-k", 1, saying=["a.csv:2:2", "agents refuse missing values"])


def test_a_first_row_of_nothing_is_no_header(hearsay, tmp_path):
    (tmp_path / "data.csv").write_text("NA,,?\n1,2,4\n3,5,1\n4,4,9\n")

    result = hearsay.json("pca", "data.csv", "-k", 1, "--missing", "mean")

    assert result["samples"] == 4 and result["missing"]["empty_rows"] == 1 and result["features"] is None


@pytest.mark.attack
@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "stream"])
def test_what_is_missing_altogether(hearsay, tmp_path, stream):
    (tmp_path / "column.csv").write_text("a,b,c\n1,NA,2\n2,NA,4\n5,,1\n")
    (tmp_path / "rows.csv").write_text("1,NA\n,2\n3,\n")
    (tmp_path / "infinite.csv").write_text("1,NA\ninf,2\n3,\n")

    hearsay.refuses("pca", "column.csv", "-k", 1, "--missing", "mean", *stream, saying=["column 2 (b)", "missing"])
    hearsay.refuses("pca", "rows.csv", "-k", 1, "--missing", "drop-rows", *stream, saying=["drop-rows", "left"])
    hearsay.refuses("pca", "infinite.csv", "-k", 1, "--missing", "mean", *stream, saying=["infinite.csv:2:1"])
    if not stream:
        hearsay.refuses("pca", "column.csv", "-k", 1, "--missing", "em", saying=["column 2 (b)", "missing"])


# ---- Ranks by a rule -------------------------------------------------------------------------------------------------


def minka(values, n):
    """As the paper writes it: the evidence of every rank, pair by pair."""
    d, best = len(values), (-math.inf, 0)
    for k in range(1, d):
        v = max(values[k:].mean(), 1e-15)
        log_prior = -k * math.log(2) + sum(
            math.lgamma((d - i + 1) / 2) - math.log(math.pi) * (d - i + 1) / 2 for i in range(1, k + 1))
        hat = np.concatenate([values[:k], np.full(d - k, v)])
        curvature = sum(math.log((values[i] - values[j]) * (1 / hat[j] - 1 / hat[i])) + math.log(n)
                        for i in range(k) for j in range(i + 1, d))
        m = d * k - k * (k + 1) / 2
        evidence = (log_prior - n / 2 * np.log(values[:k]).sum() - n * (d - k) / 2 * math.log(v)
                    + math.log(2 * math.pi) * (m + k) / 2 - curvature / 2 - k * math.log(n) / 2)
        best = max(best, (evidence, k))
    return best[1]


@pytest.mark.parametrize("rank, noise, seed", [(3, 0.3, 0), (5, 0.1, 1), (2, 1.0, 2), (7, 0.5, 3), (1, 2.0, 4)])
@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "stream"])
def test_minkas_criterion_finds_the_rank(hearsay, tmp_path, rank, noise, seed, stream):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((400, rank)) @ rng.standard_normal((rank, 20)) * 3 + noise * rng.standard_normal((400, 20))
    np.save(tmp_path / "data.npy", data * 1e-9)  # in whatever unit

    result = hearsay.json("pca", "data.npy", "-k", "mle", "--components", "basis.npy", *stream)

    values = np.linalg.eigvalsh(np.cov(data.T))[::-1]
    assert result["k"] == minka(values, 400) == len(result["eigenvalues"])
    assert np.load(tmp_path / "basis.npy").shape == (20, result["k"])
    assert any("Minka" in note for note in result["notes"]) and result["rank_rule"] == "mle"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("more", [(), ("--stream",), ("--standardize",)], ids=lambda more: " ".join(more))
def test_a_share_of_the_variance_is_a_rank(hearsay, tmp_path, share, more):
    data = np.random.default_rng(6).standard_normal((300, 40)) * np.geomspace(10, 0.1, 40)
    data[:, 0] += data[:, 5] * 3
    np.save(tmp_path / "data.npy", data)
    matrix = np.corrcoef(data.T) if "--standardize" in more else np.cov(data.T)
    values = np.linalg.eigvalsh(matrix)[::-1]
    rank = int(np.searchsorted(np.cumsum(values) / values.sum(), share, side="right")) + 1

    result = hearsay.json("pca", "data.npy", "-k", share, "--components", "basis.npy", *more)

    agrees(result, np.load(tmp_path / "basis.npy"), matrix, rank, 1e-6)
    assert result["k"] == rank


# ---- What does not go together ---------------------------------------------------------------------------------------


REFUSED = {
    "em in a stream": (["--missing", "em", "--stream"], ["em", "--stream"]),
    "em by batches": (["--missing", "em", "--batch", 20], ["em", "--batch"]),
    "em with noise": (["--missing", "em", "--noise", "gaussian:0.1"], ["em", "--noise"]),
    "em with a share": (["--missing", "em", "-k", "0.9"], ["rank = 0.9", "--missing"]),
    "em with all components": (["--missing", "em", "-k", "9", "--data-with-holes"], ["rank = 9"]),
    "a share by batches": (["-k", "0.9", "--batch", 50], ["rank = 0.9", "--batch"]),
    "mle with noise": (["-k", "mle", "--noise", "gaussian:0.1"], ["rank = mle", "--noise"]),
    "a share above one": (["-k", "1.5"], ["rank = 1.5"]),
    "a share of nothing": (["-k", "0.0"], ["rank = 0.0"]),
    "a rank that is no word": (["-k", "mel"], ["rank = mel"]),
    "a share and a reference": (["-k", "0.5", "--reference", "r.npy"], ["reference"]),
    "another policy": (["--missing", "median"], ["missing = median", "refuse|drop-rows|mean|em"]),
    "weights twice": (["--row-weights", "w.npy", "--weights-column", "1"], ["row-weights", "--weights-column"]),
    "a column that is not there": (["--weights-column", "10"], ["weights-column = 10", "columns 1 to 9"]),
    "a name that is not there": (["--weights-column", "w"], ["weights-column = w", "no names"]),
    "white scores of nobody": (["--whiten"], ["whiten", "--scores"]),
    "scores over the weights": (["--row-weights", "w.npy", "--scores", "w.npy"], ["would overwrite"]),
}


@pytest.mark.attack
@pytest.mark.parametrize("arguments, saying", REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_go_together(hearsay, samples, tmp_path, arguments, saying):
    if "--data-with-holes" in arguments:
        samples[3, 4] = np.nan
        arguments = [a for a in arguments if a != "--data-with-holes"]
    np.save(tmp_path / "data.npy", samples)
    np.save(tmp_path / "w.npy", np.ones(len(samples)))
    np.save(tmp_path / "r.npy", np.eye(9, 2))
    before = sorted(os.listdir(tmp_path))

    hearsay.refuses("pca", "data.npy", *(() if "-k" in arguments else ("-k", 2)), *arguments, "--json", "out.json",
                    saying=saying)

    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.attack
def test_rules_for_the_rank_are_for_pca_alone(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", np.diag(np.arange(1.0, 6)))
    np.savetxt(tmp_path / "a.csv", np.random.default_rng(0).standard_normal((20, 4)), delimiter=",")

    for rank in ("0.5", "mle"):
        hearsay.refuses("eigs", "matrix.npy", "-k", rank, saying=f"rank = {rank}")
        hearsay.refuses("decentralized", "a.csv", "-k", rank, "--agents", 2, saying=f"rank = {rank}")
        hearsay.refuses("plan", "--data", "a.csv", "-k", rank, saying=f"rank = {rank}")


def test_too_few_samples_for_minka(hearsay, tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((10, 12)))

    hearsay.refuses("pca", "data.npy", "-k", "mle", saying=["rank = mle", "as many samples as features"])


# ---- Verify and resume -----------------------------------------------------------------------------------------------


VERIFIED = {
    "standardized": (["--standardize"], False),
    "weighted": (["--row-weights", "w.npy"], False),
    "mean": (["--missing", "mean"], True),
    "drop-rows": (["--missing", "drop-rows", "--standardize"], True),
    "share": (["-k", "0.9"], False),
    "mle": (["-k", "mle"], False),
    "streamed": (["--stream", "--standardize", "--missing", "mean", "--row-weights", "w.npy"], True),
}


@pytest.mark.parametrize("arguments, holes", VERIFIED.values(), ids=VERIFIED.keys())
def test_verify_measures_the_matrix_that_was_solved(hearsay, samples, tmp_path, arguments, holes):
    scaled = samples / np.geomspace(1e-4, 1e4, 9)
    np.save(tmp_path / "data.npy", with_holes(scaled, 0.05) if holes else scaled)
    np.save(tmp_path / "w.npy", np.random.default_rng(0).uniform(0, 2, len(samples)))
    rank = () if "-k" in arguments else ("-k", 3)
    assert hearsay("pca", "data.npy", *rank, *arguments, "--components", "b.npy", "--json", "r.json").returncode == 0

    told = hearsay("verify", "r.json")

    assert told.returncode == 0, told.stdout
    assert "residual" in told.stdout and "open" not in told.stdout and "FAILS" not in told.stdout


def test_verify_finds_another_scale(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)
    hearsay("pca", "data.npy", "-k", 3, "--standardize", "--components", "b.npy", "--json", "r.json")
    result = json.loads((tmp_path / "r.json").read_text())
    del result["provenance"]["options"]["standardize"]
    (tmp_path / "r.json").write_text(json.dumps(result))

    told = hearsay("verify", "r.json")

    assert told.returncode == 3 and "FAILS" in told.stdout


def test_verify_leaves_entries_of_em_open(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", with_holes(samples / np.geomspace(1e-4, 1e4, 9), 0.05))
    hearsay("pca", "data.npy", "-k", 3, "--missing", "em", "--components", "b.npy", "--json", "r.json")

    told = hearsay("verify", "r.json")

    assert told.returncode == 0 and "EM filled in" in told.stdout


def test_a_checkpoint_belongs_to_its_weights(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)
    np.save(tmp_path / "w.npy", np.ones(len(samples)))
    solve = ["pca", "data.npy", "-k", 2, "--method", "anpm", "--row-weights", "w.npy", "--checkpoint", "c", "--standardize"]
    assert hearsay(*solve, "--max-iterations", 3, "--checkpoint-every", 1).returncode == 3
    whole = hearsay.json(*solve, "--resume")

    np.save(tmp_path / "w.npy", np.full(len(samples), 2.0))

    assert whole["status"] == "converged"
    hearsay.refuses(*solve, "--resume", saying="is of another solve")


def test_the_page_says_standardized(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    assert hearsay("pca", "data.npy", "-k", 3, "--standardize", "--report", "page.html").returncode == 0

    page = (tmp_path / "page.html").read_text()
    assert "variance (standardized)" in page and "component 1 (standardized)" in page
