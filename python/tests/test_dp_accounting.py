"""The accountant against Google's, from PyPI; ./dev adapters installs it and runs this."""

import itertools
import math

import numpy as np
import pytest

import hearsay
from hearsay import privacy

MISSING = "dp-accounting is not installed (./dev adapters installs it)"
dp_accounting = pytest.importorskip("dp_accounting", reason=MISSING)

BUDGETS = list(itertools.product((0.05, 0.5, 1.0, 4.0, 10.0), (1e-12, 1e-6, 1e-3)))


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_mu_of_a_budget_is_the_noise_that_google_asks_for(epsilon, delta):
    theirs = 1 / dp_accounting.get_sigma_gaussian(epsilon, delta)
    assert math.isclose(privacy.gaussian_mu(epsilon, delta), theirs, rel_tol=1e-6)


@pytest.mark.parametrize(("mu", "delta"), list(itertools.product((0.03, 0.24, 1.0, 3.0), (1e-9, 1e-6, 1e-3))))
def test_epsilon_of_a_release_is_what_google_charges(mu, delta):
    theirs = dp_accounting.get_epsilon_gaussian(1 / mu, delta)
    assert math.isclose(privacy.gaussian_epsilon(mu, delta), theirs, rel_tol=1e-6, abs_tol=1e-9)


def test_releases_together_cost_no_less_than_google_says_and_hardly_more():
    """Its accountant of compositions rounds up, by its grid."""
    mus = (0.2, 0.3, 0.15)
    accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=1e-4)
    for mu in mus:
        accountant.compose(dp_accounting.GaussianDpEvent(1 / mu))
    ours = privacy.gaussian_epsilon(math.hypot(*mus), 1e-6)
    assert ours <= accountant.get_epsilon(1e-6) + 1e-9 and accountant.get_epsilon(1e-6) <= ours + 1e-3


def test_a_ledger_charges_what_google_does(tmp_path):
    ledger = hearsay.Ledger(tmp_path / "l", data="rows", epsilon=3.0, delta=1e-6)
    rows = np.random.default_rng(0).standard_normal((500, 4))
    for epsilon in 1.0, 0.5:
        hearsay.PrivatePCA(1, epsilon=epsilon, delta=1e-6, row_norm=3.0, ledger=ledger).fit(rows)
    sigmas = [dp_accounting.get_sigma_gaussian(epsilon, 1e-6) for epsilon in (1.0, 0.5)]
    together = dp_accounting.get_epsilon_gaussian(sum(s**-2 for s in sigmas) ** -0.5, 1e-6)
    assert math.isclose(ledger.spent, together, rel_tol=1e-6)
