from typing import List, Sequence, Tuple

def score_mean(
    traces: Sequence[Sequence[Tuple[bytes, float, float]]],
) -> List[Tuple[bytes, float, float]]: ...
