"""Genotypes of several populations in PLINK's format, by the model of Balding and Nichols (1995).

    python3 balding_nichols.py genotypes --samples 1000 --snps 20000

writes genotypes.bed, genotypes.bim and genotypes.fam. Every SNP has an ancestral frequency p in [0.05, 0.95]; in a
population it is drawn from Beta(p (1 - f) / f, (1 - p) (1 - f) / f), where f is the distance of populations (--fst). A
sample's calls are two draws from its population's frequency. The family of a sample is its population.
"""

import argparse
import pathlib

import numpy as np

CODES = np.array([3, 2, 0, 1], dtype=np.uint8)  # no copy, one, two copies of the first allele, a missing call
SNPS_AT_ONCE = 1000


def packed(calls):
    """Four calls a byte, the first in its lowest bits; SNPs in rows."""
    codes = CODES[calls]
    codes = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 4))).reshape(len(codes), -1, 4)
    return codes[:, :, 0] | codes[:, :, 1] << 2 | codes[:, :, 2] << 4 | codes[:, :, 3] << 6


def calls_of(random, population, snps, fst, missing):
    ancestral = random.uniform(0.05, 0.95, snps)
    scale = (1 - fst) / fst
    frequency = random.beta(
        (ancestral * scale)[:, None], ((1 - ancestral) * scale)[:, None], (snps, population.max() + 1)
    )
    calls = random.binomial(2, frequency[:, population])
    calls[random.random(calls.shape) < missing] = 3
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="of the three files, without their endings")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--snps", type=int, default=20000)
    parser.add_argument("--populations", type=int, default=5)
    parser.add_argument("--fst", type=float, default=0.02)
    parser.add_argument("--missing", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    random = np.random.default_rng(asked.seed)
    population = np.arange(asked.samples) * asked.populations // asked.samples
    with open(asked.name + ".bed", "wb") as bed:
        bed.write(b"\x6c\x1b\x01")
        for first in range(0, asked.snps, SNPS_AT_ONCE):
            count = min(SNPS_AT_ONCE, asked.snps - first)
            bed.write(packed(calls_of(random, population, count, asked.fst, asked.missing)).tobytes())
    pathlib.Path(asked.name + ".bim").write_text(
        "".join(
            f"{1 + snp * 22 // asked.snps}\trs{snp + 1}\t0\t{1000 * (snp + 1)}\tA\tG\n" for snp in range(asked.snps)
        )
    )
    pathlib.Path(asked.name + ".fam").write_text(
        "".join(f"population{group + 1}\tsample{sample + 1}\t0\t0\t0\t-9\n" for sample, group in enumerate(population))
    )


if __name__ == "__main__":
    main()
