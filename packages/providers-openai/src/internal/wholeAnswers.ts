/** Answers that come whole, as the events that would have been streamed of them: there is one reader for both. */
import { unreadable } from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"

const textsOf = (item: Json.Fields): ReadonlyArray<unknown> => {
  if (item.type === "reasoning") {
    return [...Json.items(item.summary), ...Json.items(item.content)].map((part) => ({
      type: "response.reasoning_summary_text.delta",
      delta: Json.fields(part).text
    }))
  }
  return Json.items(item.content).map((value) => {
    const { refusal, text, type } = Json.fields(value)
    return type === "refusal"
      ? { type: "response.refusal.delta", delta: refusal }
      : { type: "response.output_text.delta", delta: text }
  })
}

const statuses: ReadonlySet<unknown> = new Set(["completed", "incomplete", "failed"])

/** The events of an answer of the Responses API. */
export const responseEvents = (response: Json.Fields): ReadonlyArray<unknown> => {
  if (!statuses.has(response.status)) throw unreadable("an answer is not complete")
  const items = Json.array(response.output, "output").flatMap((value, index) => {
    const item = Json.object(value, "an item")
    return [...textsOf(item), { type: "response.output_item.done", output_index: index, item }]
  })
  return [...items, { type: `response.${response.status}`, response }]
}

/** The events of an answer of Chat Completions: one chunk with all of it. */
export const completionEvents = ({ choices, error, model, usage }: Json.Fields): ReadonlyArray<unknown> => {
  if (error) return [{ error }]
  const { finish_reason, message } = Json.object(Json.array(choices, "choices")[0] ?? null, "a choice")
  const { tool_calls, ...said } = Json.object(message ?? null, "a message")
  const calls = Json.items(tool_calls).map((call, index) => ({ ...Json.fields(call), index }))
  const delta = calls.length === 0 ? said : { ...said, tool_calls: calls }
  return [{ model, usage, choices: [{ delta, finish_reason }] }]
}
