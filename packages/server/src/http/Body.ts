/** The text of a request's body: bounded while it comes, and its encoding undone. */
import { IncomingMessage } from "node:http"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import { ApiError } from "../wire/ApiError.ts"
import * as Encoding from "./Encoding.ts"
import type { Held } from "./InFlight.ts"
import { JsonScan } from "./JsonScan.ts"
import type { Limits } from "./Limits.ts"

/** Whose body is read, and where its bytes are counted. */
export interface Options {
  readonly limits: Limits
  readonly owner: string
  readonly held: Held
}

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError({ kind: "too-large", message: `The body of a request may have ${maxBytes} bytes at most.` })

const unreadable = (): ApiError =>
  new ApiError({ kind: "invalid-request", message: "The body of the request cannot be read." })

const decode = (pieces: ReadonlyArray<Buffer>): string => {
  const text = (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString("utf8")
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

type Done = (body: Effect.Effect<string, ApiError>) => void

/** Receives the pieces of a body, encoded ones or not, and looks at each once. */
const receiver = (encodings: ReadonlyArray<string>, { held, limits, owner }: Options, done: Done) => {
  const { bodyBytes } = limits
  const pieces: Array<Buffer> = []
  const scan = new JsonScan(limits)
  let size = 0
  let isOver = false
  const finish = (body: Effect.Effect<string, ApiError>) => {
    if (isOver) return
    isOver = true
    decoder?.close()
    done(body)
  }
  const fail = (error: ApiError) => {
    // What is refused is dropped at once, so that it does not refuse others.
    held.release()
    pieces.length = 0
    finish(Effect.fail(error))
  }
  const take = (piece: Buffer): boolean => {
    if (isOver) return false
    size += piece.length
    const problem = size > bodyBytes ? tooLarge(bodyBytes) : (held.take(owner, piece.length) ?? scan.push(piece))
    if (problem !== undefined) fail(problem)
    else pieces.push(piece)
    return problem === undefined
  }
  const end = () => finish(Effect.suspend(() => Effect.succeed(decode(pieces))))
  const decoder = Encoding.decoder(encodings, bodyBytes, { take, end, fail })
  let encoded = 0
  return {
    /** Takes a piece; with `false` the next one has to wait until `more` is called. */
    write: (piece: Buffer, more: () => void): boolean => {
      if (isOver) return true
      if (decoder === undefined) return take(piece) || true
      encoded += piece.length
      if (encoded <= bodyBytes) return decoder.write(piece, more)
      fail(tooLarge(bodyBytes))
      return true
    },
    end: () => (decoder === undefined ? end() : decoder.end()),
    fail,
    close: () => {
      isOver = true
      decoder?.close()
    }
  }
}

type Request = HttpServerRequest.HttpServerRequest

/** As other servers of Effect's applications give it. */
const generic = Effect.fnUntraced(function* (
  request: Request,
  encodings: ReadonlyArray<string>,
  options: Options
): Effect.fn.Return<string, ApiError> {
  const body = yield* Deferred.make<string, ApiError>()
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

/** So much of a body that was refused is let pass, so that its client reads why and can go on using its connection. */
const discardedBytes = 64 * 2 ** 20

const discard = (message: IncomingMessage): void => {
  let left = discardedBytes
  message.on("data", (piece: Buffer) => {
    left -= piece.length
    if (left < 0) message.destroy()
  })
  message.resume()
}

/** Node's own request is read as it is, at a third of the cost: every request of a model has a body. */
const ofNode = (
  message: IncomingMessage,
  encodings: ReadonlyArray<string>,
  options: Options
): Effect.Effect<string, ApiError> =>
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

/** The text of a body. Fails with the first limit that it exceeds, while it comes. */
export const text = (request: Request, options: Options): Effect.Effect<string, ApiError> =>
  Effect.suspend(() => {
    const { headers, source } = request
    const { bodyBytes } = options.limits
    if (Number(headers["content-length"]) > bodyBytes) return Effect.fail(tooLarge(bodyBytes))
    const encodings = Encoding.read(headers["content-encoding"])
    if (encodings instanceof ApiError) return Effect.fail(encodings)
    // A client that waits to be told to continue is told so by whoever serves.
    const isPlain = source instanceof IncomingMessage && headers.expect === undefined && !source.readableEnded
    return isPlain ? ofNode(source, encodings, options) : generic(request, encodings, options)
  })
