"""Elementary functions to the last digit of Go's mathematical library on amd64. In: flat arrays of float64. Out: the same.

C's library rounds better, and apart from Go's: ``floor(log10(1000))`` is 2 in Prometheus and 3 in C. So these are computed
by the formulas that Go uses, in the same order of operations: Cephes (S. L. Moshier) for ``sin``, ``cos``, ``tan``, ``atan``
and ``tanh``, FDLIBM (Sun Microsystems, 1993) for ``log``, ``log1p`` and the inverse hyperbolic functions, SLEEF (N. Shibata)
for ``exp``, Hart and Cheney for ``sinh``.

All that call one another are in this file, as Numba's cache wants it (see :mod:`kernels`).
"""

from __future__ import annotations

import math

import numpy as np

from throttlescope.ingest.core.compilation import CompiledIntrinsic, compiled

NAMES = (
    "exp", "ln", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh",
)  # fmt: skip

_compiled = compiled(error_model="numpy")

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LARGE, _NEAR_ZERO = 2.0**28, 2.0**-28
#: Digits of 4/pi in words of 64 bits, for angles so large that pi in double precision does not do.
_FOUR_OVER_PI = np.array(
    [
        0x0000000000000001, 0x45F306DC9C882A53, 0xF84EAFA3EA69BB81, 0xB6C52B3278872083, 0xFCA2C757BD778AC3,
        0x6E48DC74849BA5C0, 0x0C925DD413A32439, 0xFC3BD63962534E7D, 0xD1046BEA5D768909, 0xD338E04D68BEFC82,
        0x7323AC7306A673E9, 0x3908BF177BF25076, 0x3FF12FFFBC0B301F, 0xDE5E2316B414DA3E, 0xDA6CFD9E4F96136E,
        0x9E8C7ECD3CBFD45A, 0xEA4F758FD7CBE2F6, 0x7A0E73EF14A525D4, 0xD7F6BF623F1ABA10, 0xAC06608DF8F6D757,
    ],
    np.uint64,
)  # fmt: skip


@CompiledIntrinsic
def _fused(typing_context, left, right, added):
    """``left * right + added``, rounded once."""
    from numba import types

    signature = types.float64(types.float64, types.float64, types.float64)

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return signature, generate


# -- exponential and logarithms -------------------------------------------------------------------


@_compiled
def _exp(x):
    if math.isnan(x) or x == np.inf:
        return x
    if x > 7.09782712893384e02:
        return np.inf
    twos = np.rint(x * 1.4426950408889634)
    if twos < -2000:
        return 0.0
    r = _fused(-twos, 0.69314718055966295651160180568695068359375, x)
    r = _fused(-twos, 0.28235290563031577122588448175013436025525412068e-12, r)
    r *= 0.0625
    p = 2.4801587301587301587e-5
    p = _fused(p, r, 1.9841269841269841270e-4)
    p = _fused(p, r, 1.3888888888888888889e-3)
    p = _fused(p, r, 8.3333333333333333333e-3)
    p = _fused(p, r, 4.1666666666666666667e-2)
    p = _fused(p, r, 1.6666666666666666667e-1)
    p = _fused(p, r, 0.5)
    p = _fused(p, r, 1.0)
    r *= p
    # Four times from exp(y) - 1 to exp(2y) - 1.
    r *= r + 2.0
    r *= r + 2.0
    r *= r + 2.0
    r = _fused(r + 2.0, r, 1.0)
    exponent = int(twos) + 1023
    if exponent < -52:
        return 0.0
    if exponent <= 0:
        return r * math.ldexp(1.0, exponent - 1) * 2.2250738585072014e-308
    if exponent >= 2047:
        return np.inf
    return r * math.ldexp(1.0, exponent - 1023)


