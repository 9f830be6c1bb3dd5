/** Generates hostile text of any length by repeating input that is difficult for patterns and parsers. */

/** A text of about `length` characters. */
export interface Shape {
  readonly name: string
  readonly of: (length: number) => string
}

const repeated = (unit: string, name = JSON.stringify(unit)): Shape => ({
  name,
  of: (length) => unit.repeat(Math.ceil(length / unit.length))
})

/** A run between two letters: what looks for its end finds none. */
const between = (
  unit: string,
  [left, right] = ["x", "x"],
  name = JSON.stringify(`${left}${unit}...${right}`)
): Shape => ({
  name,
  of: (length) => `${left}${unit.repeat(Math.ceil(length / unit.length))}${right}`
})

const marks = [
  ..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \n\t0aA",
  "\r",
  "\u0301",
  "\u200b",
  "\u2028",
  "“",
  "’",
  "é",
  "🎻",
  "中"
]

/** Beginnings of what a terminal obeys, none of which ends. */
const sequences = ["\u001b", "\u001b]", "\u001b]a", "\u001b[1;", "\u001b[ ", "\u001b\\;", "\u009d"]

const pairs = [
  "()",
  "[]",
  "{}",
  "[(",
  "{[",
  "](",
  "**",
  "__",
  "--",
  "1,",
  "1.",
  "0x",
  "a.",
  ".a",
  "a ",
  " a",
  "\n ",
  " \n",
  "\\n",
  "\\\\",
  '\\"',
  "\\u",
  "'\"",
  "$\\",
  "a1",
  "1 ",
  "=[",
  "e+",
  "a\u0301"
]

const words = [
  "answer",
  "answer is ",
  "Answer: ",
  "final answer ",
  "<answer>",
  "</answer>",
  "<answer></answer>",
  "\\boxed{",
  "\\boxed{}",
  "\\text{",
  "\\frac{1}{",
  "\\left(",
  "<think>",
  "</think>",
  "option A ",
  "(A) ",
  "A\n",
  "A. ",
  "model_id = [",
  "model_id = [0]\n",
  "subtasks: ['",
  'access_list = "',
  "(model_id) = ",
  "model ",
  "access lists: ",
  "```python\n",
  "```",
  '{"type":',
  '"',
  '{"a":',
  "[[],",
  "\\u0041",
  "1e5,",
  "and 1, ",
  "True",
  "data: {}\n\n",
  "verdict: ",
  "score: ",
  "print(",
  "the sum of 1, 2 and ",
  "1 apples of 2 each "
]

/** Beginnings after which a text waits for an end that never comes. */
const openings = [
  "answer",
  "answer:",
  "<answer>",
  "\\boxed{",
  "model_id = [",
  "model_id = [0]\nsubtasks = ['",
  '{"a":"',
  "```",
  "# ",
  "<think>",
  "\\text{",
  "Final answer"
]

const fillers = [" ", "\n", "a", "(", "[", "*", "\\", '"', "1", "."]

/** Every shape. */
export const all: ReadonlyArray<Shape> = [
  ...[...marks, ...sequences, ...pairs, ...words].map((unit) => repeated(unit)),
  ...[...marks, ...pairs].map((unit) => between(unit)),
  ...[...marks, "**", "0"].map((unit) => between(unit, ["0.", "1"])),
  ...openings.flatMap((opening) => fillers.map((filler) => between(filler, [opening, "x"]))),
  { name: "brackets, opened and closed", of: (length) => "[".repeat(length / 2) + "]".repeat(length / 2) },
  { name: "braces, opened and closed", of: (length) => "{".repeat(length / 2) + "}".repeat(length / 2) },
  { name: "parentheses, opened and closed", of: (length) => "(".repeat(length / 2) + ")".repeat(length / 2) }
]
