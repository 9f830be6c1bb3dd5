/** Parsers of programs and their output: the code graders, with a sandbox that executes nothing. */
import * as Task from "@divisi/core/Task"
import type { Sandbox } from "@divisi/graders"
import { CodeGrader, LiveCodeBenchProblem } from "@divisi/graders/code"
import * as Effect from "effect/Effect"

type Execution = Extract<Sandbox.Execution, { readonly type: "finished" }>

const finished = (printed: Partial<Execution>): Execution => ({
  type: "finished",
  stdout: "",
  stderr: "",
  exitCode: 0,
  millis: 1,
  ...printed
})

/** A sandbox whose programs print the given output for each input. */
const sandbox = (print: (program: Sandbox.Program, input: string) => Partial<Execution>): Sandbox.Sandbox => ({
  name: "told",
  slowdown: 1,
  run: (program) => Effect.succeed((program.inputs ?? [""]).map((input) => finished(print(program, input))))
})

const answer = "```python\npass\n```"

const run = (effect: Effect.Effect<unknown, unknown>) => Effect.runPromise(Effect.result(effect))

/** Grades with one test, whose program prints the given output. */
const graded = (
  test: { readonly output: string; readonly testtype: "stdin" | "functional" },
  print: Parameters<typeof sandbox>[0],
  program = answer
) => {
  const reference = { public_test_cases: [{ input: "1", ...test }], metadata: { func_name: "f" } }
  const task = Task.make({ question: "?", reference: JSON.stringify(reference) })
  return run(CodeGrader.liveCodeBench(sandbox(print)).grade(task, program))
}

/** A program of LiveCodeBench prints a text; another one was expected, that differs in its last line. */
const printed = (text: string) =>
  Promise.all([
    graded({ output: `${text} 1`, testtype: "stdin" }, () => ({ stdout: `${text} 2` })),
    graded({ output: "1", testtype: "stdin" }, () => ({ exitCode: 1, stderr: `Traceback:\n${text}` }))
  ])

/** A function returns a text, and the expected result is the same text. */
const returned = (text: string) =>
  graded({ output: JSON.stringify(text), testtype: "functional" }, (_, input) => {
    const { marker } = JSON.parse(input) as { readonly marker: string }
    return { stdout: `${text}\n${marker}${text}\n${marker}${JSON.stringify(text)}` }
  })

/** All that an order names: the marks of what a program has to print. */
const marksIn = (order: unknown): ReadonlyArray<string> => {
  if (typeof order === "string") return order.length < 80 ? [order] : []
  return typeof order === "object" && order !== null ? Object.values(order).flatMap(marksIn) : []
}

const points = [
  { test: "t", key: "a", kind: "start" },
  { test: "t", key: "b", kind: "assertion", assertion: "assertEqual", known: "1" },
  { test: "t", key: "c", kind: "end" }
]

/** A program of BigCodeBench prints a text after each mark of its tests, and on separate lines. */
const noted = (text: string) => {
  const told = sandbox(({ isTrusted, order = "{}" }) => {
    if (isTrusted === true) return { stdout: JSON.stringify({ text: "", points }) }
    const marks = marksIn(JSON.parse(order))
    return { stdout: [text, ...marks.map((mark) => mark + text.slice(0, text.length / marks.length))].join("\n") }
  })
  const reference = { entry_point: "f", complete_prompt: "", code_prompt: "", canonical_solution: "", test: "" }
  const task = Task.make({ question: "?", reference: JSON.stringify(reference) })
  // The reference prints the same, so there is no verdict if it fails.
  return run(CodeGrader.bigCodeBench(told).grade(task, answer))
}

/** All of them. */
export const all = [
  {
    name: "program",
    read: (text: string) =>
      graded({ output: "1", testtype: "stdin" }, () => ({}), `${answer}\n${text}\n\`\`\`\n${text}`)
  },
  { name: "output of a program", read: printed },
  { name: "result of a function", read: returned },
  { name: "output of tests", read: noted },
  { name: "tests of a program", read: (text: string) => LiveCodeBenchProblem.readTests(text) }
]
