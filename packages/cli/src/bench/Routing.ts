/** Compares routers with baselines, based on recorded outcomes. */
import type { Embedder } from "@divisi/core"
import { RoutingBench } from "@divisi/evals"
import { Head, Outcomes, Router, Table } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Embedders from "../vendors/Embedders.ts"
import { clean } from "../view/Line.ts"
import { table } from "../view/Table.ts"
import type { RoutingInput } from "./flags.ts"

/** The router with a given dial setting, as a contender. The default setting has no suffix in its name. */
const routerAt = (dial: Table.Dial): RoutingBench.Contender => ({
  name: dial === "best" ? "router" : `router:${dial}`,
  fit: ({ best, questions, workers }) =>
    Effect.sync(() => {
      const examples = questions.map((question) => ({ ...question, at: 0 }))
      const learned = Result.getOrUndefined(Table.fit(examples))
      const decide = learned === undefined ? undefined : Router.decider(learned, { among: workers, dial })
      return (question: RoutingBench.Question) => {
        const worker = decide?.(question.point).worker ?? best
        return { score: question.scores.get(worker)!, costUsd: question.costUsd.get(worker) ?? Number.NaN }
      }
    })
})

/** A learned routing head that selects a single worker. */
const head: RoutingBench.Contender = {
  name: "head",
  fit: ({ best, questions, workers }) =>
    Effect.sync(() => {
      const learned = Result.getOrUndefined(Head.fit(questions.map((question) => ({ ...question, at: 0 }))))
      return (question: RoutingBench.Question) => {
        const worker =
          learned === undefined
            ? best
            : Head.decide(learned, Head.place(learned, question.point), Head.atStart, { among: workers }).worker
        return { score: question.scores.get(worker)!, costUsd: question.costUsd.get(worker) ?? Number.NaN }
      }
    })
}

const readQuestions = (file: string, embedder: Embedder.Embedder | undefined) =>
  Effect.gen(function* () {
    const unusable: Array<string> = []
    const read = yield* Outcomes.read(file, { onUnusable: (problem) => unusable.push(problem) })
    if (unusable.length > 0) {
      const lines = unusable.length === 1 ? "1 line" : `${unusable.length} lines`
      process.stderr.write(`divisi: ${clean(`skipped ${lines}. ${unusable[0]}`)}\n`)
    }
    const texts = read.filter(({ text }) => text !== undefined)
    const { questions } = RoutingBench.comparable(texts)
    if (questions.length < read.length) {
      const left = `comparing the ${questions.length} of ${read.length} questions that have a score for every worker`
      process.stderr.write(`divisi: ${left}.\n`)
    }
    const examples = yield* Outcomes.examples(questions, embedder)
    return examples.map((example) => ({ ...example, text: example.text! }))
  })

const points = (value: number): string => (100 * value).toFixed(2)

const signed = (value: number): string => `${value >= 0 ? "+" : ""}${points(value)}`

const shareOf = ({ costAtEqualScoreUsd, costUsd }: RoutingBench.Standing): string =>
  costUsd === null || costAtEqualScoreUsd === null ? "-" : (costUsd / costAtEqualScoreUsd).toFixed(2)

const textOf = (standings: ReadonlyArray<RoutingBench.Standing>): string =>
  table([
    ["policy", "score", "USD per 1,000", "vs. best single worker", "±", "at equal cost", "±", "cost at equal score"],
    ...standings.map((one) => [
      one.policy,
      points(one.score),
      one.costUsd === null ? "-" : (1000 * one.costUsd).toPrecision(3),
      signed(one.differenceToBestSingle),
      one.differenceError === null ? "-" : points(one.differenceError),
      one.differenceAtEqualCost === null ? "-" : signed(one.differenceAtEqualCost),
      one.differenceAtEqualCostError === null ? "-" : points(one.differenceAtEqualCostError),
      shareOf(one)
    ])
  ])

const explained = [
  "At equal cost: difference from a random mix of single workers that costs the same. Cost at equal score: cost of the",
  "cheapest mix that reaches this score, or - if none does."
].join("\n")

/** Shows progress if standard error is a terminal. */
const progress = (done: number, all: number): void => {
  if (process.stderr.isTTY) process.stderr.write(`\rdivisi: ${done} of ${all} splits${done === all ? "\n" : ""}`)
}

/** Runs the comparison and prints the result. */
export const routing = (input: RoutingInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const embeddings = Option.getOrUndefined(input.embeddings)
    const embedder = yield* Embedders.named(embeddings, false, "--embeddings", Embedders.ofQuestions)
    const questions = yield* Effect.mapError(readQuestions(input.outcomes, embedder), (error) => usage(error.message))
    const standings = yield* Effect.mapError(
      RoutingBench.run(questions, {
        split: input.split,
        routers: [...Table.dials.map(routerAt), head],
        repeats: input.repeats,
        perKind: Option.getOrUndefined(input.perKind),
        only: Option.getOrUndefined(Option.map(input.only, (names) => names.split(","))),
        seed: Option.getOrElse(input.seed, () => 0),
        onProgress: progress
      }),
      (error) =>
        error._tag === "RoutingBenchError" ? usage(`${input.outcomes}: ${error.message}`) : failed(error.message)
    )
    if (standings.length === 0) return yield* usage(`--only: unknown policy ${Option.getOrThrow(input.only)}.`)
    stdout.write(
      `${input.json ? standings.map((one) => JSON.stringify(one)).join("\n") : `${textOf(standings)}\n${explained}`}\n`
    )
  }).pipe(Effect.scoped)
