/**
 * Grades the sets of written texts and prints, as Markdown, how many right ones each misses and how many wrong ones it
 * credits: `pnpm --filter @divisi/graders sets [names…]`. `--misses` also prints each text that is graded wrongly.
 */
import * as Task from "@divisi/core/Task"
import { LetterGrader } from "@divisi/graders"
import { MathGrader } from "@divisi/graders/math"
import * as Effect from "effect/Effect"
import { letters, sets } from "./assertions/Sets.ts"

const words = process.argv.slice(2)
const chosen = words.filter((word) => !word.startsWith("--"))
const print = (line: string) => process.stdout.write(`${line}\n`)

interface Graded {
  readonly expected: boolean
  readonly isCorrect: boolean
  readonly text: string
}

const report = (name: string, graded: ReadonlyArray<Graded>) => {
  const right = graded.filter(({ expected }) => expected)
  const wrong = graded.filter(({ expected }) => !expected)
  const missed = right.filter(({ isCorrect }) => !isCorrect)
  const credited = wrong.filter(({ isCorrect }) => isCorrect)
  print(`| ${name} | ${missed.length} of ${right.length} | ${credited.length} of ${wrong.length} |`)
  if (!words.includes("--misses")) return
  for (const { text } of missed) print(`+ ${text}`)
  for (const { text } of credited) print(`- ${text}`)
}

const isChosen = (name: string) => chosen.length === 0 || chosen.includes(name)

print("| set | right texts missed | wrong texts credited |")
print("|---|---|---|")
for (const [name, cases] of Object.entries(sets)) {
  if (!isChosen(name)) continue
  const graded: Array<Graded> = []
  for (const { answer, expected, gold, kind } of cases) {
    const task = Task.make({ question: "?", id: "text", reference: gold })
    const { correct, extracted } = await Effect.runPromise(MathGrader.math.grade(task, answer))
    graded.push({ expected, isCorrect: correct, text: JSON.stringify({ kind, gold, answer, extracted }) })
  }
  report(name, graded)
}
for (const [name, cases] of Object.entries(letters)) {
  if (!isChosen(`letters-${name}`)) continue
  const graded = cases.map(({ letter, text }) => {
    const extracted = LetterGrader.extract(text)
    const isCorrect = letter === null ? extracted !== undefined : extracted === letter
    return { expected: letter !== null, isCorrect, text: JSON.stringify({ letter, text, extracted }) }
  })
  report(`letters-${name}`, graded)
}
