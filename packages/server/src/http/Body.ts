/**
 * Receives and parses JSON request bodies. Size limits apply while a body arrives, compressed bodies are decoded, and
 * large bodies are parsed over several event loop turns.
 */
import { createHash, type Hash, randomUUID } from "node:crypto"
import { IncomingMessage } from "node:http"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import { ApiError } from "../wire/ApiError.ts"
import * as Canonical from "../wire/Canonical.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import { JsonScan } from "../wire/JsonScan.ts"
import type { Limits } from "../wire/Limits.ts"
import * as Steps from "../wire/Steps.ts"
import * as Encoding from "./Encoding.ts"
import * as Entrance from "./Entrance.ts"
import type { Held } from "./InFlight.ts"
import * as JsonParser from "./JsonParser.ts"
import { Pieces } from "./Pieces.ts"
import * as Turns from "./Turns.ts"

/** The request's owner, its limits, and the counter for its bytes in flight. */
export interface Options {
  readonly limits: Limits
  readonly owner: string
  readonly held: Held
}

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError({ kind: "too-large", message: `The request body is too large. The maximum is ${maxBytes} bytes.` })

/** Number of bytes of a body that are received without pausing. Larger bodies take turns. */
const smallBytes = 2 ** 16

const unreadable = (): ApiError =>
  new ApiError({ kind: "invalid-request", message: "The request body cannot be read." })

/** A body that has been received but not yet parsed. */
export interface Received {
  readonly bytes: number
  /** Estimated memory of the parsed body, in bytes. Short values take much more memory than JSON. */
  readonly memory: number
  /** Hash of the bytes of a large body. */
  readonly digest?: string | undefined
  /** Parses the body. May be run only once. */
  readonly json: Effect.Effect<JsonObject, ApiError>
}

/**
 * Bodies larger than this number of bytes are hashed as they arrive, and their requests are processed in stages that
 * take turns.
 */
export const stagedBytes = 2 ** 16

/** Bodies larger than this number of bytes are received one chunk per event loop turn and parsed over several turns. */
export const largeBytes = 2 ** 18

/** Estimated memory of a value or key in addition to its characters, parsed and converted, in bytes. */
const valueBytes = 64

const backslash = 0x5c

/** Random prefix for placeholders, so that no text in a client's body can be mistaken for one. */
const secret = randomUUID()

const markOf = (index: number): string => `${secret}-${index}`

function* ofSmall(pieces: Pieces, buffers: ReadonlyArray<Buffer>): Steps.Steps<unknown> {
  const text = yield* pieces.text(buffers)
  try {
    return JSON.parse(text)
  } catch {
    return yield* JsonParser.parse([text])
  }
}

