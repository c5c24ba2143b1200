"""What tables 2 and 3 of NKRD16 say, and the sizes of their sets.

N. Natarajan, O. Koyejo, P. Ravikumar, I. S. Dhillon. Optimal Classification with
Multivariate Losses. ICML 2016. All numbers are losses on test samples, averaged over
the one-versus-rest problems of a set.
"""

from collections import namedtuple

# Numbers of samples, and of problems, one for each class where there are several.
Size = namedtuple("Size", "n_train n_test n_problems")

# The four methods, in the order of the columns.
Losses = namedtuple("Losses", "proposed baseline tuning s_svm")

SIZES = {
    "reuters": Size(5946, 2347, 65),
    "letter": Size(16_000, 4000, 26),
    "scene": Size(1137, 1093, 6),
    "webpage": Size(6956, 27_824, 1),
    "spambase": Size(3071, 1530, 1),
    "image": Size(1300, 1010, 1),
    "breast_cancer": Size(463, 220, 1),
}

# Topics of Reuters that have so many positives, of the training as of the test part.
LEAST_POSITIVES = (1, 10, 50, 100)

# Losses by the names that they have here.
TITLES = {
    "f1": "table 2, F1",
    "jaccard": "table 2, Jaccard",
    "am": "table 3, AM",
    "g_tp_pr": "table 3, G-TP/PR",
}

_TABLE_2 = """
    reuters 1      .4125 .4849 .5020 .3254   .5239 .5692 .5691 .4977
    reuters 10     .1753 .2376 .2401 .1604   .3199 .3591 .3090 .2983
    reuters 50     .1003 .1572 .1490 .1533   .2485 .2552 .2422 .2528
    reuters 100    .0144 .0325 .0331 .0360   .0602 .0625 .0643 .0689
    letter 1       .2890 .5173 .4255 .4395   .5728 .6368 .5682 .5029
    scene 1        .3084 .8023 .5603 .3937   .6460 .9794 .7920 .5541
    webpage 1      .1606 .3145 .3191 .4700   .5363 .4785 .4806 .5758
    spambase 1     .1552 .1202 .1161 .2263   .2686 .2133 .1997 .3461
    image 1        .1458 .1429 .1419 .1227   .2545 .2500 .2377 .2235
    breast_cancer 1  .0207 .0411 .0234 .0270   .0658 .0789 .0519 .0526
"""

_TABLE_3 = """
    reuters 1      .1166 .2777 .2267 .0598   .2711 .4553 .4782 .2700
    reuters 10     .0480 .1640 .0889 .0368   .1934 .2200 .1924 .1579
    reuters 50     .0341 .0983 .0418 .0374   .1505 .1559 .1309 .1527
    reuters 100    .0217 .0239 .0219 .0235   .0313 .0325 .0328 .0369
    letter 1       .1285 .2980 .1280 .1800   .4213 .4936 .4098 .3465
    scene 1        .4160 .4935 .4190 .2250   .4931 .9395 .6152 .3935
    webpage 1      .1311 .1795 .1250 .1528   .3383 .3133 .3114 .4384
    spambase 1     .1220 .0990 .0910 .1650   .1506 .1169 .1087 .2204
    image 1        .1959 .1808 .1931 .1599   .1324 .1423 .1298 .1198
    breast_cancer 1  .0204 .0399 .0170 .0205   .0340 .0410 .0266 .0270
"""


def _parse(lines, losses):
    """Return {loss: {(set, least positives): Losses}} of a table of two losses."""
    table = {loss: {} for loss in losses}
    for line in lines.split("\n")[1:-1]:
        name, least, *numbers = line.split()
        values = [float(number) for number in numbers]
        for loss, start in zip(losses, (0, 4), strict=True):
            table[loss][name, int(least)] = Losses(*values[start : start + 4])
    return table


TABLES = {**_parse(_TABLE_2, ("f1", "jaccard")), **_parse(_TABLE_3, ("am", "g_tp_pr"))}
