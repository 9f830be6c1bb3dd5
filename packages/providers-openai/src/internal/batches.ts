/**
 * OpenAI's Batch API. A file of requests is uploaded and a batch is created from it; the results are in two files, one
 * for answers and one for errors.
 *
 * Sources: https://developers.openai.com/api/docs/guides/batch, and the schemas Batch, BatchRequestInput and
 * BatchRequestOutput of https://github.com/openai/openai-openapi, read in November 2026.
 */
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { Dialects, VendorJson as Json, type VendorBatch, VendorError, VendorEvents } from "@divisi/provider-kit"
import type OpenAI from "openai"

/** An API that supports batches, and how its complete answers are read. */
export interface BatchApi {
  readonly url: "/v1/responses" | "/v1/chat/completions"
  /** Converts a complete answer to the events of an equivalent stream. */
  readonly eventsOf: (body: Json.Fields) => ReadonlyArray<unknown>
}

const expired: WorkerErrorReason = {
  _tag: "Timeout",
  detail:
    "the batch expired after 24 hours, before this call was answered. It was not charged: retry it, or send it without batch"
}

const cancelled: WorkerErrorReason = {
  _tag: "InvalidRequest",
  detail: "the batch was cancelled before this call was answered. It was not charged: retry it"
}

/** Codes for requests that were not processed, from the schema BatchRequestOutput. */
const reasonOfCode: Readonly<Record<string, WorkerErrorReason>> = {
  batch_expired: expired,
  batch_cancelled: cancelled,
  request_timeout: { _tag: "Timeout", detail: "the model did not answer within the time limit" }
}

/** Parses a line of an output or error file. */
const outcomeOf = (
  value: unknown,
  { eventsOf }: BatchApi,
  surroundings: VendorError.Surroundings
): VendorBatch.Outcome => {
  const line = Json.object(value, "a result")
  const id = Json.text(line.custom_id)
  if (id === undefined) throw VendorError.unreadable("a result has no custom_id")
  try {
    if (line.error) {
      const failure =
        Json.meaning(reasonOfCode, Json.fields(line.error).code) ?? Dialects.Errors.reasonOfEvent(line.error)
      return { id, failure }
    }
    const { body, status_code: status } = Json.object(line.response ?? null, "a response")
    if (typeof status === "number" && status >= 300) {
      return {
        id,
        failure: Dialects.Errors.reasonOfRefused({ status, headers: new Headers(), text: "", body }, surroundings)
      }
    }
    return { id, events: eventsOf(Json.object(body ?? null, "an answer")) }
  } catch (error) {
    if (error instanceof VendorError.Failure) return { id, failure: error.reason }
    throw error
  }
}

/** Returns the reason why a request has no result, according to the state of the batch. */
const missingOf = (batch: Json.Fields): WorkerErrorReason => {
  if (batch.status === "expired") return expired
  if (batch.status === "cancelled") return cancelled
  if (batch.status === "failed") {
    const [error] = Json.items(Json.fields(batch.errors).data)
    return error === undefined
      ? { _tag: "InvalidRequest", detail: "the batch failed" }
      : Dialects.Errors.reasonOfEvent(error)
  }
  return { _tag: "Malformed", detail: "the batch ended without an answer to this call" }
}

const ends: ReadonlySet<unknown> = new Set(["completed", "failed", "expired", "cancelled"])

const idOf = (value: unknown): string => {
  const id = Json.text(Json.fields(value).id)
  if (id === undefined) throw VendorError.unreadable("the created batch has no id")
  return id
}

/** Reads the result files of a finished batch, line by line. */
const outcomesOf = (client: OpenAI, batch: Json.Fields, api: BatchApi, surroundings: () => VendorError.Surroundings) =>
  async function* (signal: AbortSignal): AsyncGenerator<VendorBatch.Outcome> {
    for (const file of [Json.text(batch.output_file_id), Json.text(batch.error_file_id)]) {
      if (file === undefined) continue
      const response = await client.files.content(file, { signal })
      for await (const line of VendorEvents.lines(response, signal)) yield outcomeOf(line, api, surroundings())
    }
  }

const look = async (
  client: OpenAI,
  id: string,
  signal: AbortSignal,
  api: BatchApi,
  surroundings: () => VendorError.Surroundings
): Promise<VendorBatch.Ended | undefined> => {
  const batch = Json.fields(await client.batches.retrieve(id, { signal }))
  if (Json.text(batch.status) === undefined) throw VendorError.unreadable("a batch has no status")
  return ends.has(batch.status)
    ? { missing: missingOf(batch), outcomes: outcomesOf(client, batch, api, surroundings) }
    : undefined
}

/** Metadata key under which a batch's name is stored. */
const nameKey = "divisi"

const find = async (
  client: OpenAI,
  collector: string,
  { from, to }: { from: number; to: number },
  signal: AbortSignal
) => {
  const found: Array<VendorBatch.Listed> = []
  // Batches are listed newest first.
  for await (const one of client.batches.list({ limit: 100 }, { signal })) {
    const { created_at, id, metadata } = Json.fields(one)
    const at = (Json.number(created_at) ?? Number.NaN) * 1000
    if (at < from) break
    const name = Json.text(Json.fields(metadata)[nameKey])
    if (at <= to && typeof id === "string" && name?.startsWith(`${collector}-`)) found.push({ batch: id, name })
  }
  return found
}

/** Removes the streaming fields, which batches reject. */
const whole = (body: unknown): Json.Fields => {
  const { stream: _, stream_options: __, ...rest } = Json.fields(body)
  return rest
}

/** Describes how to use OpenAI's batches for one of its APIs. */
export const vendorOf = (
  client: OpenAI,
  api: BatchApi,
  surroundings: () => VendorError.Surroundings,
  reason: (error: unknown) => WorkerErrorReason
): VendorBatch.Vendor => ({
  maxRequests: 50_000,
  maxBytes: 200_000_000,
  line: (id, body) => JSON.stringify({ custom_id: id, method: "POST", url: api.url, body: whole(body) }),
  send: async (name, lines, signal) => {
    const text = lines.flatMap((line) => [line, "\n"])
    const file = new File(text, `divisi-${name}.jsonl`, { type: "application/jsonl" })
    const input = idOf(await client.files.create({ file, purpose: "batch" }, { signal }))
    signal.throwIfAborted()
    const metadata = { [nameKey]: name }
    return idOf(
      await client.batches.create({ input_file_id: input, endpoint: api.url, completion_window: "24h", metadata })
    )
  },
  look: (batch, signal) => look(client, batch, signal, api, surroundings),
  cancel: (batch, signal) => client.batches.cancel(batch, { signal }),
  find: (collector, within, signal) => find(client, collector, within, signal),
  reason
})
