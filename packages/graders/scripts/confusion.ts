/**
 * Prints the confusion matrix of the maths grader for every suite, as Markdown, and every miss as a line of JSON.
 *
 * `--table` leaves the misses out. With a folder that holds math500.test.jsonl and gsm8k.test.jsonl in `DIVISI_EVALS_DATA`, their references too.
 */
import * as Effect from "effect/Effect"
import { measure } from "./Measure.ts"
import { ofReferences, own } from "./Suites.ts"

const data = process.env.DIVISI_EVALS_DATA
const suites = [...own(), ...(data === undefined ? [] : ofReferences(data))]

process.stdout.write(
  "| suite | equal: right | missed | different: refused | false credit | rungs of the right ones |\n"
)
process.stdout.write("|---|---|---|---|---|---|\n")
const found = await Effect.runPromise(Effect.forEach(suites, measure))
for (const { different, equal, rungs, suite } of found) {
  const shares = Object.entries(rungs).sort((a, b) => b[1] - a[1])
  const list = shares.map(([rung, count]) => `${rung} ${count}`).join(", ")
  process.stdout.write(
    `| ${suite} | ${equal.right} | ${equal.missed} | ${different.right} | ${different.falseCredit} | ${list} |\n`
  )
}
if (!process.argv.includes("--table")) process.stdout.write("\n")
for (const miss of process.argv.includes("--table") ? [] : found.flatMap(({ misses }) => misses))
  process.stdout.write(`${JSON.stringify(miss)}\n`)
