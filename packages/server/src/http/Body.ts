/** The JSON of a request's body: bounded while it comes, its encoding undone, and read in turns of the event loop. */
import { randomUUID } from "node:crypto"
import { IncomingMessage } from "node:http"
import { VendorJson } from "@divisi/provider-kit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import { ApiError } from "../wire/ApiError.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import * as Encoding from "./Encoding.ts"
import type { Held } from "./InFlight.ts"
import { JsonScan } from "./JsonScan.ts"
import type { Limits } from "./Limits.ts"
import { Pieces } from "./Pieces.ts"
import * as Turns from "./Turns.ts"

/** The owner of the request and the counter for its bytes. */
export interface Options {
  readonly limits: Limits
  readonly owner: string
  readonly held: Held
}

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError({ kind: "too-large", message: `The request body is too large. The maximum is ${maxBytes} bytes.` })

/** A body of up to so many bytes is read as it comes. */
const smallBytes = 2 ** 16

const unreadable = (): ApiError =>
  new ApiError({ kind: "invalid-request", message: "The request body cannot be read." })

/** A body that was received, and is not read yet. */
export interface Received {
  readonly bytes: number
  /** Reads the body, once. */
  readonly json: Effect.Effect<JsonObject, ApiError>
}

/** Larger bodies are read in several turns of the event loop, and while they come, one piece in a turn. */
export const largeBytes = 2 ** 18

/** No client knows it, so no text of a body is taken for a mark. */
const secret = randomUUID()

const markOf = (index: number): string => `${secret}-${index}`

/** The value that a text is, without what some clients put around it: NUL, control characters, a byte order mark. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    const trimmed = VendorJson.trimmed(text)
    // A body with nothing around it is not read twice.
    if (trimmed.length < text.length) return parsed(trimmed)
    throw new ApiError({ kind: "invalid-request", message: "The request body is not valid JSON." })
  }
}

const objectOf = (value: unknown): JsonObject => {
  if (isObject(value)) return value
  throw new ApiError({ kind: "invalid-request", message: "The request body must be a JSON object." })
}

/** Puts texts where their marks are. */
const unmark = (root: unknown, texts: ReadonlyMap<string, string>): void => {
  const pending: Array<unknown> = [root]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== "object" || value === null) continue
    const parent = value as Record<string, unknown>
    for (const [key, child] of Object.entries(parent)) {
      if (typeof child === "object") pending.push(child)
      const text = typeof child === "string" && child.startsWith(secret) ? texts.get(child) : undefined
      if (text !== undefined) parent[key] = text
    }
  }
}

/**
 * Whether no byte beyond ASCII is UTF-8: Windows PowerShell sends the letters of its language as a byte each
 * (yzwijsen/chatgpt-powershell#4).
 */
const isBroken = (text: string): boolean => text.includes("\ufffd") && !/[^\0-\x7f\ufffd]/.test(text)

/** Reads a body whose long inline images and files the parser does not see. */
const read = Effect.fnUntraced(function* (
  pieces: Pieces,
  media: JsonScan["media"]
): Effect.fn.Return<JsonObject, ApiError> {
  const texts = new Map<string, string>()
  let json = ""
  let at = 0
  for (const [from, to] of media) {
    json += yield* pieces.text(at, from)
    const text = yield* pieces.text(from, to)
    // The parser reads escapes, such as the slashes of PHP.
    if (text.includes("\\")) json += text
    else {
      const mark = markOf(texts.size)
      texts.set(mark, text)
      json += mark
    }
    at = to
  }
  json += yield* pieces.text(at, pieces.size)
  if (media.length === 0 && isBroken(json)) json = pieces.latin() ?? json
  pieces.clear()
  if (media.length > 0) yield* Effect.yieldNow
  return yield* attempt(() => {
    const body = parsed(json)
    if (texts.size > 0) unmark(body, texts)
    return objectOf(body)
  })
})

const received = (pieces: Pieces, { media }: JsonScan): Received => ({
  bytes: pieces.size,
  json: Effect.suspend(() => read(pieces, media))
})

/** Runs what throws an `ApiError`. */
export const attempt = <A>(read: () => A): Effect.Effect<A, ApiError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      return error instanceof ApiError ? Effect.fail(error) : Effect.die(error)
    }
  })

