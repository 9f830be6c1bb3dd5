/**
 * Anthropic's Message Batches API: requests are sent in one body, and results are returned as lines of one file.
 *
 * Sources: https://platform.claude.com/docs/en/build-with-claude/batch-processing and
 * https://platform.claude.com/docs/en/api/messages/batches, read in November 2026.
 */
import type Anthropic from "@anthropic-ai/sdk"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { Dialects, VendorJson as Json, type VendorBatch, VendorError, VendorEvents } from "@divisi/provider-kit"
import { reasonOfRefused } from "./errors.ts"

const expired: WorkerErrorReason = {
  _tag: "Timeout",
  detail:
    "the batch expired after 24 hours, before this call was answered. It was not charged: retry it, or send it without batch"
}

const canceled: WorkerErrorReason = {
  _tag: "InvalidRequest",
  detail: "the batch was cancelled before this call was answered. It was not charged: retry it"
}

const missing: WorkerErrorReason = { _tag: "Malformed", detail: "the batch ended without an answer to this call" }

/** Returns the stream events for the complete message in a result, which must have a stop reason. */
const eventsOf = (message: Json.Fields): ReadonlyArray<unknown> => {
  if (Json.text(message.stop_reason) === undefined) throw VendorError.unreadable("an answer is incomplete")
  return Dialects.Messages.eventsOf(message)
}

/** Parses a line of the results. */
const outcomeOf = (value: unknown): VendorBatch.Outcome => {
  const line = Json.object(value, "a result")
  const id = Json.text(line.custom_id)
  if (id === undefined) throw VendorError.unreadable("a result has no custom_id")
  try {
    const { error, message, type } = Json.object(line.result ?? null, "a result")
    switch (type) {
      case "succeeded":
        return { id, events: eventsOf(Json.object(message ?? null, "a message")) }
      case "expired":
        return { id, failure: expired }
      case "canceled":
        return { id, failure: canceled }
      case "errored":
        return { id, failure: reasonOfRefused({ status: 400, headers: new Headers(), text: "", body: error }) }
      default:
        throw VendorError.unreadable("a result has an unknown type")
    }
  } catch (error) {
    if (error instanceof VendorError.Failure) return { id, failure: error.reason }
    throw error
  }
}

const path = (batch: string): string => `/v1/messages/batches/${encodeURIComponent(batch)}`

/**
 * Reads the results line by line. The URL is constructed here, because the key must be sent only to the configured
 * server.
 */
const outcomesOf = (client: Anthropic, batch: string) =>
  async function* (signal: AbortSignal): AsyncGenerator<VendorBatch.Outcome> {
    const response = await client.get(`${path(batch)}/results`, { signal, stream: true }).asResponse()
    for await (const line of VendorEvents.lines(response, signal)) yield outcomeOf(line)
  }

/** Concatenates requests that are already encoded as JSON and may amount to many megabytes. */
const bodyOf = (lines: ReadonlyArray<Uint8Array<ArrayBuffer>>): Blob =>
  new Blob(['{"requests":[', ...lines.flatMap((line, index) => (index === 0 ? [line] : [",", line])), "]}"])

/** Finds batches by their creation time, because they have no name in this API. */
const find = async (
  client: Anthropic,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal
) => {
  const found: Array<VendorBatch.Listed> = []
  // Batches are listed newest first.
  for await (const one of client.messages.batches.list({ limit: 100 }, { signal })) {
    const { created_at, id } = Json.fields(one)
    const at = Date.parse(String(created_at))
    if (at < from) break
    if (at <= to && typeof id === "string") found.push({ batch: id })
  }
  return found
}

/** Describes how to use Anthropic's batches. */
export const vendorOf = (client: Anthropic, reason: (error: unknown) => WorkerErrorReason): VendorBatch.Vendor => ({
  maxRequests: 100_000,
  // 256 MB, minus the text around the requests.
  maxBytes: 255_999_900,
  line: (id, body) => {
    const { stream: _, ...params } = Json.fields(body)
    return JSON.stringify({ custom_id: id, params })
  },
  send: async (_, lines) => {
    const headers = { "content-type": "application/json" }
    const { id } = Json.fields(await client.post("/v1/messages/batches", { body: bodyOf(lines), headers }))
    if (typeof id !== "string" || id === "") throw VendorError.unreadable("a batch has no id")
    return id
  },
  look: async (batch, signal) => {
    const { processing_status: status } = Json.fields(await client.get(path(batch), { signal }))
    if (Json.text(status) === undefined) throw VendorError.unreadable("a batch has no status")
    return status === "ended" ? { missing, outcomes: outcomesOf(client, batch) } : undefined
  },
  cancel: (batch, signal) => client.post(`${path(batch)}/cancel`, { signal }),
  find: (_, within, signal) => find(client, within, signal),
  reason
})