/** Returns a parsed value, or `undefined` if the JSON is not valid. */
function* valid(parsing: Steps.Steps<unknown>): Steps.Steps<{ readonly value: unknown } | undefined> {
  try {
    return { value: yield* parsing }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const objectOf = (value: unknown): JsonObject => {
  if (isObject(value)) return value
  throw new ApiError({ kind: "invalid-request", message: "The request body must be a JSON object." })
}

/** Parses a body in steps. Long inline images and files are decoded separately and bypass the JSON parser. */
function* read(pieces: Pieces, media: JsonScan["media"]): Steps.Steps<JsonObject> {
  const texts = new Map<string, string>()
  const rest: Array<Buffer> = []
  let at = 0
  for (const [from, to] of media) {
    rest.push(...pieces.slices(at, from))
    const slices = pieces.slices(from, to)
    // Text with escapes, such as PHP's escaped slashes, is left to the JSON parser.
    if (slices.some((slice) => slice.includes(backslash))) rest.push(...slices)
    else {
      const mark = markOf(texts.size)
      texts.set(mark, yield* pieces.text(slices))
      rest.push(Buffer.from(mark))
    }
    at = to
    yield
  }
  rest.push(...pieces.slices(at, pieces.size))
  const isLarge = pieces.size >= largeBytes
  let json = yield* valid(isLarge ? JsonParser.parse(pieces.decoded(rest), texts) : ofSmall(pieces, rest))
  if (media.length === 0 && pieces.isBroken) json = yield* valid(JsonParser.parse(pieces.latin()))
  pieces.clear()
  if (json === undefined) {
    throw new ApiError({ kind: "invalid-request", message: "The request body is not valid JSON." })
  }
  return objectOf(json.value)
}

const received = (pieces: Pieces, { media, values }: JsonScan, digest: string | undefined): Received => ({
  bytes: pieces.size,
  memory: pieces.size + values * valueBytes,
  digest,
  json: Steps.paced(() => read(pieces, media))
})

/**
 * Receives a body that arrived in one piece, such as a WebSocket frame. A large body is processed over several event loop
 * turns.
 */
export const ofBytes = Effect.fnUntraced(function* (
  bytes: Buffer,
  { held, limits, owner }: Options
): Effect.fn.Return<Received, ApiError> {
  const refused = held.take(owner, bytes.length)
  if (refused !== undefined) return yield* Effect.fail(refused)
  const pieces = new Pieces()
  const scan = new JsonScan(limits, Canonical.conversations)
  const hash = bytes.length >= stagedBytes ? createHash("sha256") : undefined
  for (let at = 0; at < bytes.length; at += largeBytes) {
    if (at > 0) yield* Effect.yieldNow
    const piece = bytes.subarray(at, at + largeBytes)
    const problem = scan.push(piece)
    if (problem !== undefined) return yield* Effect.fail(problem)
    hash?.update(piece)
  }
  pieces.add(bytes)
  return received(pieces, scan, hash?.digest("base64"))
})

type Done = (body: Effect.Effect<Received, ApiError>) => void

/** Creates a receiver for a body's chunks. It decodes them and checks the limits in a single pass. */
const receiver = (encodings: ReadonlyArray<string>, { held, limits, owner }: Options, done: Done) => {
  const { bodyBytes } = limits
  const pieces = new Pieces()
  const scan = new JsonScan(limits, Canonical.conversations)
  let size = 0
  let hash: Hash | undefined
  let isOver = false
  const finish = (body: Effect.Effect<Received, ApiError>) => {
    if (isOver) return
    isOver = true
    decoder?.close()
    plain.close()
    done(body)
  }
  const fail = (error: ApiError) => {
    // Releases a rejected body immediately, so that its bytes do not cause other requests to be rejected.
    held.release()
    pieces.clear()
    finish(Effect.fail(error))
  }
  const take = (piece: Buffer): boolean => {
    if (isOver) return false
    size += piece.length
    const problem = size > bodyBytes ? tooLarge(bodyBytes) : (held.take(owner, piece.length) ?? scan.push(piece))
    if (problem !== undefined) {
      fail(problem)
      return false
    }
    if (size >= stagedBytes) {
      hash ??= pieces.hash()
      hash.update(piece)
    }
    pieces.add(piece)
    return true
  }
  const end = () => finish(Effect.succeed(received(pieces, scan, hash?.digest("base64"))))
  const plain = Encoding.unlabelled(bodyBytes, { take, end, fail })
  const decoder = Encoding.decoder(encodings, bodyBytes, { ...plain, fail })
  let encoded = 0
  return {
    /** Accepts a chunk. If it returns `false`, the caller must wait for `more` before writing the next chunk. */
    write: (piece: Buffer, more: () => void): boolean => {
      if (isOver) return true
      encoded += piece.length
      if (decoder === undefined) {
        plain.take(piece)
        if (encoded <= smallBytes) return true
        Turns.next(more)
        return false
      }
      if (encoded <= bodyBytes) return decoder.write(piece, more)
      fail(tooLarge(bodyBytes))
      return true
    },
    end: () => (decoder === undefined ? plain.end() : decoder.end()),
    fail,
    close: () => {
      isOver = true
      decoder?.close()
      plain.close()
    }
  }
}

type Request = HttpServerRequest.HttpServerRequest

/** Receives a body on runtimes other than Node, through Effect's request stream. */
const generic = Effect.fnUntraced(function* (
  request: Request,
  encodings: ReadonlyArray<string>,
  options: Options
): Effect.fn.Return<Received, ApiError> {
  const body = yield* Deferred.make<Received, ApiError>()
  const into = receiver(encodings, options, (done) => Deferred.doneUnsafe(body, done))
  const reading = Stream.runForEach(request.stream, (piece) =>
    Effect.callback<void>((resume) => {
      if (into.write(Buffer.from(piece), () => resume(Effect.void))) resume(Effect.void)
    })
  )
  const ended = Effect.match(reading, { onFailure: () => into.fail(unreadable()), onSuccess: into.end })
  const all = Effect.raceFirst(Deferred.await(body), Effect.andThen(ended, Effect.never))
  return yield* Effect.ensuring(all, Effect.sync(into.close))
})

/**
 * Receives a body directly from Node's request, which costs a third of Effect's stream. Every model request has a body,
 * so this is a hot path.
 */
const ofNode = (
  message: IncomingMessage,
  encodings: ReadonlyArray<string>,
  options: Options
): Effect.Effect<Received, ApiError> =>
  Effect.callback((resume) => {
    const leave = () => message.off("data", take).off("end", end).off("close", fail).off("error", fail)
    const into = receiver(encodings, options, (body) => {
      leave()
      resume(body)
    })
    const take = (piece: Buffer) => {
      if (!into.write(piece, () => message.resume())) message.pause()
    }
    const end = () => {
      leave()
      into.end()
    }
    // Connections that are closed at once fail a few per turn.
    const fail = () => Entrance.stop(() => into.fail(unreadable()))
    message.on("data", take).on("end", end).on("close", fail).on("error", fail)
    return Effect.sync(() => {
      leave()
      into.close()
    })
  })

/** Receives a request body. Fails as soon as the body exceeds a limit. */
export const receive = (request: Request, options: Options): Effect.Effect<Received, ApiError> =>
  Effect.suspend(() => {
    const { headers, source } = request
    const { bodyBytes } = options.limits
    if (Number(headers["content-length"]) > bodyBytes) return Effect.fail(tooLarge(bodyBytes))
    const encodings = Encoding.read(headers["content-encoding"])
    if (encodings instanceof ApiError) return Effect.fail(encodings)
    // Requests with `Expect: 100-continue` are left to the HTTP server, which sends the interim response.
    const isPlain = source instanceof IncomingMessage && headers.expect === undefined && !source.readableEnded
    return isPlain ? ofNode(source, encodings, options) : generic(request, encodings, options)
  })