@_compiled
def _log(x):
    if math.isnan(x) or x == np.inf:
        return x
    if x < 0:
        return np.nan
    if x == 0:
        return -np.inf
    if x < 2.2250738585072014e-308:
        # Go does not normalise what is this small.
        fraction, exponent = 0.5 + math.ldexp(x, 1074) * 2.0**-53, -1022
    else:
        fraction, exponent = math.frexp(x)
    k = float(exponent)
    if not fraction > 7.07106781186547524401e-01:
        k -= 1.0
        fraction *= 2.0
    f = fraction - 1.0
    s = f / (2.0 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = s2 * (
        6.666666666666735130e-01
        + s4 * (2.857142874366239149e-01 + s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01))
    )
    even = s4 * (3.999999999940941908e-01 + s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01))
    half = 0.5 * f * f
    return k * _LN2_HIGH - ((half - (s * (half + (odd + even)) + k * _LN2_LOW)) - f)


@_compiled
def _log2(x):
    fraction, exponent = math.frexp(x)
    if fraction == 0.5:
        return exponent - 1.0
    return _log(fraction) * 1.4426950408889634 + exponent


@_compiled
def _log1p(x):
    if x < -1 or math.isnan(x):
        return np.nan
    if x == -1:
        return -np.inf
    if x == np.inf:
        return np.inf
    size = abs(x)
    k, f, correction, exact = 1, 0.0, 0.0, False
    if size < 4.142135623730950488017e-01:
        if size < 2.0**-54:
            return x
        if size < 2.0**-29:
            return x - x * x * 0.5
        if x > -2.928932188134524755992e-01:
            k, f = 0, x
    if k != 0:
        u = 1.0 + x if size < 2.0**53 else x
        half, exponent = math.frexp(u)
        k = exponent - 1
        if size < 2.0**53:
            correction = (1.0 - (u - x) if k > 0 else x - (u - 1.0)) / u
        u = 2.0 * half
        if u < 1.4142135623730951:
            exact = u == 1.0
        else:
            k += 1
            exact = (2.0 - u) * 2.0**52 < 4
            u = half
        f = u - 1.0
    half = 0.5 * f * f
    if exact:
        if f == 0:
            return 0.0 if k == 0 else k * _LN2_HIGH + (correction + k * _LN2_LOW)
        rest = half * (1.0 - 0.66666666666666666 * f)
        return f - rest if k == 0 else k * _LN2_HIGH - ((rest - (k * _LN2_LOW + correction)) - f)
    s = f / (2.0 + f)
    z = s * s
    rest = 1.531383769920937332e-01 + z * 1.479819860511658591e-01
    rest = 2.222219843214978396e-01 + z * (1.818357216161805012e-01 + z * rest)
    rest = z * (
        6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * (2.857142874366239149e-01 + z * rest))
    )
    if k == 0:
        return f - (half - s * (half + rest))
    return k * _LN2_HIGH - ((half - (s * (half + rest) + (k * _LN2_LOW + correction))) - f)


# -- angles ---------------------------------------------------------------------------------------


@_compiled
def _high_product(left, right):
    """The upper 64 bits of a product of 64 by 64 bits."""
    low_bits, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b = left >> half, left & low_bits
    c, d = right >> half, right & low_bits
    middle = a * d + ((b * d) >> half)
    other = b * c + (middle & low_bits)
    return a * c + (middle >> half) + (other >> half)


