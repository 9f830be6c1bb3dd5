/**
 * How the vendor writes answers and refusals down, and how it is asked: what the servers of the testkit speak. Data and
 * pure functions, written from the vendor's pages and not from the worker, so that the two check each other.
 */
import type { Reasoning } from "@divisi/core/Worker"
import { Dialect, Script } from "@divisi/testkit/providers"

const reasoningOf = (think: unknown): Reasoning | undefined => {
  if (think === false) return { type: "off" }
  if (think === "low" || think === "medium" || think === "high") return { type: "effort", effort: think }
  return undefined
}

const read = (request: Dialect.Captured): Dialect.Sent => {
  const { messages, model, options, stream, think } = Dialect.fields(request.body)
  const { num_predict, seed, stop, temperature } = Dialect.fields(options)
  return {
    // A stream, unless it is switched off.
    isStream: stream !== false,
    messages: Dialect.items(messages) as Dialect.Sent["messages"],
    ...Dialect.present({
      key: Dialect.bearer(request),
      model: model as string,
      maxOutputTokens: num_predict as number,
      temperature: temperature as number,
      seed: seed as number,
      stopSequences: stop as ReadonlyArray<string>,
      reasoning: reasoningOf(think)
    })
  }
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

const about = (model: string) => ({ model, created_at: "2026-11-20T12:00:00.000000Z" })

const doneReasons: Readonly<Record<Script.Ending, string>> = {
  stop: "stop",
  "stop-sequence": "stop",
  "tool-calls": "stop",
  length: "length",
  refusal: "unload",
  unknown: "moon_phase"
}

const last = ({ ending, usage }: Script.Answer) => ({
  done: true,
  done_reason: doneReasons[ending],
  total_duration: 4_935_886_791,
  load_duration: 534_986_708,
  ...(usage === undefined
    ? {}
    : {
        prompt_eval_count: usage.inputTokens,
        prompt_eval_duration: 107_345_000,
        eval_count: usage.outputTokens,
        eval_duration: 4_289_432_000
      })
})

const delta = (model: string, one: Script.Delta): string => {
  const { text, type } = Script.spoken(one)
  const message = type === "text" ? { content: text } : { content: "", thinking: text }
  return line({ ...about(model), message: { role: "assistant", ...message }, done: false })
}

const stream = (answer: Script.Answer, model: string): Dialect.Streamed => {
  const empty = { ...about(model), message: { role: "assistant", content: "" } }
  const noise = [line({ ...about(model), weather: "sunny" }), "\n", line({ ...empty, mood: 1, done: false })]
  return {
    opening: answer.noise === false ? [] : noise,
    deltas: answer.deltas.map((one) => delta(model, one)),
    closing: [line({ ...empty, ...last(answer) })]
  }
}

const whole = (answer: Script.Answer, model: string) => {
  const text = answer.deltas.map((one) => (one.type === "text" ? one.text : "")).join("")
  return { ...about(model), message: { role: "assistant", content: text }, ...last(answer) }
}

const words: { readonly [Kind in Script.RefusalKind]?: readonly [status: number, message: string] } = {
  "rate-limited": [429, "rate limit exceeded, please wait and try again"],
  overloaded: [503, "server busy, please try again.  maximum pending requests exceeded"],
  unavailable: [503, "server busy, please try again.  maximum pending requests exceeded"],
  "server-error": [500, "llama runner process has terminated: exit status 2"],
  timeout: [504, "context deadline exceeded"],
  authentication: [401, "unauthorized"],
  permission: [403, "this model requires a subscription"],
  "invalid-request": [400, "invalid options: temperature"],
  "unknown-model": [404, "model 'nope' not found"],
  "context-too-long": [400, "the prompt exceeds the context length of 8192 tokens"]
}

const said = ({ echo, kind }: Script.Refusal): string => {
  const message = words[kind]?.[1] ?? kind
  return JSON.stringify({ error: echo === undefined ? message : `${message} ${echo}` })
}

/** The vendor's wire format. */
export const dialect: Dialect.Dialect = {
  name: "Ollama's chat API",
  sources: [
    "https://docs.ollama.com/api/chat",
    "https://docs.ollama.com/api/streaming",
    "https://docs.ollama.com/api/errors"
  ],
  read,
  contentType: "application/x-ndjson",
  stream,
  whole,
  refuse: (refusal) => {
    const known = words[refusal.kind]
    return known === undefined ? undefined : { status: known[0], body: said(refusal) }
  },
  refuseInStream: (refusal) => `${said(refusal)}\n`,
  malformed: '{"model":"m","message":{"role":"assistant","content":"br\n'
}
