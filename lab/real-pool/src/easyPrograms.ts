/** Fifty easy functions with tests, generated from ten templates and five constants each. */

const constants = [2, 3, 5, 7, 9]

const templates: ReadonlyArray<(n: number) => readonly [task: string, tests: string]> = [
  (n) => [
    `returns the sum of the numbers of the list xs that are divisible by ${n}`,
    `assert f([${n}, ${n + 1}, ${2 * n}]) == ${3 * n}\nassert f([]) == 0\nassert f([${-n}, 1]) == ${-n}`
  ],
  (n) => [
    `returns every ${n}th character of the string xs, starting with the first, as a string`,
    `assert f("abcdefghijklmnopqrst") == "abcdefghijklmnopqrst"[::${n}]\nassert f("") == ""`
  ],
  (n) => [
    `returns the list xs of integers without the elements greater than ${n}, in the same order`,
    `assert f([${n + 1}, ${n}, 1]) == [${n}, 1]\nassert f([]) == []\nassert f([${n + 5}]) == []`
  ],
  (n) => [
    `returns the string xs repeated ${n} times, separated by single hyphens`,
    `assert f("ab") == "-".join(["ab"] * ${n})\nassert f("x") == "-".join(["x"] * ${n})`
  ],
  (n) => [
    `returns True if the integer xs is a power of ${n} (1 counts as one), else False`,
    `assert f(1) is True\nassert f(${n ** 4}) is True\nassert f(${n ** 4 + 1}) is False\nassert f(0) is False`
  ],
  (n) => [
    `returns the words of the string xs, separated by spaces, that have more than ${n} letters, as a list`,
    `assert f("a bcd efghijklmnop qr") == [w for w in "a bcd efghijklmnop qr".split() if len(w) > ${n}]\nassert f("") == []`
  ],
  (n) => [
    `returns the digits of the non-negative integer xs in base ${n}, most significant first, as a list of integers`,
    `assert f(0) == [0]\nassert f(${n}) == [1, 0]\nassert f(${n * n + 1}) == [1, 0, 1]`
  ],
  (n) => [
    `splits the list xs into consecutive lists of ${n} elements (the last may be shorter) and returns them as a list`,
    `assert f(list(range(${2 * n + 1}))) == [list(range(${n})), list(range(${n}, ${2 * n})), [${2 * n}]]\nassert f([]) == []`
  ],
  (n) => [
    `returns the number of positions at which the list xs of integers has a value equal to ${n} times the value before it`,
    `assert f([1, ${n}, ${n * n}]) == 2\nassert f([]) == 0\nassert f([1, 1]) == 0`
  ],
  (n) => [
    `rotates the string xs to the left by ${n} positions (wrapping around) and returns it; an empty string stays empty`,
    `assert f("abcdefghijkl") == "abcdefghijkl"[${n}:] + "abcdefghijkl"[:${n}]\nassert f("") == ""\nassert f("a") == "a"`
  ]
]

/** Each asks for a Python function `f(xs)`; the reference is Python assertions about `f`. */
export const easyPrograms: ReadonlyArray<{ readonly text: string; readonly reference: string }> = templates.flatMap(
  (template) =>
    constants.map((n) => {
      const [task, tests] = template(n)
      return { text: `Write a Python function f(xs) that ${task}.`, reference: tests }
    })
)