@_compiled
def _reduced_by_digits(x):
    """Octant and rest of an angle from 2^29 on (Payne and Hanek)."""
    half, exponent = math.frexp(x)
    mantissa, exponent = np.uint64(math.ldexp(half, 53)), exponent - 53
    digit, shift = (exponent + 61) // 64, np.uint64((exponent + 61) % 64)
    back, one, three = np.uint64(64) - shift, np.uint64(1), np.uint64(3)
    words = np.empty(3, np.uint64)
    for i in range(3):
        words[i] = _FOUR_OVER_PI[digit + i] << shift
        if shift > np.uint64(0):
            words[i] |= _FOUR_OVER_PI[digit + i + 1] >> back
    low = words[1] * mantissa
    carried = low + _high_product(words[2], mantissa)
    carry = one if carried < low else np.uint64(0)
    high = words[0] * mantissa + _high_product(words[1], mantissa) + carry
    octant = np.int64(high >> np.uint64(61))
    high = (high << three) | (carried >> np.uint64(61))
    zeros = 0
    while zeros < 64 and (high >> np.uint64(63 - zeros)) & one == np.uint64(0):
        zeros += 1
    # The digits behind the leading one, 52 of them.
    behind = np.uint64(zeros + 1)
    high = (high << behind) | (carried >> (np.uint64(64) - behind)) if zeros < 63 else carried
    rest = math.ldexp(1.0 + float(high >> np.uint64(12)) * 2.0**-52, -(zeros + 1))
    if octant & 1:
        octant = (octant + 1) & 7
        rest -= 1.0
    return octant, rest * 0.7853981633974483


@_compiled
def _reduced(x):
    """Octant and rest of a positive angle; odd octants go up to the next even one."""
    if x >= 2.0**29:
        return _reduced_by_digits(x)
    octant = np.int64(x * 1.2732395447351628)
    octant += octant & 1
    y = float(octant)
    rest = (
        (x - y * 7.85398125648498535156e-1) - y * 3.77489470793079817668e-8
    ) - y * 2.69515142907905952645e-15
    return octant & 7, rest


@_compiled
def _near_sine(z):
    zz = z * z
    p = ((1.58962301576546568060e-10 * zz + -2.50507477628578072866e-8) * zz + 2.75573136213857245213e-6) * zz
    p = ((p + -1.98412698295895385996e-4) * zz + 8.33333333332211858878e-3) * zz + -1.66666666666666307295e-1
    return z + z * zz * p


@_compiled
def _near_cosine(z):
    zz = z * z
    p = (
        (-1.13585365213876817300e-11 * zz + 2.08757008419747316778e-9) * zz + -2.75573141792967388112e-7
    ) * zz
    p = ((p + 2.48015872888517045348e-5) * zz + -1.38888888888730564116e-3) * zz + 4.16666666666665929218e-2
    return 1.0 - 0.5 * zz + zz * zz * p


@_compiled
def _sin(x):
    if x == 0 or math.isnan(x):
        return x
    if math.isinf(x):
        return np.nan
    octant, z = _reduced(abs(x))
    negative = (x < 0) != (octant > 3)
    octant &= 3
    y = _near_cosine(z) if octant == 1 or octant == 2 else _near_sine(z)
    return -y if negative else y


@_compiled
def _cos(x):
    if math.isnan(x) or math.isinf(x):
        return np.nan
    octant, z = _reduced(abs(x))
    negative = octant > 3
    octant &= 3
    if octant > 1:
        negative = not negative
    y = _near_sine(z) if octant == 1 or octant == 2 else _near_cosine(z)
    return -y if negative else y


@_compiled
def _tan(x):
    if x == 0 or math.isnan(x):
        return x
    if math.isinf(x):
        return np.nan
    octant, z = _reduced(abs(x))
    zz = z * z
    y = z
    if zz > 1e-14:
        p = (-1.30936939181383777646e4 * zz + 1.15351664838587416140e6) * zz + -1.79565251976484877988e7
        q = ((zz + 1.36812963470692954678e4) * zz + -1.32089234440210967447e6) * zz + 2.50083801823357915839e7
        q = q * zz + -5.38695755929454629881e7
        y = z + z * (zz * p / q)
    if octant & 2:
        y = -1 / y
    return -y if x < 0 else y


@_compiled
def _near_arctangent(x):
    """From 0 to 0.66."""
    z = x * x
    p = (
        (-8.750608600031904122785e-01 * z + -1.615753718733365076637e01) * z + -7.500855792314704667340e01
    ) * z
    p = (p + -1.228866684490136173410e02) * z + -6.485021904942025371773e01
    q = ((z + 2.485846490142306297962e01) * z + 1.650270098316988542046e02) * z + 4.328810604912902668951e02
    q = (q * z + 4.853903996359136964868e02) * z + 1.945506571482613964425e02
    return x * (z * p / q) + x


