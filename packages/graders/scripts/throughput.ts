/**
 * Grades many answers and prints, as JSON, how many a second and how much memory is held at the start, the middle and
 * the end: `node --expose-gc --conditions=@divisi/source scripts/throughput.ts 100000`.
 */
import * as Task from "@divisi/core/Task"
import { MathGrader } from "@divisi/graders/math"
import * as Effect from "effect/Effect"
import { ofReferences, own } from "./Suites.ts"

const total = Number(process.argv[2] ?? 100_000)
const data = process.env.DIVISI_EVALS_DATA
/** Without the classes of errors, which ask for computer algebra more often than answers do. */
const cases = [...own(), ...(data === undefined ? [] : ofReferences(data))]
  .filter(({ name }) => name !== "classes of errors")
  .flatMap((suite) => suite.cases)

/** In use after a collection, in MB. */
const heap = () => {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10
}

const tasks = cases.map(({ gold }) => Task.make({ question: "?", id: "case", reference: gold }))
const held: Array<number> = []
const started = performance.now()
let correct = 0
for (let index = 0; index < total; index++) {
  const at = index % cases.length
  const verdict = await Effect.runPromise(MathGrader.math.grade(tasks[at]!, cases[at]!.answer))
  if (verdict.correct) correct++
  if (index % Math.floor(total / 4) === 0) held.push(heap())
}
const seconds = (performance.now() - started) / 1000
held.push(heap())
const rate = Math.round(total / seconds)
process.stdout.write(
  `${JSON.stringify({ gradings: total, cases: cases.length, correct, seconds, rate, heapMB: held })}\n`
)
