"""`Communities` by the Leiden algorithm. The library is imported when the first graph comes."""

from collections.abc import Sequence

# Finer than one topic per session, coarser than one per question; found on coding sessions.
_RESOLUTION = 1.0
_SEED = 1


class LeidenCommunities:
    def __call__(self, edges: Sequence[tuple[int, int, float]]) -> dict[int, int]:
        if not edges:
            return {}
        from graspologic_native import leiden

        named = [(str(a), str(b), weight) for a, b, weight in edges]
        _, community = leiden(
            edges=named,
            starting_communities=None,
            resolution=_RESOLUTION,
            randomness=0.001,
            iterations=2,
            use_modularity=True,
            seed=_SEED,
            trials=1,
        )
        return {int(node): int(number) for node, number in community.items()}
