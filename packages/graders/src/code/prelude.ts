/**
 * The imports that LiveCodeBench programs may rely on, and adjustments that make a sandbox compute like the official
 * runner.
 */

/**
 * Sums floats sequentially, as Python did before 3.12. Lists are summed by the builtin first, which is faster and
 * reveals whether they contain floats.
 */
const plainSum = `
def _plain_sum():
    import builtins, functools, operator, sys
    if sys.version_info < (3, 12):
        return builtins.sum
    fast, listed = builtins.sum, (list, tuple, set, frozenset, range)

    def sum(iterable, /, start=0):
        if isinstance(start, (str, bytes, bytearray)):
            return fast(iterable, start)
        if type(iterable) in listed:
            total = fast(iterable, start)
            if type(total) is not float and type(total) is not complex:
                return total
        return functools.reduce(operator.add, iterable, start)

    return sum

sum = _plain_sum()
`

/**
 * Clocks that run at the speed of a native interpreter. In a slower sandbox, sleeps take longer and clocks run slower,
 * so a program that waits for eight seconds uses the same share of its time limit.
 */
const clocks = (slowdown: number): string => `
def _stretch():
    import time
    if hasattr(time, "_plain"):
        return
    time._plain = True
    sleep = time.sleep

    def slower(clock):
        begin = clock()
        return lambda: begin + (clock() - begin) / ${slowdown}

    for name in ["time", "monotonic", "perf_counter", "process_time"]:
        setattr(time, name, slower(getattr(time, name)))
    time.sleep = lambda seconds: sleep(seconds * ${slowdown})

_stretch()
`

const modules =
  "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json builtins typing"

/** Returns the prelude for a sandbox with the given slowdown compared with a native interpreter. */
export const prelude = (slowdown: number): string => `${slowdown === 1 ? "" : clocks(slowdown)}
${modules
  .split(" ")
  .map((module) => `from ${module} import *`)
  .join("\n")}
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools
import operator, io, sys, json
${plainSum}
sys.setrecursionlimit(50000)
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(50000)
`
