/** Routes for samplers and sampling. */
import type { SampleRequest, Saved } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Archive from "./archive.ts"
import { isTaken, keep, withoutNumber } from "./checkpointRoutes.ts"
import { done, future, isSkyrl, json, once, type Route, refuse, withModel } from "./route.ts"
import * as State from "./state.ts"

const openSampler = (state: State.State, model: State.Model, saved: Saved | undefined) =>
  Effect.gen(function* () {
    const id = State.newId("sampling")
    state.samplers.set(id, {
      model,
      sampler: yield* Scope.provide(model.engine.sampler, model.scope),
      saved,
      steps: model.steps
    })
    return id
  })

export const saveForSampler = withModel(async (state, model, body) => {
  const isKept = typeof body.path === "string"
  const name: string = isKept ? body.path : `ss${body.sampling_session_seq_id}_seq${body.seq_id}`
  if (isSkyrl(state) && (await isTaken(state, model, "sampler_weights", name))) {
    return refuse(409, `Checkpoint '${name}' already exists for model '${model.id}'`)
  }
  const work = Effect.gen(function* () {
    if (isKept) {
      yield* keep(state, model, "sampler_weights", name)
      yield* Archive.keep(state, model.id, name, model.engine)
      const path = isSkyrl(state) ? `tinker://${model.id}/${name}` : `tinker://${model.id}/sampler_weights/${name}`
      return done({ path, type: "save_weights_for_sampler" })
    }
    const isTrap = state.dialect.samplersShareWeights
    const saved = isTrap ? yield* keep(state, model, "sampler_weights", name) : undefined
    return done({ path: null, sampling_session_id: yield* openSampler(state, model, saved) })
  })
  return once(state, model, withoutNumber(state, body), "save_weights_for_sampler", work)
})

export const baseSampler: Route = async (state, { base_model }) => {
  if (base_model !== state.baseModel) return refuse(400, `Only ${state.baseModel} can be sampled so here.`)
  const model = await Effect.runPromise(State.createModel(state, "base", 0))
  state.models.delete(model.id)
  return json({ sampling_session_id: await Effect.runPromise(openSampler(state, model, undefined)) })
}

export const asample: Route = async (state, body) => {
  const session = state.samplers.get(body.sampling_session_id)
  if (session === undefined) return refuse(404, "Sampling session not found")
  const { max_tokens, seed, stop } = body.sampling_params
  if (!Array.isArray(stop)) return refuse(422, "stop: Input should be a valid list")
  if (max_tokens === undefined) return refuse(400, "max_tokens is currently required")
  if (!(body.num_samples >= 1)) return refuse(422, "num_samples must be at least 1")
  const { model, sampler, saved, steps } = session
  const prompt = body.prompt.chunks.flatMap(({ tokens }: { readonly tokens: ReadonlyArray<number> }) => tokens)
  const request: SampleRequest = { prompt, maxTokens: max_tokens, count: body.num_samples, seed }
  const draw = Effect.map(sampler.sample(request), (samples) =>
    done(
      samples.map(({ logProbs, reason, tokens }) => ({ tokens, logprobs: logProbs, stop_reason: reason })),
      "samples"
    )
  )
  // The weights of the old sampler replace the trained ones.
  const turnBack = saved === undefined ? Effect.void : model.engine.load(saved, State.filesOf(state.options))
  const work = Effect.suspend(() => (steps === model.steps ? draw : Effect.andThen(turnBack, draw)))
  return future(State.inTurn(state, model, work, "asample"))
}
