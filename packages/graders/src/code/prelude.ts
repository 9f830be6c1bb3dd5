/** What every program of LiveCodeBench may take for granted, and how a sandbox is made to reckon as official code does. */

/**
 * Sums floats in plain order, as Python did before 3.12. A list is summed by the builtin first, which is faster and
 * decides whether floats are in it.
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
 * Clocks that count the seconds of a plain interpreter: where all takes longer, sleep lasts longer and clocks run
 * slower, so that a program which waits for eight seconds takes as many of its time as elsewhere.
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

/** The prelude for a sandbox that computes so many times slower than a plain interpreter. */
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
