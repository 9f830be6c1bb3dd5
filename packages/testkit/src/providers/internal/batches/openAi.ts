/**
 * OpenAI's Batch API, with the required part of its Files API.
 *
 * Sources: https://developers.openai.com/api/docs/guides/batch, the schemas Batch, BatchRequestInput and
 * BatchRequestOutput of https://github.com/openai/openai-openapi, and npm openai 7.59.0, resources/batches.d.ts.
 */
import type { Api, Batch, Books, Given, Item } from "../../BatchServer.ts"
import { bearer, type Captured, type Dialect, fields, parsed } from "../../Dialect.ts"
import * as OpenAiChat from "../../OpenAiChat.ts"
import * as OpenAiResponses from "../../OpenAiResponses.ts"
import type { Refusal } from "../../Script.ts"

const dialects: Readonly<Record<string, Dialect>> = {
  "/v1/responses": OpenAiResponses.dialect,
  "/v1/chat/completions": OpenAiChat.dialect
}

const dialectOf = (endpoint: string): Dialect => {
  const dialect = dialects[endpoint]
  if (dialect === undefined) throw new Error(`This server takes no batches of ${endpoint}.`)
  return dialect
}

const json = (value: unknown, status = 200): Given => ({ status, body: JSON.stringify(value) })

const refused = (message: string, status = 400): Given =>
  json({ error: { message, type: "invalid_request_error", param: null, code: null } }, status)

const seconds = (millis: number): number => Math.floor(millis / 1000)

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Validates the lines of a file as the vendor does. Returns an error message or the items. */
const itemsOf = (text: string, endpoint: string): ReadonlyArray<Item> | string => {
  const lines = text.split("\n").filter((line) => line !== "")
  const items: Array<Item> = []
  const ids = new Set<string>()
  const models = new Set<unknown>()
  for (const line of lines) {
    const { body, custom_id: id, method, url } = fields(parsed(line))
    if (typeof id !== "string" || id === "") return "Missing required parameter: 'custom_id'."
    if (ids.has(id)) return `The custom_id '${id}' for this request is a duplicate.`
    if (method !== "POST" || url !== endpoint) return `The URL provided for this request does not match '${endpoint}'.`
    if (fields(body).stream !== undefined) return "Streaming is not supported in the Batch API."
    ids.add(id)
    models.add(fields(body).model)
    const captured: Captured = { method: "POST", path: endpoint, headers: {}, text: "", body }
    items.push({ id, sent: dialectOf(endpoint).read(captured) })
  }
  if (models.size > 1) return "All requests in a batch must use the same model."
  return items.length === 0 ? "The batch is empty." : items
}

// -------------------------------------------------------------------------------------------------------------------
// Results
// -------------------------------------------------------------------------------------------------------------------

const requestOf = (id: string) => ({ id: `batch_req_${id}`, custom_id: id })

const refusalLine = ({ endpoint }: Batch, { id }: Item, refusal: Refusal) => {
  const reply = dialectOf(endpoint).refuse(refusal, false)
  const body = parsed(reply?.body)
  return { ...requestOf(id), response: { status_code: reply?.status, request_id: "req_01", body }, error: null }
}

const codeLine = ({ id }: Item, code: string, message: string) => ({
  ...requestOf(id),
  response: null,
  error: { code, message }
})

/**
 * Returns the lines of the output file, starting with the last request, because the vendor does not guarantee their
 * order.
 */
const outputs = function* (batch: Batch, { fate }: Books) {
  if (batch.state === "cancelled") return
  const dialect = dialectOf(batch.endpoint)
  for (const item of batch.items.toReversed()) {
    const given = fate(item)
    if (typeof given === "string" || given.type !== "answer") continue
    const body = dialect.whole(given, given.model ?? item.sent.model ?? "unknown")
    yield { ...requestOf(item.id), response: { status_code: 200, request_id: "req_01", body }, error: null }
  }
}

const errors = function* (batch: Batch, { fate }: Books) {
  for (const item of batch.items) {
    if (batch.state === "cancelled") {
      yield codeLine(item, "batch_cancelled", "This request was cancelled.")
      continue
    }
    const given = fate(item)
    if (given === "expired") {
      const message = "This request could not be executed before the completion window expired."
      yield codeLine(item, "batch_expired", message)
    } else if (given !== "forgotten" && given.type === "refusal") yield refusalLine(batch, item, given)
  }
}

const fileOf = (name: string, books: Books, lines: () => Iterable<unknown>): string | undefined => {
  const isEmpty = lines()[Symbol.iterator]().next().done === true
  if (isEmpty) return undefined
  books.files.set(name, lines)
  return name
}

