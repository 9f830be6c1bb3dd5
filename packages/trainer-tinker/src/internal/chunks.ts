/** Splits training requests into chunks that the server accepts, sends them in order, and merges their results. */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import type * as Protocol from "../Protocol.ts"
import * as Errors from "../TinkerError.ts"
import * as Json from "./json.ts"
import type { Place } from "./model.ts"
import * as Operations from "./operations.ts"
import * as Protobuf from "./protobuf.ts"
import type * as Submissions from "./submissions.ts"
import type * as Transport from "./transport.ts"

// -------------------------------------------------------------------------------------------------------------------
// Pieces
// -------------------------------------------------------------------------------------------------------------------

/** Approximate number of bytes per number in a request. */
const bytesPerNumber = 10

const weightOf = ({ chunks, inputs }: Protocol.Datum): number => {
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  return bytesPerNumber * (tokens + Object.values(inputs).reduce((sum, numbers) => sum + numbers.length, 0))
}

/** Splits a batch into chunks with a maximum number of data and bytes; a larger datum becomes a separate chunk. */
export const split = (
  batch: Protocol.Batch,
  limits: { readonly data: number; readonly bytes: number }
): ReadonlyArray<Protocol.Batch> => {
  const pieces: Array<Array<Protocol.Datum>> = []
  let bytes = 0
  for (const datum of batch.data) {
    const weight = weightOf(datum)
    const current = pieces.at(-1)
    if (current === undefined || current.length >= limits.data || bytes + weight > limits.bytes) {
      pieces.push([datum])
      bytes = weight
    } else {
      current.push(datum)
      bytes += weight
    }
  }
  return pieces.map((data) => ({ ...batch, data }))
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

type Kind = "forward" | "forward_backward"

const prepareJson = ({ connection, id }: Place, batch: Protocol.Batch, kind: Kind) => {
  const input = Json.batch(batch)
  const head = `{"model_id":${JSON.stringify(id)},"seq_id":`
  return {
    fingerprint: () => `${kind}${input}`,
    send: (sequence: number) =>
      Operations.take(connection, { path: kind, body: `${head}${sequence},"${kind}_input":${input}}` })
  }
}

const prepareProtobuf = ({ connection, id }: Place, batch: Protocol.Batch, kind: Kind) => {
  const body = (sequence: number) => Protobuf.batch(batch, { model: id, sequence, forwardOnly: kind === "forward" })
  return {
    fingerprint: () => createHash("sha256").update(body(0)).digest("hex"),
    send: (sequence: number) =>
      Operations.take(connection, {
        call: kind,
        path: "forward_backward",
        body: body(sequence),
        contentType: Protobuf.contentType
      })
  }
}

const read = (reply: Transport.Reply, kind: Kind): Effect.Effect<Protocol.BatchResult, Errors.TinkerError> => {
  const isProtobuf = reply.headers.get("content-type")?.includes("protobuf") === true
  const result = isProtobuf ? Protobuf.readBatch(reply.bytes) : Json.readBatch(reply.json)
  if (result !== undefined) return Effect.succeed(result)
  const detail = "the result has no outputs of the loss: check that the URL is a Tinker API server"
  return Effect.fail(Errors.make(kind, { _tag: "ServerFailure", detail }))
}

// -------------------------------------------------------------------------------------------------------------------
// Results
// -------------------------------------------------------------------------------------------------------------------

/** Combines the values of a metric over several chunks; the word after the colon in its name defines how. */
const combine = (name: string, values: ReadonlyArray<number>, counts: ReadonlyArray<number>): number => {
  const reduction = name.split(":").at(-1)
  if (reduction === "min") return Math.min(...values)
  if (reduction === "max") return Math.max(...values)
  const total = values.reduce((sum, value) => sum + value, 0)
  if (reduction !== "mean" && reduction !== "slack") return total
  const weighted = values.reduce((sum, value, index) => sum + value * (counts[index] ?? 0), 0)
  return weighted / counts.reduce((sum, count) => sum + count, 0)
}

/** Merges the results of chunks into the result for the batch. */
export const merge = (results: ReadonlyArray<Protocol.BatchResult>): Protocol.BatchResult => {
  const [first] = results
  if (results.length === 1 && first !== undefined) return first
  const names = new Set(results.flatMap(({ metrics }) => Object.keys(metrics)))
  const counts = results.map(({ logProbs }) => logProbs.length)
  const metrics = Object.fromEntries(
    Array.from(names, (name) => [
      name,
      combine(
        name,
        results.map(({ metrics }) => metrics[name] ?? 0),
        counts
      )
    ])
  )
  return { logProbs: results.flatMap(({ logProbs }) => logProbs), metrics, fields: first?.fields ?? [] }
}

/**
 * Sends a batch and waits for its result.
 *
 * **Details**
 *
 * All chunks are sent before waiting for a result. If only some of them were executed, the error reports it, because
 * their part of the gradient cannot be undone.
 */
export const run = (
  place: Place,
  batch: Protocol.Batch,
  kind: Kind
): Effect.Effect<Protocol.BatchResult, Errors.TinkerError> =>
  Effect.gen(function* () {
    const { connection, submissions } = place
    const isProtobuf = connection.wire === "protobuf"
    const prepare = isProtobuf ? prepareProtobuf : prepareJson
    const accept = isProtobuf ? `${Protobuf.contentType}, application/json` : "application/json"
    const pieces = split(batch, connection.chunk)
    const piece = (data: Protocol.Batch) =>
      Effect.gen(function* () {
        const prepared = (): Submissions.Prepared<Operations.Taken> => prepare(place, data, kind)
        const taken = yield* submissions.submit(kind, prepared)
        return yield* Effect.flatMap(Operations.result(connection, kind, taken, accept), (reply) => read(reply, kind))
      })
    const results = yield* Effect.all(
      pieces.map((data) => Effect.result(piece(data))),
      { concurrency: "unbounded" }
    )
    const failure = results.find((result) => result._tag === "Failure")
    if (failure?._tag !== "Failure") {
      return merge(results.flatMap((result) => (result._tag === "Success" ? [result.success] : [])))
    }
    if (results.every(({ _tag }) => _tag === "Failure")) return yield* failure.failure
    return yield* new Errors.TinkerError({ ...failure.failure, isPartial: true })
  })
