"""A bar for those who wait."""

import sys

import pytest
from conftest import decaying_samples

import hearsay


@pytest.mark.parametrize("tqdm", ["installed", "missing"])
def test_a_bar_fills_and_the_callback_is_still_called(capsys, monkeypatch, tqdm):
    if tqdm == "missing":
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    seen = []

    pca = hearsay.PCA(3, oversampling=1, verbose=True, callback=lambda now: seen.append(now.t))
    pca.fit(decaying_samples(200, 15))

    shown = capsys.readouterr()
    assert "PCA" in shown.err and "100%" in shown.err and "residual" in shown.err
    assert shown.out == ""
    assert len(seen) == pca.n_iter_ + 1


def test_nothing_is_shown_unless_asked(capsys):
    hearsay.PCA(3).fit(decaying_samples(200, 15))

    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_a_callback_behind_a_bar_can_still_stop():
    with pytest.warns(hearsay.ConvergenceWarning):
        pca = hearsay.PCA(3, oversampling=1, verbose=True, callback=lambda now: now.t < 2).fit(
            decaying_samples(200, 15)
        )

    assert pca.n_iter_ == 2
