"""torch-uncertainty: the area under the risk-coverage curve."""

from benchmarks._peers import load_torch_uncertainty
from benchmarks.comparison._area import measure_area

PACKAGE = "torch-uncertainty"


def measure():
    """Yield the lines of the table."""
    yield from measure_area(load_torch_uncertainty(), is_risk=True)
