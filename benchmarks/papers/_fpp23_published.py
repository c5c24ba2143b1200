"""What tables 1 and 2 of FPP23 say; of table 2 the part with MNIST as ID.

V. Franc, D. Prusa, J. Paplham. Reject option models comprising out-of-distribution
detection. 2023. Selective risks are shares of errors among accepted ID samples.
"""

from collections import namedtuple

# Risks at TPR .7 and FPR .2, and at precision .9 and recall .7. None: out of reach.
Synthetic = namedtuple("Synthetic", "tpr_fpr precision_recall auroc aupr oscr")

# Risk at TPR .8 and the FPR of the set.
Images = namedtuple("Images", "risk auroc oscr")

TABLE_1 = {
    "A": Synthetic(0.157, 0.157, 0.88, 0.96, 0.82),
    "B": Synthetic(0.143, 0.143, 0.86, 0.95, 0.83),
    "C": Synthetic(None, None, 0.76, 0.92, 0.86),
    "D": Synthetic(0.133, 0.129, 0.88, 0.96, 0.86),
}

# The largest TPR that C attains at FPR .2, in the text of figure 1.
ATTAINABLE_TPR = {"C": 0.58}

# Sets of OOD samples, and the FPR that is allowed there.
MAX_FPR = {"notMNIST": 0.08, "FashionMNIST": 0.10, "CIFAR-10": 0.29}

_TABLE_2 = """
    MSP      .00014 .936 .996  .00013 .956 .994  .00013 .989 .991
    MLS      .00139 .941 .993  .00139 .972 .991  .00139 .993 .990
    ODIN     .00069 .942 .993  .00069 .970 .991  .00069 .993 .990
    ReAct    .00637 .962 .991  .00637 .985 .990  .00637 .992 .989
    KNN      .00041 .976 .991  .00041 .947 .993  .00041 .976 .991
    ViM      .00193 .983 .990  .00194 .926 .993  .00194 .860 .995
    KNN+MSP  .00000 .976 .996  .00000 .962 .994  .00000 .991 .991
    ViM+MSP  .00014 .987 .996  .00013 .976 .994  .00013 .992 .995
"""


def _parse(lines):
    for line in lines.split("\n")[1:-1]:
        method, *numbers = line.split()
        values = [float(number) for number in numbers]
        triples = [Images(*values[start : start + 3]) for start in (0, 3, 6)]
        yield method, dict(zip(MAX_FPR, triples, strict=True))


# {method: {set of OOD samples: Images}}
TABLE_2 = dict(_parse(_TABLE_2))
