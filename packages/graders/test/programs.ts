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
