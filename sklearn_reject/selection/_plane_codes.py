"""Codes of points in the plane of two scores, whose prefixes are rectangles."""

import numpy as np

from sklearn_reject._curves import cells_of

# Leading bits of a score: sign, exponent and 19 digits of the mantissa.
N_BITS = 31

# Both scores together.
_N_BOTH = np.uint64(2 * N_BITS)

# Magic numbers that move the bits of a number apart.
_SPREADS = (
    (16, 0x0000FFFF0000FFFF),
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)

# Shifts are multiples of it.
_STEP = 3

# Samples that tell how many leading bits a score needs.
_ENOUGH = 2**14


def codes_of(risk, novelty, shift=0):
    """Return one integer a sample: the leading bits of both scores, interleaved.

    What has a prefix of such bits in common is a rectangle, small near zero and large
    far from it. The first `shift` bits of the novelty, or of the risk if that is
    negative, come before all others. Before them two bits tell novelty of minus
    infinity, finite and infinite apart, so that no prefix holds both.
    """
    ahead, behind = cells_of(novelty, N_BITS), cells_of(risk, N_BITS)
    if shift < 0:
        ahead, behind = behind, ahead
    n_ahead = np.uint64(abs(shift))
    rest = np.uint64(N_BITS) - n_ahead
    codes = (ahead >> rest) << (_N_BOTH - n_ahead)
    pairs = _spread_bits(ahead & _ones(rest)) << np.uint64(1)
    codes |= (pairs | _spread_bits(behind >> n_ahead)) << n_ahead
    codes |= behind & _ones(n_ahead)
    kinds = 1 + (novelty == np.inf).astype(np.int64) - (novelty == -np.inf)
    return codes | (kinds.astype(np.uint64) << _N_BOTH)


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
    Shifts come in steps, so that those of parts of a sample are the same as a rule.
    """
    finite = np.flatnonzero(np.isfinite(novelty))
    finite = finite[:: max(1, len(finite) // _ENOUGH)]
    needed = [_bits_needed(score[finite], n_wanted) for score in (risk, novelty)]
    steps = round((needed[1] - needed[0]) / _STEP)
    return _STEP * int(np.clip(steps, -(N_BITS // _STEP), N_BITS // _STEP))


def _bits_needed(scores, n_wanted):
    """Return the number of leading bits that make so many cells, or all there are."""
    bits = np.sort(cells_of(scores, N_BITS))
    log_sizes = np.zeros(N_BITS + 1)
    for n_bits in range(1, N_BITS + 1):
        cells = bits >> np.uint64(N_BITS - n_bits)
        starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
        sizes = np.diff(starts, append=len(cells)) / max(1, len(cells))
        log_sizes[n_bits] = -np.log2(sizes @ sizes) if len(cells) else 0.0
    wanted = min(np.log2(n_wanted), log_sizes[-1])
    place = int(np.argmax(log_sizes >= wanted))
    if place == 0:
        return 0.0
    below, above = log_sizes[place - 1 : place + 1]
    return place - 1 + (wanted - below) / (above - below)
