/**
 * `divisi learn --head`: trains a routing head on graded answers, and reports its gain over the table learned from the
 * same answers.
 */
import { Embedder } from "@divisi/core"
import { Head, Replay } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { usage } from "../invocation/Failure.ts"
import * as NoEffect from "../invocation/NoEffect.ts"
import { stdout } from "../invocation/Output.ts"
import * as Embedders from "../vendors/Embedders.ts"
import { clean } from "../view/Line.ts"
import type { LearnInput } from "./command.ts"
import { type Options as EvolveOptions, evolvedText, evolveHead } from "./EvolveHead.ts"
import { examplesOf, nothingRated } from "./Examples.ts"

/** Number of questions between progress reports. */
const batch = 32

/** Wraps an embedder to show progress on a terminal, because large models are slow. */
const telling = ({ embed, name }: Embedder.Embedder): Embedder.Embedder => ({
  name,
  embed: Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
    const points: Array<Float32Array> = []
    for (let at = 0; at < texts.length; at += batch) {
      points.push(...(yield* embed(texts.slice(at, at + batch))))
      if (process.stderr.isTTY) process.stderr.write(`\rdivisi: ${points.length} of ${texts.length} questions read`)
    }
    if (process.stderr.isTTY) process.stderr.write("\n")
    return points
  })
})

/** Evolves the head if requested. This calls real workers, so a cost limit is required. */
const evolvedOf = (input: LearnInput, options: Pick<EvolveOptions, "head" | "embedder" | "file">) =>
  Effect.gen(function* () {
    const [benchmark, maxCostUsd] = [Option.getOrUndefined(input.evolve), Option.getOrUndefined(input.maxCost)]
    if (benchmark === undefined || maxCostUsd === undefined) return undefined
    return yield* evolveHead({ ...options, benchmark, maxCostUsd, flags: input })
  })

/** Trains and evaluates a head, and stores it for `--policy head`. */
export const learnHead = (input: LearnInput) =>
  Effect.gen(function* () {
    if (Option.isNone(input.evolve)) yield* NoEffect.without("evolve", { "max-cost": input.maxCost })
    else if (Option.isNone(input.maxCost)) {
      return yield* usage("--evolve calls your workers, so it requires a cost limit. Set --max-cost, in USD.")
    }
    const named = yield* Embedders.named(Option.getOrUndefined(input.embeddings), false)
    const embedder = named === undefined ? Embedder.hashed() : telling(named)
    const examples = yield* examplesOf(input, embedder)
    const fitted = Head.fit(examples, { embedder: embedder.name })
    if (Result.isFailure(fitted)) return yield* nothingRated(examples)
    const options = { embedder: embedder.name }
    const verdict = Replay.compare(examples, undefined, { ...options, learner: Head.learner(options) })
    const file = yield* Head.defaultFile
    yield* Head.write(file, fitted.success)
    const evolved = yield* evolvedOf(input, { head: fitted.success, embedder, file: `${file}.search` })
    const head = evolved?.head ?? fitted.success
    if (evolved !== undefined) yield* Head.write(file, head)
    const { isPromoted: isBetter, ...judged } = verdict
    if (input.json) {
      const { head: _, ...evolution } = evolved ?? { head }
      const value = { isBetter, ...judged, embedder: embedder.name, ...head.training, evolution }
      stdout.write(`${JSON.stringify(value)}\n`)
      return
    }
    const reads =
      head.training.penalty === null
        ? "The questions do not predict the best worker, so the classifier always chooses the best worker overall."
        : "It chooses based on the question."
    if (evolved !== undefined) stdout.write(`${evolvedText(evolved)}\n`)
    const gain = isBetter ? "It is better than the table" : "It is not measurably better than the table"
    stdout.write(
      `${clean(`Trained a classifier for ${head.workers.length} workers on ${examples.length} questions. ${reads} ${gain}: ${judged.why}. Use it with --policy head.`)}\n`
    )
  }).pipe(Effect.scoped)