@_compiled
def _positive_arctangent(x):
    if x <= 0.66:
        return _near_arctangent(x)
    if x > 2.41421356237309504880:
        return 1.5707963267948966 - _near_arctangent(1 / x) + 6.123233995736765886130e-17
    return 0.7853981633974483 + _near_arctangent((x - 1) / (x + 1)) + 0.5 * 6.123233995736765886130e-17


@_compiled
def _atan(x):
    if x == 0:
        return x
    return _positive_arctangent(x) if x > 0 else -_positive_arctangent(-x)


@_compiled
def _asin(x):
    if x == 0:
        return x
    size = abs(x)
    if size > 1:
        return np.nan
    root = math.sqrt(1 - size * size)
    if size > 0.7:
        angle = 1.5707963267948966 - _positive_arctangent(root / size)
    else:
        angle = _positive_arctangent(size / root)
    return -angle if x < 0 else angle


@_compiled
def _atan2(y, x):
    if math.isnan(x) or math.isnan(y):
        return np.nan
    if y == 0 or x == 0 or math.isinf(x) or math.isinf(y):
        # Multiples of pi/4, which C rounds as Go does.
        return math.atan2(y, x)
    angle = _atan(y / x)
    if x < 0:
        return angle + math.pi if angle <= 0 else angle - math.pi
    return angle


# -- hyperbolic functions -------------------------------------------------------------------------


@_compiled
def _sinh(x):
    size = -x if x < 0 else x
    if size > 21:
        y = _exp(size) * 0.5
    elif size > 0.5:
        grown = _exp(size)
        y = (grown - 1 / grown) * 0.5
    else:
        square = size * size
        p = (-0.2630563213397497062819489e2 * square + -0.2894211355989563807284660366e4) * square
        p = (p + -0.8991272022039509355398013511e5) * square + -0.6307673640497716991184787251e6
        q = (square + -0.173678953558233699533450911e3) * square + 0.1521517378790019070696485176e5
        q = q * square + -0.6307673640497716991212077277e6
        y = p * size / q
    return -y if x < 0 else y


@_compiled
def _cosh(x):
    size = abs(x)
    grown = _exp(size)
    return grown * 0.5 if size > 21 else (grown + 1 / grown) * 0.5


@_compiled
def _tanh(x):
    size = abs(x)
    if size > 0.5 * 8.8029691931113054295988e01:
        return -1.0 if x < 0 else 1.0
    if size >= 0.625:
        y = 1 - 2 / (_exp(2 * size) + 1)
        return -y if x < 0 else y
    if x == 0:
        return x
    s = x * x
    p = (-9.64399179425052238628e-1 * s + -9.92877231001918586564e1) * s + -1.61468768441708447952e3
    q = ((s + 1.12811678491632931402e2) * s + 2.23548839060100448583e3) * s + 4.84406305325125486048e3
    return x + x * s * p / q


@_compiled
def _asinh(x):
    if math.isnan(x) or math.isinf(x):
        return x
    size = -x if x < 0 else x
    if size > _LARGE:
        y = _log(size) + 6.93147180559945286227e-01
    elif size > 2:
        y = _log(2 * size + 1 / (math.sqrt(size * size + 1) + size))
    elif size < _NEAR_ZERO:
        y = size
    else:
        y = _log1p(size + size * size / (1 + math.sqrt(1 + size * size)))
    return -y if x < 0 else y


@_compiled
def _acosh(x):
    if x < 1 or math.isnan(x):
        return np.nan
    if x == 1:
        return 0.0
    if x >= _LARGE:
        return _log(x) + 0.6931471805599453
    if x > 2:
        return _log(2 * x - 1 / (x + math.sqrt(x * x - 1)))
    above = x - 1
    return _log1p(above + math.sqrt(2 * above + above * above))


