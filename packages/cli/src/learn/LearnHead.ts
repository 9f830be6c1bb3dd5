/** Learns a head from graded answers, and tells what it gains over the table that is learned from the same. */
import * as Embedder from "@divisi/core/Embedder"
import { Head, Replay } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Embedders from "../eval/Embedders.ts"
import { clean } from "../view/Line.ts"
import type { LearnInput } from "./command.ts"
import { examplesOf, nothingRated } from "./Examples.ts"

/** So many questions are read between two words of how far it is. */
const batch = 32

/** Says on a terminal how many questions are read: a large model takes its time. */
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

/** Learns it, judges it, and keeps it for `--policy head`. */
export const learnHead = (input: LearnInput) =>
  Effect.gen(function* () {
    const named = yield* Embedders.named(Option.getOrUndefined(input.embeddings), false)
    const embedder = named === undefined ? Embedder.hashed() : telling(named)
    const examples = yield* examplesOf(input, embedder)
    const fitted = Head.fit(examples, { embedder: embedder.name })
    if (Result.isFailure(fitted)) return yield* nothingRated
    const head = fitted.success
    const options = { embedder: embedder.name }
    const verdict = Replay.compare(examples, undefined, { ...options, learner: Head.learner(options) })
    const file = yield* Head.defaultFile
    yield* Head.write(file, head)
    const { isPromoted: isBetter, ...judged } = verdict
    if (input.json) {
      process.stdout.write(`${JSON.stringify({ isBetter, ...judged, embedder: embedder.name, ...head.training })}\n`)
      return
    }
    const reads =
      head.training.penalty === null
        ? "Nothing in the questions tells who is better: it always asks the best worker."
        : "It asks by the question."
    const gain = isBetter ? "It is better than the table" : "It is not shown to be better than the table"
    process.stdout.write(
      `${clean(`Learned a head of ${head.workers.length} workers from ${examples.length} questions. ${reads} ${gain}: ${judged.why}. --policy head asks by it.`)}\n`
    )
  }).pipe(Effect.scoped)
