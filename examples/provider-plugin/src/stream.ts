/**
 * From the lines of an answer to the parts of a worker's answer: a fold, without side effects.
 *
 * An answer is newline-delimited JSON; its last line has `done: true`. Sources: https://docs.ollama.com/api/streaming,
 * https://docs.ollama.com/api/usage and https://docs.ollama.com/api/errors. Fields and lines that are not known are
 * ignored. What the vendor sends is read, never cast: a text that is none fails the call.
 */
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { type Endpoint, VendorJson as Json, VendorError, type VendorStream } from "@divisi/provider-kit"

/** The last line of an answer, once it has come. */
interface State {
  readonly last: Json.Fields | undefined
}

const part = (type: "reasoning" | "text", value: unknown): ReadonlyArray<WorkerPart> => {
  const text = Json.textChunk(value, type)
  return text === "" ? [] : [{ type, text }]
}

/** Takes one line; an error among the others ends the answer. */
const next = (state: State, event: unknown): VendorStream.Step<State> => {
  const line = Json.object(event, "a line")
  if (line.error !== undefined) {
    const failure = VendorError.fromRefusal({ message: Json.text(line.error) ?? "" }, { nowMillis: 0 })
    return { state, parts: [], failure }
  }
  const message = Json.object(line.message, "message")
  const parts = [...part("reasoning", message.thinking), ...part("text", message.content)]
  return { state: line.done === true ? { last: line } : state, parts }
}

const reasons: Readonly<Record<string, FinishReason>> = { stop: "stop", length: "length" }

/** How the vendor streams. */
export const protocol: VendorStream.Protocol<unknown, State> = {
  initial: { last: undefined },
  next,
  finishReason: ({ last }) => last && (Json.meaning(reasons, last.done_reason) ?? "other"),
  usage: ({ last }) => {
    const inputTokens = Json.number(last?.prompt_eval_count)
    const outputTokens = Json.number(last?.eval_count)
    return inputTokens === undefined || outputTokens === undefined ? undefined : { inputTokens, outputTokens }
  },
  model: ({ last }) => Json.text(last?.model),
  incomplete: () => ({ _tag: "Malformed", detail: "the stream ended before the answer was complete" })
}

/** Why the vendor refused: its own words, or the text itself where it is a page of somebody in between. */
export const reasonOf = (
  { body, headers, status, text }: Endpoint.Refused,
  surroundings: VendorError.Surroundings
): WorkerErrorReason => {
  const message = Json.text(Json.fields(body).error) ?? text
  return VendorError.fromRefusal({ status, message, codes: text, header: (name) => headers.get(name) }, surroundings)
}
