"""Series by GutenTAG, run in an environment of its own. In: a configuration, a seed. Out: values and labels of its series, as a NumPy archive.

``python gutentag_series.py CONFIGURATION SEED OUT``. Nothing of ours is imported here.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(configuration: Path, seed: int, out: Path) -> None:
    """Generate all series of a configuration (JSON, as GutenTAG reads it)."""
    import numpy as np
    from gutenTAG import GutenTAG

    generator = GutenTAG.from_json(configuration, seed=seed)
    arrays = {}
    for one in generator._timeseries:
        one.generate(seed)
        arrays[f"{one.dataset_name}.values"] = one.timeseries[:, 0]
        arrays[f"{one.dataset_name}.labels"] = one.labels
    np.savez_compressed(out, **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
