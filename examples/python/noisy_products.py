"""A matrix that can only be multiplied by, and not quite: averages go below the floor, and say how far they are off."""

import warnings

import numpy as np
import numpy.typing as npt

import hearsay

Array = npt.NDArray[np.float64]

DIMENSION, RANK, SIGMA = 500, 5, 1e-5


def main() -> None:
    generator = np.random.default_rng(0)
    eigenvalues = np.concatenate([np.full(RANK, 1.0), np.linspace(0.98, 0.3, DIMENSION - RANK)])
    U, _ = np.linalg.qr(generator.standard_normal((DIMENSION, DIMENSION)))

    def product(X: Array) -> Array:
        exact = U @ (eigenvalues[:, None] * (U.T @ X))
        return exact + SIGMA * generator.standard_normal(X.shape)

    print(f"{'method':<10}{'products':>10}{'sin(theta)':>12}  error bar")
    sines = {}
    for method in ("npm", "anpm", "averaged"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hearsay.ConvergenceWarning)  # the noise floor is what we came to see
            _, vectors, info = hearsay.eigsh(
                product, RANK, n=DIMENSION, psd=True, noisy=True, method=method, reference=U[:, :RANK]
            )
        sines[method] = float(np.linalg.norm(vectors - U[:, :RANK] @ (U[:, :RANK].T @ vectors), 2))
        print(f"{method:<10}{info.products:>10}{sines[method]:>12.2e}  {info.error_bar or 'none'}")

    plan = hearsay.plan(dimension=DIMENSION, rank=RANK, eigenvalues=list(eigenvalues), epsilon=1e-4, noise_sigma=SIGMA)
    assert plan.products is not None
    print(f"\nAverages to 1e-4 would take about {plan.products.value:.0f} products.")
    assert max(sines.values()) < 0.05


if __name__ == "__main__":
    main()
