"""The correction on simulated predictions with known truth: what plain CV claims, what sober says, what is true."""

import sobercv
from sobercv.testing import simulate

ROWS = ((20, 500), (40, 500), (100, 500), (500, 500))


def searched(n: int, c: int) -> tuple[float, float, float, int]:
    """Give the means of 50 searches (claimed, honest, true), and how many intervals hold the truth."""
    claims, honest, truths, inside = [], [], [], 0
    for seed in range(50):
        data = simulate.beta_accuracy(n, c, seed=seed)
        estimate = sobercv.bbc(data.y, data.predictions, data.metric, random_state=seed)
        truth = data.truth[estimate.winner]
        claims.append(estimate.naive)
        honest.append(estimate.value)
        truths.append(truth)
        inside += estimate.interval[0] <= truth <= estimate.interval[1]
    return sum(claims) / 50, sum(honest) / 50, sum(truths) / 50, inside


def main() -> None:
    print("50 simulated searches a row; 500 configurations of which the best looking one is picked (accuracy).\n")
    print(
        f"{'samples':>8} {'plain CV claims':>16} {'sober says':>12} {'true score':>12} {'truth in 95 % interval':>24}"
    )
    for n, c in ROWS:
        claim, honest, truth, inside = searched(n, c)
        print(f"{n:>8} {claim:>16.3f} {honest:>12.3f} {truth:>12.3f} {inside:>17} of 50")
    data = simulate.beta_accuracy(100, 500, seed=7)
    estimate = sobercv.bbc(data.y, data.predictions, data.metric, random_state=7)
    print(f"\nOne of them in full (true score of the winner: {data.truth[estimate.winner]:.4f}):\n\n{estimate}")


if __name__ == "__main__":
    main()
