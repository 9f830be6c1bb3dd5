/** Corrects the last digits of trigonometric functions in WebAssembly. */

/**
 * In WebAssembly, the last digits of trigonometric functions differ from native ones. These replacements reduce the
 * argument and sum the series in double-double precision; inverse functions apply one Newton step.
 */
export const trigonometry = `
def _tune():
    import math
    from fractions import Fraction
    fma = math.fma

    def two_sum(a, b):
        s = a + b
        t = s - a
        return s, (a - (s - t)) + (b - t)

    def add(ah, al, bh, bl):
        s, e = two_sum(ah, bh)
        e += al + bl
        h = s + e
        return h, e - (h - s)

    def multiply(ah, al, bh, bl):
        p = ah * bh
        e = fma(ah, bh, -p) + (ah * bl + al * bh)
        h = p + e
        return h, e - (h - p)

    def pair(fraction):
        high = float(fraction)
        return high, float(fraction - Fraction(high))

    def coefficients(first):
        return [Fraction((-1) ** (n // 2), math.factorial(n)) for n in range(first, first + 18, 2)]

    sines = [pair(one) for one in coefficients(1)]
    cosines = [pair(one) for one in coefficients(0)]

    def series(pairs, t, te):
        # The small terms with one float each, the large ones with two.
        tail = 0.0
        for high, _ in reversed(pairs[4:]):
            tail = tail * t + high
        h, l = tail, 0.0
        for high, low in reversed(pairs[:4]):
            h, l = add(high, low, *multiply(h, l, t, te))
        return h, l

    def sine_and_cosine(x):
        k = math.floor(x * 0.6366197723675814 + 0.5)
        h, l = two_sum(x, -k * 1.5707963267341256)
        h, e = two_sum(h, -k * 6.077100506303966e-11)
        l += e
        h, e = two_sum(h, -k * 2.0222662487111665e-21)
        l += e - k * 8.4784276603689e-32
        h, l = h + l, l - ((h + l) - h)
        t, te = multiply(h, l, h, l)
        s = multiply(h, l, *series(sines, t, te))
        c = series(cosines, t, te)
        if k & 1:
            s, c = c, (-s[0], -s[1])
        if k & 2:
            s, c = (-s[0], -s[1]), (-c[0], -c[1])
        return s, c

    def replace(name, correct, applies):
        plain = getattr(math, name)

        def function(*arguments):
            value = plain(*arguments)
            return correct(value, *map(float, arguments)) if applies(*map(float, arguments)) else value

        function.__name__ = function.__qualname__ = name
        setattr(math, name, function)

    def is_usual(x):
        return 1e-7 < abs(x) < 1e6

    def tangent(_, x):
        (sh, sl), (ch, cl) = sine_and_cosine(x)
        quotient = sh / ch
        return quotient + (fma(-quotient, ch, sh) + (sl - quotient * cl)) / ch

    def arcsine(a, x):
        (sh, sl), (ch, _) = sine_and_cosine(a)
        return a + ((x - sh) - sl) / ch

    def arccosine(a, x):
        (sh, _), (ch, cl) = sine_and_cosine(a)
        return a + ((ch - x) + cl) / sh

    def arctangent(a, y, x=1.0):
        (sh, sl), (ch, cl) = sine_and_cosine(a)
        above, e = add(*multiply(y, 0.0, ch, cl), *multiply(-x, 0.0, sh, sl))
        return a + (above + e) / (x * ch + y * sh)

    replace("sin", lambda _, x: sine_and_cosine(x)[0][0], is_usual)
    replace("cos", lambda _, x: sine_and_cosine(x)[1][0], is_usual)
    replace("tan", tangent, is_usual)
    replace("asin", arcsine, lambda x: 1e-7 < abs(x) < 1)
    replace("acos", arccosine, lambda x: abs(x) < 1)
    replace("atan", arctangent, lambda x: 1e-7 < abs(x) < 1e15)
    replace("atan2", arctangent, lambda y, x: 1e-100 < abs(y) < 1e100 and 1e-100 < abs(x) < 1e100 and abs(y / x) > 1e-7)

_tune()
`
