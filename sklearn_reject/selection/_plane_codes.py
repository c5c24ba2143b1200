"""Codes of points in the plane of two scores, whose prefixes are rectangles."""

import numpy as np

# Leading bits of a score: sign, exponent and 19 digits of the mantissa.
_N_BITS = 31

# Both scores together.
_N_BOTH = np.uint64(2 * _N_BITS)

# Magic numbers that move the bits of a number apart.
_SPREADS = (
    (16, 0x0000FFFF0000FFFF),
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)

# Samples that tell how many leading bits a score needs.
_ENOUGH = 2**14


def codes_of(risk, novelty, shift=0):
    """Return one integer a sample: the leading bits of both scores, interleaved.

    What has a prefix of such bits in common is a rectangle, small near zero and large
    far from it. The first `shift` bits of the novelty, or of the risk if that is
    negative, come before all others. Before them two bits tell novelty of minus
    infinity, finite and infinite apart, so that no prefix holds both.
    """
    ahead, behind = _leading_bits(novelty), _leading_bits(risk)
    if shift < 0:
        ahead, behind = behind, ahead
    n_ahead = np.uint64(abs(shift))
    rest = np.uint64(_N_BITS) - n_ahead
    codes = (ahead >> rest) << (_N_BOTH - n_ahead)
    pairs = _spread_bits(ahead & _ones(rest)) << np.uint64(1)
    codes |= (pairs | _spread_bits(behind >> n_ahead)) << n_ahead
    codes |= behind & _ones(n_ahead)
    kinds = 1 + (novelty == np.inf).astype(np.int64) - (novelty == -np.inf)
    return codes | (kinds.astype(np.uint64) << _N_BOTH)


def _leading_bits(scores):
    """Return the leading bits as integers that increase with the score."""
    bits = (scores + 0.0).view(np.int64)  # minus zero becomes zero
    bits = np.where(bits < 0, ~bits, bits | np.int64(-(2**63))).view(np.uint64)
    return bits >> np.uint64(64 - _N_BITS)


def _ones(n_bits):
    return (np.uint64(1) << n_bits) - np.uint64(1)


def _spread_bits(numbers):
    for shift, mask in _SPREADS:
        numbers = (numbers | (numbers << np.uint64(shift))) & np.uint64(mask)
    return numbers


def fill_bits(numbers):
    """Return numbers with ones from their highest one on."""
    for shift in (1, 2, 4, 8, 16, 32):
        numbers = numbers | (numbers >> np.uint64(shift))
    return numbers


def common_region(first, last):
    """Return the first and the last code of the smallest prefix that holds both."""
    rest = fill_bits(first ^ last)
    return first & ~rest, first | rest


def tells_kinds(rest):
    """Tell which ends of prefixes reach novelty of different kinds."""
    return rest >> _N_BOTH > 0


def choose_shift(risk, novelty, n_wanted):
    """Return the shift with which both scores are cut about equally finely.

    A score needs so many leading bits that, of the samples, two share one of
    `n_wanted` cells only as often as if these were even: few for probabilities, which
    have many exponents, more for distances from 400 to 600, which all begin alike.
    """
    finite = np.flatnonzero(np.isfinite(novelty))
    finite = finite[:: max(1, len(finite) // _ENOUGH)]
    needed = [_bits_needed(score[finite], n_wanted) for score in (risk, novelty)]
    return needed[1] - needed[0]


def _bits_needed(scores, n_wanted):
    """Return the number of leading bits that make so many cells, or all there are."""
    bits = np.sort(_leading_bits(scores))
    n_cells = np.zeros(_N_BITS + 1)
    for n_bits in range(_N_BITS + 1):
        cells = bits >> np.uint64(_N_BITS - n_bits)
        starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
        sizes = np.diff(starts, append=len(cells))
        n_cells[n_bits] = len(cells) ** 2 / (sizes @ sizes) if len(cells) else 1.0
    return int(np.argmax(n_cells >= min(n_wanted, n_cells[-1])))
