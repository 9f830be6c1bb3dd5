/** Routes for sessions, models and training. */
import type { EngineError } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Passes from "./passes.ts"
import * as Protobuf from "./protobuf.ts"
import { done, future, isSkyrl, json, once, type Route, refuse, withModel } from "./route.ts"
import * as State from "./state.ts"

export const createSession: Route = async (state) => {
  const id = State.newId("session")
  state.sessions.add(id)
  return json({
    type: "create_session",
    session_id: id,
    info_message: null,
    warning_message: null,
    error_message: null
  })
}

export const heartbeat: Route = async (state, { session_id }) =>
  state.sessions.has(session_id) ? json({ type: "session_heartbeat" }) : refuse(404, "Session not found")

export const createModel: Route = async (state, { base_model, lora_config, session_id }) => {
  if (!state.sessions.has(session_id)) return refuse(404, "Session not found")
  if (isSkyrl(state) && lora_config === undefined) return refuse(422, "lora_config is required")
  const { options } = state
  const rank: number = lora_config?.rank ?? 32
  const work = Effect.gen(function* () {
    if (state.models.size >= (options.places ?? 8)) {
      return {
        type: "failed",
        detail: "All places for models are taken: none may be created.",
        isUsers: false
      } as const
    }
    const model = yield* State.createModel(state, session_id, rank)
    state.log.push("create_model")
    return done({ type: "create_model", model_id: model.id, base_model, lora_config })
  })
  const outcome = Effect.runPromise(
    Effect.catch(work, (error: EngineError) =>
      Effect.succeed<State.Outcome>({ type: "failed", detail: error.reason.detail, isUsers: false })
    )
  )
  const requestId = State.promise(state, outcome)
  return json(
    isSkyrl(state) ? { request_id: requestId, base_model, lora_config, status: "created" } : { request_id: requestId }
  )
}

export const unload = withModel(async (state, model) =>
  future(
    State.inTurn(state, model, Effect.as(State.unload(state, model), done({ model_id: model.id })), "unload_model")
  )
)

interface WireDatum {
  readonly model_input: { readonly chunks: ReadonlyArray<{ readonly tokens: ReadonlyArray<number> }> }
  readonly loss_fn_inputs: Readonly<Record<string, { readonly data: ReadonlyArray<number> }>>
}

const received = (input: {
  readonly data: ReadonlyArray<WireDatum>
  readonly loss_fn: string
  readonly loss_fn_config?: Readonly<Record<string, number>> | null | undefined
}): Passes.ReceivedBatch => ({
  loss: input.loss_fn,
  config: input.loss_fn_config ?? {},
  data: input.data.map(({ loss_fn_inputs, model_input }) => ({
    chunks: model_input.chunks.map(({ tokens }) => tokens),
    inputs: Object.fromEntries(Object.entries(loss_fn_inputs).map(([name, { data }]) => [name, data]))
  }))
})

const pass = (
  state: State.State,
  model: State.Model,
  batch: Passes.ReceivedBatch,
  isForward: boolean
): Effect.Effect<State.Outcome, EngineError> => {
  const call = Passes.read(batch, state.dialect)
  const run = isForward
    ? Passes.forward(model.engine, call, state.dialect)
    : Passes.forwardBackward(model.engine, call, state.dialect, model.pending)
  return Effect.map(run, (passed) => done(passed, "batch"))
}

export const forward = withModel(async (state, model, body) =>
  once(state, model, body, "forward", pass(state, model, received(body.forward_input), true))
)

export const forwardBackward: Route = async (state, body, request) => {
  if (!Buffer.isBuffer(body)) {
    return withModel(async (_, model) =>
      once(state, model, body, "forward_backward", pass(state, model, received(body.forward_backward_input), false))
    )(state, body, request)
  }
  const read = Protobuf.readRequest(body)
  const model = state.models.get(read.model)
  if (model === undefined) return refuse(404, "Model not found")
  const numbered = { seq_id: read.sequence, body: body.toString("base64") }
  const call = read.forwardOnly ? "forward" : "forward_backward"
  return once(state, model, numbered, call, pass(state, model, read.batch, read.forwardOnly))
}

export const optimStep = withModel(async (state, model, body) => {
  const { beta1, beta2, eps, grad_clip_norm, learning_rate, weight_decay } = body.adam_params
  const work = Effect.gen(function* () {
    if (model.pending.length > 0) yield* Passes.settle(model.engine, model.pending)
    model.pending = []
    model.steps += 1
    const { gradientNorm } = yield* model.engine.step({
      learningRate: learning_rate,
      beta1,
      beta2,
      epsilon: eps,
      weightDecay: weight_decay,
      maxGradientNorm: state.dialect.clipsGradients ? grad_clip_norm : 0
    })
    return done({ metrics: gradientNorm === undefined ? {} : { "skyrl.ai/grad_norm": gradientNorm } })
  })
  return once(state, model, body, "optim_step", work)
})
