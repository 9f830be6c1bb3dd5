/**
 * Anthropic's Message Batches API.
 *
 * Sources: https://platform.claude.com/docs/en/build-with-claude/batch-processing,
 * https://platform.claude.com/docs/en/api/messages/batches, and npm @anthropic-ai/sdk 1.14.0,
 * resources/messages/batches.d.ts.
 */
import * as AnthropicMessages from "../../AnthropicMessages.ts"
import type { Api, Batch, Books, Given, Item } from "../../BatchServer.ts"
import { type Captured, fields, items as itemsIn, parsed } from "../../Dialect.ts"

const { dialect } = AnthropicMessages

const json = (value: unknown, status = 200): Given => ({ status, body: JSON.stringify(value) })

const refused = (message: string, status = 400, type = "invalid_request_error"): Given =>
  json({ type: "error", error: { type, message }, request_id: "req_01" }, status)

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const itemsOf = (requests: unknown): ReadonlyArray<Item> | string => {
  const items: Array<Item> = []
  const ids = new Set<string>()
  for (const [index, request] of itemsIn(requests).entries()) {
    const { custom_id: id, params } = fields(request)
    const at = `requests.${index}`
    if (typeof id !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(id)) {
      return `${at}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`
    }
    if (ids.has(id)) return `${at}.custom_id: duplicate custom_id`
    if (typeof fields(params).max_tokens !== "number") return `${at}.params.max_tokens: Field required`
    if (fields(params).stream !== undefined) return `${at}.params.stream: streaming is not supported in batches`
    ids.add(id)
    const captured: Captured = { method: "POST", path: "/v1/messages", headers: {}, text: "", body: params }
    items.push({ id, sent: dialect.read(captured) })
  }
  return items.length === 0 ? "requests: List should have at least 1 item" : items
}

// -------------------------------------------------------------------------------------------------------------------
// Results
// -------------------------------------------------------------------------------------------------------------------

const resultOf = (item: Item, { state }: Batch, { fate }: Books): unknown => {
  if (state === "cancelled") return { type: "canceled" }
  const given = fate(item)
  if (given === "expired") return { type: "expired" }
  if (given === "forgotten") return undefined
  if (given.type === "answer") {
    return { type: "succeeded", message: dialect.whole(given, given.model ?? item.sent.model ?? "unknown") }
  }
  return { type: "errored", error: parsed(dialect.refuse(given, false)?.body) }
}

/** Results start with the last request, because vendors do not guarantee their order. */
const results = function* (batch: Batch, books: Books) {
  for (const item of batch.items.toReversed()) {
    const result = resultOf(item, batch, books)
    if (result !== undefined) yield { custom_id: item.id, result }
  }
}

const batchObject = ({ createdAt, id, items, state }: Batch) => {
  const isOver = state !== "under way"
  return {
    id,
    type: "message_batch",
    processing_status: isOver ? "ended" : "in_progress",
    request_counts: {
      processing: isOver ? 0 : items.length,
      succeeded: state === "ended" ? items.length : 0,
      errored: 0,
      canceled: state === "cancelled" ? items.length : 0,
      expired: 0
    },
    ended_at: isOver ? new Date(createdAt).toISOString() : null,
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(createdAt + 86_400_000).toISOString(),
    archived_at: null,
    cancel_initiated_at: state === "cancelled" ? new Date(createdAt).toISOString() : null,
    // The vendor's own address, regardless of the one that the client used.
    results_url: isOver ? `https://api.anthropic.com/v1/messages/batches/${id}/results` : null
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Routes
// -------------------------------------------------------------------------------------------------------------------

const create = ({ body }: Captured, books: Books): Given => {
  const items = itemsOf(fields(body).requests)
  if (typeof items === "string") return refused(items)
  const id = `msgbatch_${books.batches.length + 1}`
  return json(batchObject(books.add({ id, items, metadata: undefined, endpoint: "/v1/messages" })))
}

const list = (query: URLSearchParams, { batches }: Books): Given => {
  const limit = Number(query.get("limit") ?? 20)
  const newest = batches.toReversed()
  const after = newest.findIndex(({ id }) => id === query.get("after_id"))
  const page = newest.slice(after + 1, after + 1 + limit)
  return json({
    data: page.map(batchObject),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: after + 1 + limit < newest.length
  })
}

const noSuch = (id: string): Given => refused(`No batch found with ID ${id}`, 404, "not_found_error")

/** Anthropic's batch API. If a key is given, all other keys are rejected. */
export const anthropic =
  (key: string | undefined): Api =>
  (request, books) => {
    const given = dialect.read(request).key
    if (given === undefined || (key !== undefined && given !== key)) {
      return refused("invalid x-api-key", 401, "authentication_error")
    }
    const { pathname, searchParams } = new URL(request.path, "http://localhost")
    const [, id, action] = /^\/v1\/messages\/batches(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(pathname) ?? []
    const route = `${request.method}${id === undefined ? "" : " :id"}${action === undefined ? "" : ` ${action}`}`
    switch (route) {
      case "POST":
        return create(request, books)
      case "GET":
        return list(searchParams, books)
    }
    const batch = route === "GET :id" ? books.look(id!) : books.batches.find((one) => one.id === id)
    if (batch === undefined) return noSuch(String(id))
    switch (route) {
      case "GET :id":
        return json(batchObject(batch))
      case "GET :id results":
        return batch.state === "under way" ? refused("The batch has not ended.") : { lines: results(batch, books) }
      case "POST :id cancel":
        if (batch.state !== "under way") return refused("The batch has ended.")
        batch.state = "cancelled"
        return json({ ...batchObject(batch), processing_status: "canceling" })
      default:
        return refused(`No such path: ${pathname}`, 404, "not_found_error")
    }
  }
