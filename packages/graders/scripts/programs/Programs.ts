/**
 * The generator of texts with programs: templates of layouts times small tasks, each with a correct program, a wrong one,
 * an example of its use, tests, sample output and the same program in other languages. Nothing here knows the grader.
 */
import fs from "node:fs"
import type { Random } from "../pairs/Random.ts"

/** A task with the parts of answers to it. */
interface Problem {
  /** The function to call; without it, the program reads input. */
  readonly name?: string
  readonly tests: ReadonlyArray<readonly [input: string, output: string]>
  readonly correct: string
  readonly wrong: string
  readonly example: string
  readonly checks: string
  readonly output: string
  readonly cpp: string
  readonly script: string
}

/** A text, its task, and whether its program is correct. */
export interface Answer {
  readonly kind: string
  readonly problem: Problem
  readonly text: string
  readonly expected: boolean
}

export const problems: ReadonlyArray<Problem> = [
  {
    tests: [
      ["3 4\n", "7\n"],
      ["10 -2\n", "8\n"]
    ],
    correct: "a, b = map(int, input().split())\nprint(a + b)",
    wrong: "a, b = map(int, input().split())\nprint(a * b)",
    example: "print(3 + 4)",
    checks: "assert 3 + 4 == 7\nassert 10 + -2 == 8",
    output: "3 4\n7",
    cpp: "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }",
    script: "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\nconsole.log(a + b);"
  },
  {
    tests: [
      ["3\n5 9 2\n", "9\n"],
      ["2\n-4 -7\n", "-4\n"]
    ],
    correct:
      'import sys\n\ndef main():\n    data = sys.stdin.read().split()\n    n = int(data[0])\n\n    numbers = [int(word) for word in data[1:n + 1]]\n    print(max(numbers))\n\nif __name__ == "__main__":\n    main()',
    wrong:
      'import sys\n\ndef main():\n    data = sys.stdin.read().split()\n    print(max(int(word) for word in data) + 1)\n\nif __name__ == "__main__":\n    main()',
    example: "numbers = [5, 9, 2]\nprint(max(numbers))",
    checks: "assert max([5, 9, 2]) == 9",
    output: "3\n5 9 2\n9",
    cpp: "#include <bits/stdc++.h>\nusing namespace std;\nint main() { int n, m = INT_MIN, x; cin >> n; while (n--) { cin >> x; m = max(m, x); } cout << m; }",
    script:
      "const lines = require('fs').readFileSync(0, 'utf8').split('\\n');\nconsole.log(Math.max(...lines[1].split(' ').map(Number)));"
  },
  {
    tests: [
      ["hello\n", "olleh\n"],
      ["ab\n", "ba\n"]
    ],
    correct: "# Read one word.\nword = input().strip()\n\n# Print it backwards.\nprint(word[::-1])",
    wrong: "word = input().strip()\nprint(word.upper())",
    example: "print('hello'[::-1])",
    checks: "assert 'hello'[::-1] == 'olleh'",
    output: "hello\nolleh",
    cpp: "#include <iostream>\n#include <algorithm>\nint main() { std::string s; std::cin >> s; std::reverse(s.begin(), s.end()); std::cout << s; }",
    script: "const word = require('fs').readFileSync(0, 'utf8').trim();\nconsole.log([...word].reverse().join(''));"
  },
  {
    name: "count_even",
    tests: [
      ["[1, 2, 4]", "2"],
      ["[]", "0"]
    ],
    correct:
      'def count_even(numbers):\n    """Count the even numbers."""\n    total = 0\n    for number in numbers:\n        if number % 2 == 0:\n            total += 1\n    return total',
    wrong: "def count_even(numbers):\n    return len(numbers)",
    example: "print(count_even([1, 2, 4]))",
    checks: "assert count_even([1, 2, 4]) == 2\nassert count_even([]) == 0",
    output: "2",
    cpp: "int countEven(vector<int>& numbers) { return count_if(numbers.begin(), numbers.end(), [](int n) { return n % 2 == 0; }); }",
    script: "function countEven(numbers) {\n  return numbers.filter((n) => n % 2 === 0).length;\n}"
  },
  {
    name: "climb",
    tests: [
      ["3", "3"],
      ["5", "8"]
    ],
    correct:
      "class Solution:\n    def climb(self, n: int) -> int:\n        a, b = 1, 1\n        for _ in range(n):\n            a, b = b, a + b\n        return a",
    wrong: "class Solution:\n    def climb(self, n: int) -> int:\n        return n",
    example: "print(Solution().climb(3))",
    checks: "def test_climb():\n    assert Solution().climb(3) == 3\n    assert Solution().climb(5) == 8",
    output: "3",
    cpp: "class Solution {\npublic:\n    int climb(int n) { int a = 1, b = 1; while (n--) { int c = a + b; a = b; b = c; } return a; }\n};",
    script: "var climb = function(n) {\n  let [a, b] = [1, 1];\n  while (n--) [a, b] = [b, a + b];\n  return a;\n};"
  },
  {
    name: "is_palindrome",
    tests: [
      ['"level"', "true"],
      ['"ab"', "false"]
    ],
    correct: "from typing import Any\n\ndef is_palindrome(text: str) -> bool:\n    return text == text[::-1]",
    wrong: "def is_palindrome(text: str) -> bool:\n    return True",
    example: ">>> is_palindrome('level')\nTrue",
    checks:
      "import unittest\n\nclass TestPalindrome(unittest.TestCase):\n    def test_level(self):\n        self.assertTrue(is_palindrome('level'))",
    output: "True",
    cpp: "bool isPalindrome(string s) { return equal(s.begin(), s.end(), s.rbegin()); }",
    script: "const isPalindrome = (text) => text === [...text].reverse().join('');"
  }
]

