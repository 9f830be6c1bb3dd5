/**
 * A simulated year of one's own runs: what a router that learns every second week is worth, and what it loses until it notices
 * that a worker got worse, that a new one is better, and that a price fell.
 *
 * `node --conditions=@divisi/source packages/policy-router/scripts/year.ts [seeds]`
 *
 * Six questions a day of three kinds; only the chosen worker is graded. Every second week, the table is fitted again
 * from the log's valid outcomes, and promoted by replay. On day 120, the specialist for code gets worse. On day 200, a
 * new worker that is best at maths joins the pool at a low price, and all are evaluated on 180 questions, as at the
 * start. On day 280, the price of the strongest falls by half.
 */
import { Embedder, Outcome, Seed } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Drift from "../src/Drift.ts"
import * as Outcomes from "../src/Outcomes.ts"
import * as Replay from "../src/Replay.ts"
import * as Router from "../src/Router.ts"
import * as Table from "../src/Table.ts"

const seeds = Number(process.argv[2] ?? 5)
const days = 364
const perDay = 6
const millis = 86_400_000
const explore = 0.02

const words = {
  code: "function loop array compile python bug class test refactor string sort recursion".split(" "),
  maths: "sum integral prime equation fraction angle proof triangle matrix limit root digits".split(" "),
  letters: "dear invitation apology thank sincerely complaint birthday neighbour landlord reply polite draft".split(" ")
}
type Kind = keyof typeof words
const kinds = Object.keys(words) as ReadonlyArray<Kind>

const rates = (worker: string, kind: Kind, day: number): number =>
  ({
    strong: { code: 0.75, maths: 0.8, letters: 0.9 },
    coder: { code: day < 120 ? 0.92 : 0.5, maths: 0.5, letters: 0.6 },
    small: { code: 0.5, maths: 0.55, letters: 0.89 },
    newcomer: { code: 0.6, maths: 0.95, letters: 0.6 }
  })[worker]![kind]

const costs = (worker: string, day: number): number =>
  ({ strong: day < 280 ? 0.02 : 0.01, coder: 0.015, small: 0.002, newcomer: 0.005 })[worker]!

const poolOn = (day: number) => (day < 200 ? ["strong", "coder", "small"] : ["strong", "coder", "small", "newcomer"])

const embedder = Embedder.hashed()

interface Asked {
  readonly kind: Kind
  readonly text: string
}

const questionOf = (draw: Seed.Draw): Asked => {
  const kind = Seed.pick(draw, kinds)
  return { kind, text: Array.from({ length: 10 }, () => Seed.pick(draw, words[kind])).join(" ") }
}

const outcomeOf = (draw: Seed.Draw, { kind, text }: Asked, worker: string, day: number, probability: number) =>
  Effect.map(
    Outcomes.placeOf(text, embedder),
    (place): Outcome.Outcome => ({
      version: 1,
      at: day * millis + 1,
      question: Outcome.nameOf(`${text} ${draw()}`),
      kind,
      place,
      worker,
      score: Seed.chance(draw, rates(worker, kind, day)) ? 1 : 0,
      source: "user",
      costUsd: costs(worker, day),
      probability
    })
  )

/** Sixty graded answers of each kind by each of these workers: an evaluation of them on the same questions. */
const graded = (draw: Seed.Draw, workers: ReadonlyArray<string>, day: number) =>
  Effect.forEach(
    Array.from({ length: 180 }, () => questionOf(draw)),
    (question) =>
      Effect.map(
        Effect.forEach(workers, (worker) => outcomeOf(draw, question, worker, day, 1)),
        (answers) => answers.map((one) => ({ ...one, question: answers[0]!.question }))
      )
  )

interface Way {
  readonly learns: boolean
  /** Whether a newcomer is evaluated when it comes. */
  readonly evaluates: boolean
  readonly fades: boolean
}