/** Receives a text that has come as a whole, such as a frame; a large one in several turns of the event loop. */
export const ofText = Effect.fnUntraced(function* (
  text: string,
  { held, limits, owner }: Options
): Effect.fn.Return<Received, ApiError> {
  const bytes = Buffer.from(text)
  const scan = new JsonScan(limits)
  const pieces = new Pieces()
  const refused = held.take(owner, bytes.length)
  if (refused !== undefined) return yield* Effect.fail(refused)
  for (let at = 0; at < bytes.length; at += largeBytes) {
    if (at > 0) yield* Effect.yieldNow
    const problem = scan.push(bytes.subarray(at, at + largeBytes))
    if (problem !== undefined) return yield* Effect.fail(problem)
  }
  pieces.add(bytes)
  return received(pieces, scan)
})

type Done = (body: Effect.Effect<Received, ApiError>) => void

/** Receives the pieces of a body, encoded ones or not, and looks at each once. */
const receiver = (encodings: ReadonlyArray<string>, { held, limits, owner }: Options, done: Done) => {
  const { bodyBytes } = limits
  const pieces = new Pieces()
  const scan = new JsonScan(limits)
  let size = 0
  let isOver = false
  const finish = (body: Effect.Effect<Received, ApiError>) => {
    if (isOver) return
    isOver = true
    decoder?.close()
    plain.close()
    done(body)
  }
  const fail = (error: ApiError) => {
    // A refused body is released immediately, so that it does not cause the refusal of other requests.
    held.release()
    pieces.clear()
    finish(Effect.fail(error))
  }
  const take = (piece: Buffer): boolean => {
    if (isOver) return false
    size += piece.length
    const problem = size > bodyBytes ? tooLarge(bodyBytes) : (held.take(owner, piece.length) ?? scan.push(piece))
    if (problem !== undefined) fail(problem)
    else pieces.add(piece)
    return problem === undefined
  }
  const end = () => finish(Effect.succeed(received(pieces, scan)))
  const plain = Encoding.unlabelled(bodyBytes, { take, end, fail })
  const decoder = Encoding.decoder(encodings, bodyBytes, { ...plain, fail })
  let encoded = 0
  return {
    /** Takes a piece; with `false` the next one has to wait until `more` is called. */
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

/** As other servers of Effect's applications give it. */
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

/** Bytes of a refused body to read and discard, so that its client can read the error and reuse its connection. */
const discardedBytes = 64 * 2 ** 20

const discard = (message: IncomingMessage): void => {
  let left = discardedBytes
  message.on("data", (piece: Buffer) => {
    left -= piece.length
    if (left < 0) message.destroy()
    else {
      message.pause()
      Turns.next(() => message.resume())
    }
  })
  message.resume()
}

/** Node's own request is read as it is, at a third of the cost: every request of a model has a body. */
const ofNode = (
  message: IncomingMessage,
  encodings: ReadonlyArray<string>,
  options: Options
): Effect.Effect<Received, ApiError> =>
  Effect.callback((resume) => {
    const leave = () => message.off("data", take).off("end", end).off("close", fail).off("error", fail)
    const into = receiver(encodings, options, (body) => {
      leave()
      if (!message.readableEnded) discard(message)
      resume(body)
    })
    const take = (piece: Buffer) => {
      if (!into.write(piece, () => message.resume())) message.pause()
    }
    const end = () => {
      leave()
      into.end()
    }
    const fail = () => into.fail(unreadable())
    message.on("data", take).on("end", end).on("close", fail).on("error", fail)
    return Effect.sync(() => {
      leave()
      into.close()
    })
  })

/** Receives a body. Fails with the first limit that it exceeds, while it comes. */
export const receive = (request: Request, options: Options): Effect.Effect<Received, ApiError> =>
  Effect.suspend(() => {
    const { headers, source } = request
    const { bodyBytes } = options.limits
    if (Number(headers["content-length"]) > bodyBytes) return Effect.fail(tooLarge(bodyBytes))
    const encodings = Encoding.read(headers["content-encoding"])
    if (encodings instanceof ApiError) return Effect.fail(encodings)
    // The HTTP server itself answers `Expect: 100-continue`.
    const isPlain = source instanceof IncomingMessage && headers.expect === undefined && !source.readableEnded
    return isPlain ? ofNode(source, encodings, options) : generic(request, encodings, options)
  })