const each = (code: string, change: (line: string, index: number) => string): string =>
  code.split("\n").map(change).join("\n")

/** The code with the prompts of an interactive session: an empty line ends a block that other code follows. */
const prompted = (code: string): string =>
  each(code, (line, index) => (index > 0 && (line === "" || /^\s/.test(line)) ? `... ${line}` : `>>> ${line}`))

const layouts: Readonly<Record<string, (code: string) => string>> = {
  "": (code) => code,
  i: (code) => each(code, (line) => `    ${line}`),
  l: (code) => each(code, (line) => `   ${line}`),
  q: (code) => each(code, (line) => `> ${line}`),
  d: (code) => each(code, (line) => `+${line}`),
  r: prompted,
  n: (code) => each(code, (line, index) => (index === 0 ? `In [1]: ${line}` : `   ...: ${line}`)),
  j: (code) => JSON.stringify(code),
  h: (code) => code.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
}

const parts: Readonly<Record<string, (problem: Problem) => string>> = {
  p: ({ correct }) => correct,
  x: ({ wrong }) => wrong,
  e: ({ example }) => example,
  t: ({ checks }) => checks,
  o: ({ output }) => output,
  c: ({ cpp }) => cpp,
  s: ({ script }) => script
}

const openings = [
  "",
  "",
  "Sure! ",
  "Let's think about it.\n\n",
  "### Solution\n\n",
  "这是我的解法。\n\n",
  "Voici la solution :\n\n"
]

const filled = (text: string, problem: Problem): string =>
  text.replace(/‹([a-z])([a-z]?)›/g, (_, part: string, layout: string) => layouts[layout]!(parts[part]!(problem)))

/** Every template with every task, with the openings that the seed chooses. */
export const make = (random: Random): ReadonlyArray<Answer> =>
  fs
    .readFileSync(new URL("../../suites/programs/texts.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => /^[-+] /.test(line))
    .flatMap((line) => {
      const [mark, kind] = line.split(" ", 2)
      const text = line.slice(mark!.length + kind!.length + 2).replaceAll("⏎", "\n")
      return problems.map((problem) => {
        const opening = /^[<{[\\‹]|^python\n/.test(text) ? "" : random.pick(openings)
        const between = opening.endsWith(" ") && !/^\p{L}/u.test(text) ? "\n\n" : ""
        return { kind: kind!, problem, text: `${opening}${between}${filled(text, problem)}`, expected: mark === "+" }
      })
    })
