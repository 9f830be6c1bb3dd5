/** What an engine does: each function takes the parts that it is made of. */
import path from "node:path"
import * as Model from "@tutti/gguf/Model"
import type { Tokenizer } from "@tutti/gguf/Tokenizer"
import type * as Engine from "@tutti/trainer/Engine"
import * as Effect from "effect/Effect"
import { awake } from "./awake.ts"
import * as Batch from "./batch.ts"
import * as Checkpoint from "./checkpoint.ts"
import * as Loss from "./loss.ts"
import * as Passes from "./passes.ts"
import * as Problem from "./problem.ts"
import { checkData, checkLoss } from "./request.ts"
import * as State from "./state.ts"

/** What an engine is made of. */
export interface Core {
  readonly state: State.State
  readonly passes: Passes.Passes
  readonly limits: Batch.Limits
  readonly tokenizer: Tokenizer
  readonly name: string
}

/** Something that cannot be stopped half-way. */
export const attempt = <A>(doing: Engine.EngineError["doing"], run: () => Promise<A>) =>
  Effect.uninterruptible(Effect.tryPromise({ try: () => awake(run), catch: (cause) => Problem.errorOf(doing, cause) }))

/** The model with its present weights. */
export const model = Effect.fnUntraced(function* ({ name, state, tokenizer }: Core, doing: "sample" | "export") {
  const tensors = yield* attempt(doing, () => State.tensorsOf(state))
  return { config: state.config, tokenizer, name, tensors }
})

/** Log-probabilities and entropies. */
export const forward = Effect.fnUntraced(function* (
  { limits, passes, state }: Core,
  data: ReadonlyArray<Engine.Datum>
): Effect.fn.Return<Engine.Pass, Engine.EngineError> {
  yield* checkData(state.config, "forward", data)
  const found: Passes.Found = { logProbs: [], entropies: [] }
  for (const batch of Batch.plan(state.config, data, limits)) {
    yield* attempt("forward", () => Passes.forward(passes, state, data, batch, found))
  }
  return found
})

/** As {@link forward}, and adds to the gradient; data that fail, or an interruption, add nothing. */
export const forwardBackward = Effect.fnUntraced(function* (
  { limits, passes, state }: Core,
  data: ReadonlyArray<Engine.Datum>,
  loss: Engine.Loss
): Effect.fn.Return<Engine.Pass, Engine.EngineError> {
  yield* checkData(state.config, "forwardBackward", data)
  yield* checkLoss(loss, data)
  const found: Passes.Found = { logProbs: [], entropies: [] }
  let gradient = State.copyGradient(state)
  const run = Effect.gen(function* () {
    for (const batch of Batch.plan(state.config, data, limits)) {
      gradient = yield* attempt("forwardBackward", () =>
        Passes.backward(passes, state, data, batch, loss, gradient, found)
      )
    }
  })
  yield* Effect.onError(run, () => Effect.sync(() => State.dispose(gradient.sums)))
  State.forget(state)
  state.gradient = gradient
  const value = data.reduce(
    (sum, datum, place) => sum + Loss.valueOf(loss, datum, found.logProbs[place]!, found.entropies[place]!),
    0
  )
  return { ...found, loss: value }
})

/** One step of the optimiser. */
export const step = Effect.fnUntraced(function* ({ state }: Core, settings: Engine.OptimizerSettings) {
  const gradientNorm = yield* attempt("step", () => State.step(state, settings))
  if (Number.isFinite(gradientNorm)) return { version: state.steps, gradientNorm }
  return yield* Problem.make("step", "the gradient is not finite; the weights stay as they were.", "Failed")
})

/** Saves the state under a name. */
export const save = Effect.fnUntraced(function* ({ state }: Core, label: string, into: string) {
  if (!/^[\w.-]+$/.test(label)) return yield* Problem.make("save", `"${label}" is no name for a file.`)
  yield* Effect.uninterruptible(Checkpoint.save(state, label, into)).pipe(
    Effect.mapError((cause) => Problem.errorOf("save", cause))
  )
  return { reference: Checkpoint.fileOf(label), version: state.steps }
})

/** Goes back to a saved state; one that cannot be read changes nothing. */
export const load = Effect.fnUntraced(function* ({ state }: Core, saved: Engine.Saved, from: string) {
  const file = path.join(from, saved.reference)
  const loaded = yield* Checkpoint.load(state, file).pipe(
    Effect.mapError((cause) =>
      cause.reason._tag === "Missing"
        ? Problem.make("load", `${file} is no longer there.`, "Expired")
        : Problem.errorOf("load", cause)
    )
  )
  if (loaded.type === "mismatch") return yield* Problem.make("load", `${file} does not fit: ${loaded.detail}.`)
  loaded.apply()
})

/** Writes the model for others. */
export const exportTo = Effect.fnUntraced(function* (core: Core, format: Engine.ExportFormat, file: string) {
  if (format !== "gguf") return yield* Problem.make("export", `it writes gguf, not ${format}.`)
  const written = yield* model(core, "export")
  yield* Model.write(written, file).pipe(Effect.mapError((cause) => Problem.errorOf("export", cause)))
})
