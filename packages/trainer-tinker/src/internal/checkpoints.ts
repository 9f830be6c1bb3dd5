/** Saves and loads the engine's states. */
import type { Saved } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Errors from "../TinkerError.ts"
import * as Accumulation from "./accumulation.ts"
import * as State from "./state.ts"

const longestName = 200

/** Returns an unused name that every server accepts. Servers do not overwrite existing states. */
const freeName = (state: State.State, name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, longestName) || "checkpoint"
  let free = plain
  for (let count = 2; state.names.has(free); count++) free = `${plain}-${count}`
  state.names.add(free)
  return free
}

/** Saves the weights and the optimizer state on the server. */
export const save = (state: State.State, name: string): Effect.Effect<Saved, Errors.TinkerError> =>
  Effect.gen(function* () {
    yield* State.trusted(state, "save_weights")
    const { version } = state
    const model = yield* State.model(state)
    const reference = yield* model.saveWeights(freeName(state, name))
    return { reference, version }
  })

/** Saves the weights for download. */
export const saveForExport = (state: State.State): Effect.Effect<string, Errors.TinkerError> =>
  Effect.gen(function* () {
    yield* State.trusted(state, "save_weights_for_sampler")
    const model = yield* State.model(state)
    const address = yield* model.saveForSampler(freeName(state, `export-${state.version}`))
    state.samplers += 1
    return address
  })

const mostAttempts = 3

/** Creates a new model, in a new session if the server no longer has the current one. */
const fresh = (state: State.State, rank: number | undefined) =>
  Effect.catchIf(
    State.create(state, rank),
    ({ reason }) => reason._tag === "Expired",
    () => Effect.andThen(State.reconnect(state), State.create(state, rank))
  )

/**
 * Whether a load may already have been executed because its reply was lost. It then cannot be repeated, so a new model
 * is created.
 */
const isAskedTwice = (error: Errors.TinkerError) => error.afterLostReply === true && error.reason._tag === "UserMistake"

const into = (
  state: State.State,
  saved: Saved,
  rank: number | undefined,
  attempt = 1
): Effect.Effect<void, Errors.TinkerError> =>
  Effect.gen(function* () {
    yield* State.release(state)
    const model = yield* fresh(state, rank)
    yield* model.loadWeights(saved.reference)
  }).pipe(
    Effect.catchIf(
      (error) => isAskedTwice(error) && attempt < mostAttempts,
      () => into(state, saved, rank, attempt + 1)
    )
  )

const checked = (state: State.State, saved: Saved) =>
  Effect.gen(function* () {
    const { baseModel } = state.options
    const info = yield* state.client.weightsInfo(saved.reference)
    if (info.base_model === undefined || info.base_model === baseModel) return info.lora_rank
    const detail = `${saved.reference} was trained on ${info.base_model}, not on ${baseModel}.`
    return yield* Errors.make("load_weights", { _tag: "UserMistake", detail })
  })

/** Loads a saved state into a new model, because servers do not load into an existing one. */
export const load = (state: State.State, saved: Saved): Effect.Effect<void, Errors.TinkerError> =>
  state.creation.withPermits(1)(
    Effect.gen(function* () {
      const rank = yield* checked(state, saved)
      yield* Effect.onError(into(state, saved, rank), () =>
        Effect.sync(() => {
          state.doubt = "The last load did not succeed."
        })
      )
      state.version = saved.version
      state.epoch += 1
      state.samplers += 1
      state.doubt = undefined
      state.names.clear()
      state.accumulation = Accumulation.initial
    })
  )