/** The tail of a year by one way: mean true quality of what was asked, by quarter-month. */
const year = (seed: number, { evaluates, fades, learns }: Way) =>
  Effect.gen(function* () {
    const draw = Seed.draw(Seed.spread(seed, "year"))
    let log = (yield* graded(draw, poolOn(0), 0)).flat()
    const learn = (day: number) =>
      Effect.gen(function* () {
        const now = day * millis
        const kept = fades ? Drift.recent(log, { now }).outcomes : log
        const examples = yield* Outcomes.examples(Outcomes.fromOutcomes(kept), embedder)
        return { examples, table: Result.getOrThrow(Table.fit(examples)) }
      })
    let { table } = yield* learn(0)
    const quality: Array<number> = []
    const spent: Array<number> = []
    for (let day = 0; day < days; day++) {
      if (day === 200 && evaluates) log = [...log, ...(yield* graded(draw, poolOn(day), day)).flat()]
      if (learns && day > 0 && day % 14 === 0) {
        const next = yield* learn(day)
        if (Replay.compare(next.examples, table).isPromoted) table = next.table
      }
      const known = poolOn(day).filter((id) => table.workers.some(({ worker }) => worker === id))
      const decide = Router.decider(table, { among: known })
      for (let at = 0; at < perDay; at++) {
        const question = questionOf(draw)
        const [point] = yield* embedder.embed([question.text])
        const { alike, worker } = decide(point!)
        const tried = learns && alike.length > 0 && Seed.chance(draw, explore)
        const chosen = tried ? Seed.pick(draw, alike) : worker
        const probability = alike.length === 0 ? 1 : tried ? explore / alike.length : 1 - explore
        quality.push(rates(chosen, question.kind, day))
        spent.push(costs(chosen, day))
        log.push(yield* outcomeOf(draw, question, chosen, day, probability))
      }
    }
    return { quality, spent }
  })

const ways: Readonly<Record<string, Way>> = {
  "learns, old evidence fades": { learns: true, evaluates: true, fades: true },
  "learns, all evidence counts alike": { learns: true, evaluates: true, fades: false },
  "learned once": { learns: false, evaluates: false, fades: false }
}

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
const spans = [
  [0, 120],
  [120, 134],
  [134, 200],
  [200, 214],
  [214, 280],
  [280, 364]
] as const

/** The score of one worker alone, and of the best worker for each kind. */
const steady = (worker: string) => (kind: Kind, day: number) => rates(worker, kind, day)
const best = (kind: Kind, day: number) => Math.max(...poolOn(day).map((worker) => rates(worker, kind, day)))
const over = (rate: (kind: Kind, day: number) => number, from: number, to: number) =>
  mean(kinds.flatMap((kind) => Array.from({ length: to - from }, (_, at) => rate(kind, from + at))))

const print = (name: string, cells: ReadonlyArray<string>) =>
  process.stdout.write(`| ${[name, ...cells].join(" | ")} |\n`)
const percent = (value: number) => (100 * value).toFixed(1)
print(
  "days",
  spans.map(([from, to]) => `${from} to ${to - 1}`)
)
print(
  "always `strong`",
  spans.map(([from, to]) => percent(over(steady("strong"), from, to)))
)
print(
  "the best of each kind, known at once",
  spans.map(([from, to]) => percent(over(best, from, to)))
)
for (const [name, way] of Object.entries(ways)) {
  const runs: Array<{ readonly quality: ReadonlyArray<number>; readonly spent: ReadonlyArray<number> }> = []
  for (let seed = 0; seed < seeds; seed++) runs.push(await Effect.runPromise(year(seed, way)))
  print(
    name,
    spans.map(([from, to]) => {
      const means = runs.map(({ quality }) => mean(quality.slice(from * perDay, to * perDay)))
      const centre = mean(means)
      const error = Math.sqrt(means.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (seeds - 1) / seeds)
      return `${percent(centre)} ± ${percent(error)}`
    })
  )
  process.stdout.write(`  USD a question: ${mean(runs.map(({ spent }) => mean(spent))).toPrecision(3)}\n`)
}
