/**
 * Grades pairs of known truth that a seed makes, and prints, as Markdown, how many each grader misses and credits
 * falsely: `pnpm --filter @divisi/graders compare [seeds…]`; `today` is a seed, and the default. `--golds=2` makes two
 * golds of each kind instead of six; `--contests` asks the second generator, `--assertions` the third, `--wordings=1` to
 * `--wordings=4` the parts of the fourth. `--cases=cases.json` grades a file of `{gold, answer, expected}` instead,
 * such as scripts/suites.py makes of other graders' tests.
 *
 * `--counts` leaves the rates out, which differ from run to run, so that `pnpm check figures` can hold the rest.
 *
 * With a Python that has math-verify or lm_eval in `DIVISI_PYTHON`, their graders too, on the first seed; without it
 * the table says that they are not there. `--misses` prints every pair that our grader gets wrong.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import * as Task from "@divisi/core/Task"
import { Algebra, MathGrader } from "@divisi/graders/math"
import * as Effect from "effect/Effect"
import * as Assertions from "./assertions/Assertions.ts"
import * as Contests from "./contests/Contests.ts"
import * as Pairs from "./pairs/Pairs.ts"
import * as Wordings from "./wordings/Wordings.ts"

const words = process.argv.slice(2)
const today = Number(new Date().toISOString().slice(0, 10).replaceAll("-", ""))
const given = words.filter((word) => !word.startsWith("--")).map((word) => (word === "today" ? today : Number(word)))
const seeds = given.length === 0 ? [today] : given

const golds = Number(words.find((word) => word.startsWith("--golds="))?.slice(8) ?? 6)

const file = words.find((word) => word.startsWith("--cases="))?.slice(8)

const part = words.find((word) => word.startsWith("--wordings="))?.slice(11)

/** The file of cases is the same for every seed. */
const source = (): { readonly names: ReadonlyArray<string>; readonly make: typeof Pairs.make } => {
  if (part !== undefined) return { names: Wordings.names(Number(part) - 1), make: Wordings.make(Number(part) - 1) }
  if (file === undefined) {
    if (words.includes("--assertions")) return { names: Assertions.names, make: Assertions.make }
    return words.includes("--contests")
      ? { names: Contests.names, make: Contests.make }
      : { names: Pairs.names, make: Pairs.make }
  }
  const cases: ReadonlyArray<Pairs.Pair> = JSON.parse(fs.readFileSync(file, "utf8"))
  return { names: [...new Set(cases.map(({ kind }) => kind))], make: () => cases }
}

const { make, names } = source()

interface Result {
  readonly name: string
  readonly seed: number
  readonly verdicts: ReadonlyArray<boolean>
  readonly seconds: number
}

const algebra = Algebra.make({ timeoutMillis: 10_000 })

const ours = async (name: string, seed: number, pairs: ReadonlyArray<Pairs.Pair>): Promise<Result> => {
  const grader = MathGrader.make({ algebra, ...(name === "math500" ? { anyOrder: true, bareValues: true } : {}) })
  const started = performance.now()
  const verdicts: Array<boolean> = []
  for (const { answer, gold } of pairs) {
    const task = Task.make({ question: "?", id: "pair", reference: gold })
    verdicts.push((await Effect.runPromise(grader.grade(task, answer))).correct)
  }
  return { name, seed, verdicts, seconds: (performance.now() - started) / 1000 }
}

const python = process.env.DIVISI_PYTHON

const theirs = (seed: number, pairs: ReadonlyArray<Pairs.Pair>): ReadonlyArray<Result> => {
  if (python === undefined) return []
  const script = new URL("others.py", import.meta.url).pathname
  const output = execFileSync(python, [script], { input: JSON.stringify(pairs), maxBuffer: 1e9 }).toString()
  return JSON.parse(output).map((one: Omit<Result, "seed">) => ({ ...one, seed }))
}

const count = (pairs: ReadonlyArray<Pairs.Pair>, verdicts: ReadonlyArray<boolean>) => {
  const of = (expected: boolean, verdict: boolean) =>
    pairs.filter((pair, index) => pair.expected === expected && verdicts[index] === verdict).length
  return { right: of(true, true), missed: of(true, false), refused: of(false, false), credited: of(false, true) }
}

const print = (line: string) => process.stdout.write(`${line}\n`)

const isCounted = words.includes("--counts")

if (!isCounted) {
  print(`${names.length} kinds; pairs a second with one processor, other loads on the machine included`)
  print("")
}
print(`| grader | seed | right | missed | refused | false credit |${isCounted ? "" : " pairs a second |"}`)
print(`|---|---|---|---|---|---|${isCounted ? "" : "---|"}`)
for (const [index, seed] of seeds.entries()) {
  const pairs = make(seed, golds)
  const results = [
    await ours("math", seed, pairs),
    await ours("math500", seed, pairs),
    ...(index === 0 ? theirs(seed, pairs) : [])
  ]
  for (const { name, seconds, verdicts } of results) {
    const { credited, missed, refused, right } = count(pairs, verdicts)
    const rate = Math.round(pairs.length / seconds)
    const counts = [name, seed, right, missed, refused, credited, ...(isCounted ? [] : [rate])]
    print(`| ${counts.join(" | ")} |`)
  }
  if (words.includes("--misses")) {
    const { verdicts } = results[0]!
    for (const [at, pair] of pairs.entries()) if (pair.expected !== verdicts[at]) print(JSON.stringify(pair))
  }
  if (words.includes("--kinds")) {
    print("")
    print(`| kind | right | different | ${results.map(({ name }) => `${name}: missed / false`).join(" | ")} |`)
    print(`|---|---|---|${results.map(() => "---").join("|")}|`)
    for (const kind of names) {
      const at = pairs.flatMap((pair, place) => (pair.kind === kind ? [place] : []))
      const some = at.map((place) => pairs[place]!)
      const cells = results.map(({ verdicts }) => {
        const { credited, missed } = count(
          some,
          at.map((place) => verdicts[place]!)
        )
        return `${missed} / ${credited}`
      })
      const right = some.filter(({ expected }) => expected).length
      print(`| ${kind} | ${right} | ${some.length - right} | ${cells.join(" | ")} |`)
    }
  }
}
if (python === undefined && !isCounted)
  print("\nmath-verify, minerva and Hendrycks are left out: DIVISI_PYTHON names no Python that has them.")
await Effect.runPromise(algebra.close)
