/** The operations of an engine, as functions of its components. */
import path from "node:path"
import { Metadata, Model } from "@divisi/gguf"
import type { Tokenizer } from "@divisi/gguf/browser"
import type * as Engine from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Batch from "./batch.ts"
import * as Checkpoint from "./checkpoint.ts"
import * as Loss from "./loss.ts"
import type { Result } from "./passes.ts"
import * as Problem from "./problem.ts"
import { hasEntropy, settingsOf } from "./programs.ts"
import { checkData, checkLoss } from "./request.ts"
import * as State from "./state.ts"
import * as Threads from "./threads.ts"

/** The components of an engine. */
export interface Parts {
  readonly state: State.State
  readonly threads: Threads.Threads
  readonly limits: Batch.Limits
  readonly tokenizer: Tokenizer.Tokenizer
  readonly name: string
}

/** Returns the model with its current weights. */
export const model = ({ name, state, tokenizer }: Parts): Model.DenseModel => ({
  config: state.snapshot.config,
  tokenizer,
  name,
  tensors: State.tensorsOf(state)
})

/** Runs a pass over each batch, one at a time per thread. `take` receives the results in the order of the batches. */
const forEachBatch = Effect.fnUntraced(function* <A extends Pick<Result, "logProbs" | "entropies">>(
  { limits, state, threads }: Parts,
  data: ReadonlyArray<Engine.Datum>,
  run: (given: Pick<Batch.Batch, "shape"> & { readonly tables: Batch.Tables }) => Effect.Effect<A, Engine.EngineError>,
  take: (found: A) => void
) {
  const logProbs: Array<Float32Array> = []
  const entropies: Array<Float32Array> = []
  const passes = Stream.fromIterable(Batch.plan(state.snapshot.config, data, limits)).pipe(
    Stream.mapEffect(
      (batch) => {
        const given = { shape: batch.shape, tables: Batch.tablesOf(data, batch) }
        return Effect.map(run(given), (found) => ({ batch, found }))
      },
      { concurrency: threads.count }
    )
  )
  yield* Stream.runForEach(passes, ({ batch, found }) =>
    Effect.sync(() => {
      Batch.read(data, batch, found.logProbs, logProbs)
      Batch.read(data, batch, found.entropies, entropies)
      take(found)
    })
  )
  return { logProbs, entropies }
})

/** Computes log-probabilities and entropies. */
export const forward = Effect.fnUntraced(function* (
  parts: Parts,
  data: ReadonlyArray<Engine.Datum>
): Effect.fn.Return<Engine.Pass, Engine.EngineError> {
  const { state, threads } = parts
  yield* checkData(state.snapshot.config, "forward", data)
  return yield* forEachBatch(
    parts,
    data,
    (given) => Threads.run(threads, state.snapshot, { type: "forward", ...given }, "forward"),
    () => {}
  )
})

/** Runs {@link forward} and adds to the gradient. Failed data and interrupted passes add nothing. */
export const forwardBackward = Effect.fnUntraced(function* (
  parts: Parts,
  data: ReadonlyArray<Engine.Datum>,
  loss: Engine.Loss
): Effect.fn.Return<Engine.Pass, Engine.EngineError> {
  const { state, threads } = parts
  yield* checkData(state.snapshot.config, "forwardBackward", data)
  yield* checkLoss(loss, data)
  const asked = {
    type: "backward",
    loss: { name: loss.type, entropy: hasEntropy(loss) },
    settings: settingsOf(loss)
  } as const
  const sum = state.gradient?.slice() ?? new Float32Array(state.snapshot.numbers.length)
  const found = yield* forEachBatch(
    parts,
    data,
    (given) => Threads.run(threads, state.snapshot, { ...asked, ...given }, "forwardBackward"),
    ({ gradient }) => {
      for (let at = 0; at < sum.length; at++) sum[at] = sum[at]! + gradient[at]!
    }
  )
  state.gradient = sum
  const value = data.reduce(
    (sum, datum, place) => sum + Loss.valueOf(loss, datum, found.logProbs[place]!, found.entropies[place]!),
    0
  )
  return { ...found, loss: value }
})

/** Applies one optimizer step. */
export const step = ({ state }: Parts, settings: Engine.OptimizerSettings) =>
  Effect.suspend(() => {
    const gradientNorm = State.step(state, settings)
    if (Number.isFinite(gradientNorm)) return Effect.succeed({ version: state.steps, gradientNorm })
    return Problem.failed("step", "the gradient is not finite; the weights were not changed.", "Failed")
  })

/** Saves the state under a name. */
export const save = Effect.fnUntraced(function* ({ state }: Parts, label: string, into: string) {
  if (!/^[\w.-]+$/.test(label)) return yield* Problem.make("save", `"${label}" is not a valid file name.`)
  yield* Effect.uninterruptible(Checkpoint.save(state, label, into)).pipe(
    Effect.mapError((cause) => Problem.errorOf("save", cause))
  )
  return { reference: Checkpoint.fileOf(label), version: state.steps }
})

/** Loads a saved state. If it cannot be read, nothing changes. */
export const load = Effect.fnUntraced(function* ({ state }: Parts, saved: Engine.Saved, from: string) {
  const file = path.join(from, saved.reference)
  const loaded = yield* Checkpoint.load(state, file).pipe(
    Effect.mapError((cause) =>
      cause.reason._tag === "Missing"
        ? Problem.make("load", `${file} no longer exists.`, "Expired")
        : Problem.errorOf("load", cause)
    )
  )
  if (loaded.type === "mismatch") return yield* Problem.make("load", `${file} does not fit: ${loaded.detail}.`)
  loaded.apply()
})

/** Exports the model to a file that other programs can run. */
export const exportTo = Effect.fnUntraced(function* (
  parts: Parts,
  format: Engine.ExportFormat,
  file: string,
  about: Readonly<Record<string, string>> = {}
) {
  if (format !== "gguf") return yield* Problem.make("export", `it exports only gguf, not ${format}.`)
  yield* Model.write(model(parts), file, { metadata: Metadata.texts(about) }).pipe(
    Effect.mapError((cause) => Problem.errorOf("export", cause))
  )
})
