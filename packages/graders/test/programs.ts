/** Tasks of programs, and answers to them as a model writes them. */
import * as Task from "@divisi/core/Task"

/** Program text as it stands in an answer. */
export const fenced = (code: string) => `Here it is:\n\`\`\`python\n${code}\n\`\`\`\nThat is all.`

export const taskOf = (reference: object) => Task.make({ id: "t", question: "?", reference: JSON.stringify(reference) })

export const printing = (...tests: ReadonlyArray<readonly [input: string, output: string]>) =>
  taskOf({ public_test_cases: tests.map(([input, output]) => ({ input, output, testtype: "stdin" })) })

export const calling = (name: string, ...tests: ReadonlyArray<readonly [input: string, output: string]>) =>
  taskOf({
    public_test_cases: tests.map(([input, output]) => ({ input, output, testtype: "functional" })),
    metadata: { func_name: name }
  })

/** A problem of BigCodeBench with its reference. */
export const record = {
  entry_point: "task_func",
  complete_prompt: 'import os\ndef task_func(x):\n    """Twice x."""\n',
  code_prompt: "import os\ndef task_func(x):\n",
  canonical_solution: "    return 2 * x\n",
  libs: "['os']",
  test: "import unittest\nclass TestCases(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(task_func(1), 2)\n    def test_two(self):\n        self.assertEqual(task_func(5), 10)\n        with self.assertRaises(TypeError):\n            task_func(None)\n"
}

const sum = "print(sum(map(int, input().split())))"

/** Answers whose program adds the numbers of a line, in every form that models write, and their rungs. */
export const sums: ReadonlyArray<readonly [answer: string, rung: string]> = [
  [`\`\`\`python\n${sum}\n\`\`\`\nFor example:\n\`\`\`\n2 3\n5\n\`\`\``, "tests"],
  [`\`\`\`python\n${sum}\n\`\`\`\nIt prints:\n\`\`\`text\n5\n\`\`\``, "tests"],
  [`\`\`\`python\n${sum}\n\`\`\`\nUsage:\n\`\`\`python\nprint(add(2, 3))\n\`\`\``, "tests"],
  [`~~~python\n${sum}\n~~~`, "tests"],
  [`Here:\n\`\`\`python\n${sum}`, "tests"],
  [sum, "tests"],
  ["I add both numbers of the line.", "unparsed"],
  [
    `<pre><code class="language-python">\nn = input()\nif n &gt; &quot;&quot;:\n    print(sum(map(int, n.split())))\n</code></pre>`,
    "tests"
  ],
  [`\`\`\`json\n${JSON.stringify({ solution: { language: "python", source: sum } })}\n\`\`\``, "tests"],
  [JSON.stringify({ answer: `\`\`\`python\n${sum}\n\`\`\`` }), "tests"],
  [`Read the line and add both numbers:\n\n${sum}\n\nThis takes constant time.`, "tests"],
  [
    `The plan is simple: split it.\nimport sys\n\na, b = sys.stdin.read().split()\nprint(int(a) + int(b))\nDone!`,
    "tests"
  ],
  [
    `\`\`\`pycon\n>>> def add(line):\n...     return sum(map(int, line.split()))\n>>> print(add(input()))\n5\n\`\`\``,
    "tests"
  ],
  [`Bad idea:\n<code>print(len(input()))</code>\nGood:\n<code>${sum}</code>`, "tests"],
  ["First read the input, then (maybe) print the sum.", "unparsed"],
  [`\`\`\`python\n${sum}\n\`\`\`\nBetter:\n\`\`\`python\nprint(len(input()))\n\`\`\``, "wrong-answer"]
]