const statusOf = ({ failure, items, state }: Batch, { fate }: Books): string => {
  if (failure !== undefined) return "failed"
  if (state === "cancelled") return "cancelled"
  if (state === "under way") return "in_progress"
  return items.some((item) => fate(item) === "expired") ? "expired" : "completed"
}

const batchObject = (batch: Batch, books: Books) => {
  const { createdAt, endpoint, failure, id, items, metadata, state } = batch
  const status = statusOf(batch, books)
  const isOver = state !== "under way" && failure === undefined
  return {
    id,
    object: "batch",
    endpoint,
    errors:
      failure === undefined
        ? null
        : { object: "list", data: [{ code: "invalid_request", message: failure, param: null, line: 1 }] },
    input_file_id: `file-in-${id}`,
    completion_window: "24h",
    status,
    output_file_id: isOver ? fileOf(`file-out-${id}`, books, () => outputs(batch, books)) : undefined,
    error_file_id: isOver ? fileOf(`file-err-${id}`, books, () => errors(batch, books)) : undefined,
    created_at: seconds(createdAt),
    expires_at: seconds(createdAt) + 86_400,
    request_counts: { total: items.length, completed: 0, failed: 0 },
    metadata
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Routes
// -------------------------------------------------------------------------------------------------------------------

const upload = async (request: Parameters<Api>[0], { uploads }: Books): Promise<Given> => {
  const form = await new Response(request.bytes, { headers: request.headers }).formData()
  const file = form.get("file")
  if (form.get("purpose") !== "batch" || typeof file === "string" || file === null) return refused("Invalid upload.")
  const id = `file-${uploads.size + 1}`
  uploads.set(id, await file.text())
  return json({
    id,
    object: "file",
    bytes: file.size,
    created_at: seconds(Date.now()),
    filename: file.name,
    purpose: "batch",
    status: "processed"
  })
}

const create = ({ body }: Captured, books: Books): Given => {
  const { completion_window, endpoint, input_file_id, metadata } = fields(body)
  const text = books.uploads.get(String(input_file_id))
  if (text === undefined) return refused(`No such File object: ${input_file_id}`, 404)
  if (completion_window !== "24h") return refused("Invalid value for 'completion_window'.")
  if (typeof endpoint !== "string" || dialects[endpoint] === undefined) return refused("Invalid 'endpoint'.")
  const items = itemsOf(text, endpoint)
  const id = `batch_${books.batches.length + 1}`
  const common = { id, metadata: metadata ?? null, endpoint }
  const batch = books.add(typeof items === "string" ? { ...common, items: [], failure: items } : { ...common, items })
  return json(batchObject(batch, books))
}

const list = (query: URLSearchParams, books: Books): Given => {
  const limit = Number(query.get("limit") ?? 20)
  const newest = books.batches.toReversed()
  const after = newest.findIndex(({ id }) => id === query.get("after"))
  const page = newest.slice(after + 1, after + 1 + limit)
  return json({
    object: "list",
    data: page.map((batch) => batchObject(batch, books)),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: after + 1 + limit < newest.length
  })
}

const noSuch = (id: string): Given => refused(`No batch found with id '${id}'.`, 404)

/** OpenAI's batch API. If a key is given, all other keys are rejected. */
export const openAi =
  (key: string | undefined): Api =>
  (request, books) => {
    if (bearer(request) === undefined || (key !== undefined && bearer(request) !== key)) {
      const message = `Incorrect API key provided: ${bearer(request)}. You can find your API key at https://platform.openai.com/account/api-keys.`
      return json({ error: { message, type: "invalid_request_error", param: null, code: "invalid_api_key" } }, 401)
    }
    const { pathname, searchParams } = new URL(request.path, "http://localhost")
    const [, , resource, id = "", action] = pathname.split("/")
    const route = `${request.method} ${resource}${id === "" ? "" : "/:id"}${action === undefined ? "" : `/${action}`}`
    switch (route) {
      case "POST files":
        return upload(request, books)
      case "GET files/:id/content": {
        const lines = books.files.get(id)
        return lines === undefined ? refused(`No such File object: ${id}`, 404) : { lines: lines() }
      }
      case "POST batches":
        return create(request, books)
      case "GET batches":
        return list(searchParams, books)
      case "GET batches/:id": {
        const batch = books.look(id)
        return batch === undefined ? noSuch(id) : json(batchObject(batch, books))
      }
      case "POST batches/:id/cancel": {
        const batch = books.batches.find((one) => one.id === id)
        if (batch === undefined) return noSuch(id)
        if (batch.state !== "under way")
          return refused(`Cannot cancel a batch with status '${statusOf(batch, books)}'.`)
        batch.state = "cancelled"
        return json({ ...batchObject(batch, books), status: "cancelling" })
      }
      default:
        return refused(`Unknown request URL: ${request.method} ${pathname}.`, 404)
    }
  }
