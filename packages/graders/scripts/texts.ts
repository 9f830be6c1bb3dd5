/**
 * Grades generated texts with letters and programs and prints, as Markdown, how many right ones are missed and how many
 * wrong ones are credited, by class: `pnpm --filter @divisi/graders texts [seed]`. `--choices` or `--programs` grades
 * only one kind; `--misses` also prints each text that is graded wrongly. Programs need a Python.
 */
import * as Task from "@divisi/core/Task"
import { LetterGrader } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { LocalPythonSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Choices from "./choices/Choices.ts"
import * as Random from "./pairs/Random.ts"
import * as Programs from "./programs/Programs.ts"

interface Graded {
  readonly kind: string
  readonly expected: boolean
  readonly isCorrect: boolean
  readonly text: string
}

const words = process.argv.slice(2)
const seed = Number(words.find((word) => /^\d+$/.test(word)) ?? 1)
const isAll = !words.includes("--choices") && !words.includes("--programs")
const print = (line: string) => process.stdout.write(`${line}\n`)

const report = (name: string, graded: ReadonlyArray<Graded>) => {
  print(`\n| ${name} | right texts missed | wrong texts credited |\n|---|---|---|`)
  const kinds = [...new Set(graded.map(({ kind }) => kind))]
  for (const kind of [...kinds, "all"]) {
    const some = graded.filter((one) => kind === "all" || one.kind === kind)
    const right = some.filter(({ expected }) => expected)
    const wrong = some.filter(({ expected }) => !expected)
    const missed = right.filter(({ isCorrect }) => !isCorrect).length
    const credited = wrong.filter(({ isCorrect }) => isCorrect).length
    print(`| ${kind} | ${missed} of ${right.length} | ${credited} of ${wrong.length} |`)
  }
  if (!words.includes("--misses")) return
  for (const { expected, isCorrect, text } of graded)
    if (expected !== isCorrect) print(`${expected ? "+" : "-"} ${text}`)
}

if (isAll || words.includes("--choices"))
  for (const part of [0, 1]) {
    const graded = Choices.make(part, Random.make(seed), 4).map(({ answer, expected, gold, kind }) => {
      const extracted = LetterGrader.extract(answer)
      const text = JSON.stringify({ kind, gold, answer, extracted })
      return { kind, expected, isCorrect: extracted === gold, text }
    })
    report(`letters, part ${part + 1}`, graded)
  }

if (isAll || words.includes("--programs")) {
  const program = Effect.gen(function* () {
    const sandbox = yield* LocalPythonSandbox.makeUnsafe()
    const grader = CodeGrader.liveCodeBench(sandbox)
    const graded: Array<Graded> = []
    for (const { expected, kind, problem, text } of Programs.make(Random.make(seed))) {
      const tests = problem.tests.map(([input, output]) => ({
        input,
        output,
        testtype: problem.name === undefined ? "stdin" : "functional"
      }))
      const metadata = problem.name === undefined ? {} : { metadata: { func_name: problem.name } }
      const reference = JSON.stringify({ public_test_cases: tests, ...metadata })
      const { correct, rung } = yield* grader.grade(Task.make({ id: "text", question: "?", reference }), text)
      graded.push({ kind, expected, isCorrect: correct, text: JSON.stringify({ kind, rung, text }) })
    }
    return graded
  })
  report("programs", await Effect.runPromise(Effect.scoped(program)))
}
