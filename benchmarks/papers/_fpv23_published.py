"""What tables 2, 3a, 3b and 4 of FPV23 say.

V. Franc, D. Prusa, V. Voracek. Optimal Strategies for Reject Option Classifiers. JMLR
24(11), 2023. Areas and errors are in percent in tables 3, in classes in table 4.
"""

from collections import namedtuple

Size = namedtuple("Size", "n_samples n_features n_classes")
Spread = namedtuple("Spread", "mean sd")

SIZES = {
    "avila": Size(20_867, 10, 12),
    "codrna": Size(331_152, 8, 2),
    "covtype": Size(581_012, 54, 7),
    "ijcnn": Size(49_990, 22, 2),
    "letter": Size(20_000, 16, 26),
    "marketing": Size(45_211, 51, 2),
    "pendigit": Size(10_992, 16, 10),
    "phishing": Size(11_055, 68, 2),
    "sattelite": Size(6_435, 36, 6),
    "sensorless": Size(58_509, 48, 11),
    "shuttle": Size(58_000, 9, 7),
    "abalone": Size(4_177, 10, 19),
    "bank": Size(8_192, 32, 10),
    "bikeshare": Size(17_379, 11, 10),
    "california": Size(20_640, 8, 10),
    "ccpp": Size(9_568, 4, 10),
    "cpu": Size(8_192, 21, 10),
    "facebook": Size(50_993, 53, 10),
    "gpu": Size(241_600, 14, 10),
    "metro": Size(48_204, 30, 10),
    "msd": Size(499_671, 90, 41),
    "supercond": Size(21_263, 81, 10),
}

# The columns of each table, the risk of the classifier without rejections last.
_COLUMNS = {
    "3a": ("MCP", "SELE", "REG", "TCP", "R@100"),
    "3b": ("Margin", "SELE", "REG", "R@100"),
    "4": ("Margin", "SELE", "REG", "R@100"),
}

# Mean and standard deviation over five splits, column after column.
_ROWS = {
    "3a": """
        avila       27.18 0.55  25.79 0.44  26.62 0.74  26.85 0.78  43.71 0.42
        codrna       0.88 0.05   0.65 0.03   0.82 0.06   0.78 0.04   4.81 0.08
        covtype     16.49 0.06  17.58 0.07  17.62 0.09  17.19 0.07  27.56 0.17
        ijcnn        1.26 0.04   1.00 0.03   1.16 0.08   1.14 0.06   7.54 0.15
        letter       7.43 0.40   6.42 0.34   7.44 0.59   6.71 0.42  23.32 0.60
        marketing    2.60 0.31   1.88 0.11   1.97 0.12   1.90 0.11   9.88 0.29
        pendigit     0.69 0.04   1.55 0.19   1.97 0.55   1.47 0.39   5.29 0.40
        phishing     0.76 0.10   0.75 0.10   0.91 0.31   0.85 0.25   6.29 0.44
        sattelite    3.83 0.26   3.68 0.27   4.93 1.07   4.52 0.85  15.06 0.46
        sensorless   2.03 0.11   1.82 0.08   2.69 0.09   2.37 0.22   8.23 0.45
        shuttle      0.59 0.09   0.26 0.07   1.24 0.51   0.58 0.13   3.36 0.25
    """,
    "3b": """
        avila       31.65 0.83  25.26 0.67  25.95 0.75  43.34 0.70
        codrna       0.89 0.05   0.65 0.03   0.82 0.05   4.78 0.08
        covtype     25.71 0.81  17.79 0.21  17.77 0.14  27.41 0.11
        ijcnn        1.40 0.04   1.01 0.04   1.18 0.08   7.56 0.16
        letter      10.20 0.22   6.05 0.65   7.15 0.65  22.06 0.69
        marketing    2.24 0.20   1.97 0.10   2.04 0.20  10.48 0.39
        pendigit     2.79 0.40   1.57 0.21   2.16 0.43   4.88 0.57
        phishing     0.84 0.12   0.72 0.12   0.90 0.30   6.37 0.44
        sattelite    4.75 0.60   3.82 0.27   5.44 0.68  15.36 0.37
        sensorless   3.68 0.20   1.56 0.08   2.46 0.29   6.92 0.17
        shuttle      1.31 0.47   0.24 0.07   0.55 0.15   2.02 0.15
    """,
    "4": """
        california   0.98 0.03   0.82 0.02   0.84 0.02   1.18 0.01
        abalone      1.48 0.10   1.19 0.09   1.21 0.05   1.54 0.02
        bank         1.07 0.04   0.99 0.04   0.98 0.03   1.50 0.03
        cpu          0.41 0.01   0.36 0.02   0.36 0.02   0.64 0.03
        bikeshare    1.60 0.07   1.25 0.01   1.27 0.01   1.70 0.03
        ccpp         0.46 0.02   0.41 0.02   0.42 0.02   0.58 0.02
        facebook     0.51 0.01   0.37 0.01   0.36 0.01   1.11 0.01
        gpu          1.43 0.02   0.85 0.03   0.86 0.03   1.49 0.02
        metro        2.20 0.07   1.97 0.01   1.98 0.03   2.37 0.03
        msd          6.23 0.07   4.26 0.03   4.25 0.03   6.22 0.03
        supercond    0.98 0.02   0.75 0.01   0.77 0.01   1.07 0.01
    """,
}


def _parse(table):
    rows = (line.split() for line in _ROWS[table].strip().splitlines())
    return {name: _spreads(table, map(float, row)) for name, *row in rows}


def _spreads(table, numbers):
    pairs = zip(numbers, numbers, strict=True)
    return {
        column: Spread(*pair)
        for column, pair in zip(_COLUMNS[table], pairs, strict=True)
    }


# {table: {set: {column: Spread}}}
TABLES = {table: _parse(table) for table in _ROWS}
