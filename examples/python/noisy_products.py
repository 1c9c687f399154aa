"""A matrix that can only be multiplied by, and not quite: momentum saves products, and the noise sets the floor."""

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

    print(f"{'momentum':<10}{'iterations':>12}{'sin(theta)':>12}  ended")
    sines = {}
    for momentum in ("none", "auto"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hearsay.ConvergenceWarning)  # the noise floor is what we came to see
            _, vectors, info = hearsay.eigsh(
                product, RANK, n=DIMENSION, psd=True, noisy=True, momentum=momentum, reference=U[:, :RANK]
            )
        sines[momentum] = float(np.linalg.norm(vectors - U[:, :RANK] @ (U[:, :RANK].T @ vectors), 2))
        print(f"{momentum:<10}{info.iterations:>12}{sines[momentum]:>12.2e}  {info.status}")

    plan = hearsay.plan(dimension=DIMENSION, rank=RANK, eigenvalues=list(eigenvalues), epsilon=1e-2)
    print("\nThe theory, for exact products:")
    for row in plan.rows:
        print(f"  {row.method:<26}{row.predicted_iterations.value:8.0f} iterations to 1e-2")
    assert max(sines.values()) < 0.05


if __name__ == "__main__":
    main()