@_compiled
def _atanh(x):
    size = -x if x < 0 else x
    if size > 1 or math.isnan(x):
        return np.nan
    if size == 1:
        y = np.inf
    elif size < _NEAR_ZERO:
        y = size
    elif size < 0.5:
        twice = size + size
        y = 0.5 * _log1p(twice + twice * size / (1 - size))
    else:
        y = 0.5 * _log1p((size + size) / (1 - size))
    return -y if x < 0 else y


# -- powers ---------------------------------------------------------------------------------------


@_compiled
def _power(base, exponent):
    """Whole powers by squaring, broken ones by exponential and logarithm."""
    if exponent == 0 or base == 1:
        return 1.0
    if exponent == 1:
        return base
    if math.isnan(base) or math.isnan(exponent):
        return np.nan
    if base == 0 or math.isinf(base) or math.isinf(exponent):
        # Here C's pow is exact and agrees with Go's.
        return base**exponent
    if exponent == 0.5:
        return math.sqrt(base) if base >= 0 else np.nan
    if exponent == -0.5:
        return 1 / math.sqrt(base) if base >= 0 else np.nan
    whole = np.floor(abs(exponent))
    part = abs(exponent) - whole
    if part != 0 and base < 0:
        return np.nan
    if whole >= 2.0**63:
        if base == -1:
            return 1.0
        return 0.0 if (abs(base) < 1) == (exponent > 0) else np.inf
    mantissa, twos = 1.0, 0
    if part != 0:
        if part > 0.5:
            part -= 1
            whole += 1
        mantissa = _exp(part * _log(base))
    square, square_twos = math.frexp(base)
    left = np.int64(whole)
    while left != 0:
        if square_twos < -(1 << 12) or square_twos > 1 << 12:
            twos += square_twos
            break
        if left & 1:
            mantissa *= square
            twos += square_twos
        square *= square
        square_twos <<= 1
        if square < 0.5:
            square += square
            square_twos -= 1
        left >>= 1
    if exponent < 0:
        mantissa = 1 / mantissa
        twos = -twos
    return math.ldexp(mantissa, twos)


# -- over arrays ----------------------------------------------------------------------------------


@_compiled
def element(which, values):
    """A function of each element; ``which`` is its place in ``NAMES``."""
    out = np.empty(len(values))
    for i in range(len(values)):
        x = values[i]
        if which == 0:
            out[i] = _exp(x)
        elif which == 1:
            out[i] = _log(x)
        elif which == 2:
            out[i] = _log2(x)
        elif which == 3:
            out[i] = _log(x) * 0.4342944819032518
        elif which == 4:
            out[i] = _sin(x)
        elif which == 5:
            out[i] = _cos(x)
        elif which == 6:
            out[i] = _tan(x)
        elif which == 7:
            out[i] = _asin(x)
        elif which == 8:
            out[i] = 1.5707963267948966 - _asin(x)
        elif which == 9:
            out[i] = _atan(x)
        elif which == 10:
            out[i] = _sinh(x)
        elif which == 11:
            out[i] = _cosh(x)
        elif which == 12:
            out[i] = _tanh(x)
        elif which == 13:
            out[i] = _asinh(x)
        elif which == 14:
            out[i] = _acosh(x)
        else:
            out[i] = _atanh(x)
    return out


@_compiled
def power(bases, exponents):
    """``^`` of two flat arrays."""
    out = np.empty(len(bases))
    for i in range(len(bases)):
        out[i] = _power(bases[i], exponents[i])
    return out


@_compiled
def angle(opposite, adjacent):
    """``atan2`` of two flat arrays."""
    out = np.empty(len(opposite))
    for i in range(len(opposite)):
        out[i] = _atan2(opposite[i], adjacent[i])
    return out
