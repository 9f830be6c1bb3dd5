/** The engine's saved states. */
import type { Saved } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Errors from "../TinkerError.ts"
import * as Accumulation from "./accumulation.ts"
import * as State from "./state.ts"

const longestName = 200

/** A new name that every server takes. Servers do not overwrite. */
const freeName = (state: State.State, name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, longestName) || "checkpoint"
  let free = plain
  for (let count = 2; state.names.has(free); count++) free = `${plain}-${count}`
  state.names.add(free)
  return free
}

/** Saves weights and optimiser at the server. */
export const save = (state: State.State, name: string): Effect.Effect<Saved, Errors.TinkerError> =>
  Effect.gen(function* () {
    yield* State.trusted(state, "save_weights")
    const { version } = state
    const model = yield* State.model(state)
    const reference = yield* model.saveWeights(freeName(state, name))
    return { reference, version }
  })

/** Saves the weights to be downloaded. */
export const saveForExport = (state: State.State): Effect.Effect<string, Errors.TinkerError> =>
  Effect.gen(function* () {
    yield* State.trusted(state, "save_weights_for_sampler")
    const model = yield* State.model(state)
    const address = yield* model.saveForSampler(freeName(state, `export-${state.version}`))
    state.samplers += 1
    return address
  })

const mostAttempts = 3

/** Creates a fresh model, in a new session if the server has forgotten this one. */
const fresh = (state: State.State, rank: number | undefined) =>
  Effect.catchIf(
    State.create(state, rank),
    ({ reason }) => reason._tag === "Expired",
    () => Effect.andThen(State.reconnect(state), State.create(state, rank))
  )

/** A load whose reply was lost may have been carried out, and cannot be repeated then: a new model takes its place. */
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

/** Loads a saved state into a fresh model: servers load into no other. */
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
