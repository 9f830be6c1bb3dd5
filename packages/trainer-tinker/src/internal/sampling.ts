/** Samplers: snapshots of the weights on the server, and sampling requests. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Protocol from "../Protocol.ts"
import * as Errors from "../TinkerError.ts"
import * as Json from "./json.ts"
import * as Operations from "./operations.ts"
import * as Protobuf from "./protobuf.ts"
import * as Transport from "./transport.ts"

/** A sampler on the server. */
export interface SamplerHandle {
  readonly id: string
  readonly sample: (request: Protocol.SampleRequest) => Effect.Effect<Protocol.SampleResult, Errors.TinkerError>
}

/** Returns the problem with a request, if there is one. Servers never answer some invalid requests. */
const flawOf = ({ count, maxTokens, prompt }: Protocol.SampleRequest): string | undefined => {
  if (!Number.isInteger(count) || count < 1) return `count is ${count}: it must be at least 1.`
  if (!Number.isInteger(maxTokens) || maxTokens < 1) return `maxTokens is ${maxTokens}: it must be at least 1.`
  return prompt.length > 0 ? undefined : "the prompt has no tokens."
}

const bodyOf = (id: string, sequence: number, request: Protocol.SampleRequest) => ({
  sampling_session_id: id,
  seq_id: sequence,
  num_samples: request.count,
  prompt: { chunks: [{ type: "encoded_text", tokens: request.prompt }] },
  sampling_params: {
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_k: -1,
    top_p: 1,
    seed: request.seed,
    stop: request.stop
  },
  prompt_logprobs: request.promptLogProbs ?? false,
  topk_prompt_logprobs: 0
})

/** Returns how long all sampling pauses if the server is overloaded, in milliseconds; longer for long prompts. */
const restMillis = (request: Protocol.SampleRequest) => (request.prompt.length * 4 > 128 * 1024 ? 5_000 : 1_000)

const rest = ({ pause }: Operations.Connection, request: Protocol.SampleRequest) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    pause.untilMillis = Math.max(pause.untilMillis, now + restMillis(request))
  })

const untilRested = ({ pause }: Operations.Connection): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    now < pause.untilMillis ? Effect.sleep(pause.untilMillis - now) : Effect.void
  )

/** Delay in milliseconds before sampling again if the sampler's checkpoint is still being written. */
const notReadyMillis = 1_000

const take = (
  connection: Operations.Connection,
  outgoing: Transport.Outgoing,
  request: Protocol.SampleRequest
): Effect.Effect<Operations.Taken, Errors.TinkerError> =>
  untilRested(connection).pipe(
    Effect.andThen(Operations.take(connection, outgoing, rest(connection, request))),
    Effect.catchIf(
      ({ reason }) => reason._tag === "NotReady",
      () => Effect.andThen(Effect.sleep(notReadyMillis), take(connection, outgoing, request))
    )
  )

const read = (
  reply: Transport.Reply,
  { prompt }: Protocol.SampleRequest
): Effect.Effect<Protocol.SampleResult, Errors.TinkerError> => {
  const isProtobuf = reply.headers.get("content-type")?.includes("protobuf") === true
  const result = isProtobuf
    ? Protobuf.readSamples(reply.bytes, prompt.length)
    : Json.readSamples(reply.json, prompt.length)
  if (result !== undefined) return Effect.succeed(result)
  const detail = "the result has no sequences: check that the URL is a Tinker API server"
  return Effect.fail(Errors.make("asample", { _tag: "ServerFailure", detail }))
}

/** Returns the handle of an existing sampler. */
export const make = (connection: Operations.Connection, id: string): SamplerHandle => {
  let next = 0
  const accept = connection.wire === "protobuf" ? `${Protobuf.contentType}, application/json` : "application/json"
  const sample = (request: Protocol.SampleRequest) =>
    Effect.gen(function* () {
      const flaw = flawOf(request)
      if (flaw !== undefined) return yield* Errors.make("asample", { _tag: "UserMistake", detail: flaw })
      const outgoing = {
        ...Operations.jsonCall("asample", bodyOf(id, next++, request)),
        headers: { "x-tinker-sampling-backpressure": "1" }
      }
      const taken = yield* take(connection, outgoing, request)
      const reply = yield* Operations.result(connection, "asample", taken, accept)
      return yield* read(reply, request)
    })
  return { id, sample: (request) => connection.sampling.withPermits(1)(sample(request)) }
}

/** Creates a sampler for a base model or a checkpoint. */
export const open = (
  connection: Operations.Connection,
  source: { readonly base_model: string } | { readonly model_path: string }
): Effect.Effect<SamplerHandle, Errors.TinkerError> =>
  Effect.gen(function* () {
    const outgoing = Operations.jsonCall("create_sampling_session", {
      session_id: connection.sessionId,
      sampling_session_seq_id: connection.counters.samplers++,
      ...source
    })
    const reply = yield* Transport.request(connection.settings, outgoing)
    return make(connection, yield* Operations.expectText(connection.settings, outgoing, reply, "sampling_session_id"))
  })
