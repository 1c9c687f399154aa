"""Ten agents on a ring, each with the images of one digit, find the principal components of all of them by gossip."""

import numpy as np
from sklearn.datasets import load_digits

import hearsay


def main() -> None:
    pixels, labels = load_digits(return_X_y=True)
    pixels = pixels / 16
    shards = [pixels[labels == digit] for digit in range(10)]
    whole = hearsay.PCA(5).fit(pixels)

    print(f"{'algorithm':<10}{'iterations':>11}{'rounds':>8}{'megabytes':>11}{'worst sin(theta)':>18}{'agreement':>11}")
    for algorithm in ("deepca", "adeepca"):
        agents = hearsay.DecentralizedPCA(5, algorithm=algorithm, topology="ring", tol=1e-8)
        agents.fit(shards, reference=whole.components_)
        U = whole.components_.T
        worst = max(float(np.linalg.norm(V.T - U @ (U.T @ V.T), 2)) for V in agents.agent_components_)
        print(
            f"{algorithm:<10}{agents.n_iter_:>11}{agents.traffic_.rounds:>8}{agents.traffic_.bytes / 1e6:>11.1f}"
            f"{worst:>18.1e}{agents.agreement_:>11.1e}"
        )
        assert worst < 1e-5

    print("\nNobody saw a digit but its own, and each can tell how much of it the others' components explain:")
    for digit in (0, 1, 8):
        centred = shards[digit] - agents.mean_
        explained = np.square(centred @ agents.agent_components_[digit].T).sum() / np.square(centred).sum()
        print(f"  {digit}: {explained:.0%}")


if __name__ == "__main__":
    main()
