/**
 * The loss of choosing one worker before anything is graded, compared with the best worker in hindsight. Two choices:
 * the most expensive worker, and the one that was best on other kinds of questions (seven tenths of the kinds, ten
 * times).
 *
 * `node --conditions=@divisi/source packages/policy-router/scripts/nothing.ts FILE…`
 */
import { Seed } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Outcomes from "../src/Outcomes.ts"

type Question = Outcomes.GradedQuestion

const sumOf = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

const best = (
  questions: ReadonlyArray<Question>,
  workers: ReadonlyArray<string>,
  valueOf: (question: Question, worker: string) => number
) => {
  const sums = workers.map((worker) => sumOf(questions.map((question) => valueOf(question, worker))))
  return workers[sums.indexOf(Math.max(...sums))]!
}

const scoreOf = ({ scores }: Question, worker: string) => scores.get(worker)!
const costOf = ({ costUsd }: Question, worker: string) => costUsd.get(worker) ?? 0

/** The mean difference of two workers with its error, clustered. */
const said = (clusters: ReadonlyArray<ReadonlyArray<number>>): string => {
  const values = clusters.flat()
  const mean = sumOf(values) / values.length
  const squares = sumOf(clusters.map((cluster) => sumOf(cluster.map((value) => value - mean)) ** 2))
  return `${(100 * mean).toFixed(2)} ± ${((100 * Math.sqrt(squares)) / values.length).toFixed(2)}`
}

for (const file of process.argv.slice(2)) {
  const read = await Effect.runPromise(Outcomes.read(file))
  const workers = [...new Set(read.flatMap(({ scores }) => [...scores.keys()]))].sort()
  const all = read.filter(({ scores }) => workers.every((worker) => scores.has(worker)))
  const top = best(all, workers, scoreOf)
  const differences = (questions: ReadonlyArray<Question>, worker: string) =>
    questions.map((question) => scoreOf(question, worker) - scoreOf(question, top))
  const dearest = best(all, workers, costOf)
  const kinds = [...Map.groupBy(all, ({ kind }) => kind).values()]
  const clusters = kinds.map((): Array<number> => [])
  for (let repeat = 0; repeat < 10; repeat++) {
    const order = Seed.shuffled(Seed.draw(Seed.spread(0, "nothing", repeat)), [...kinds.keys()])
    const apart = new Set(order.slice(0, Math.max(1, Math.round(0.3 * kinds.length))))
    const others = kinds.flatMap((questions, at) => (apart.has(at) ? [] : questions))
    const chosen = best(others, workers, scoreOf)
    for (const at of apart) clusters[at]!.push(...differences(kinds[at]!, chosen))
  }
  const single = differences(all, dearest).map((value) => [value])
  process.stdout.write(`${file}: the dearest ${said(single)}, best on other kinds ${said(clusters)}\n`)
}
