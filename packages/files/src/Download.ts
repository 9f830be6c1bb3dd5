/**
 * Downloads files. A file is downloaded once for all processes, resumed after an interruption, and never left
 * incomplete.
 *
 * Bytes are written to `<file>.part`, and the server's description of the file to `<file>.part.json`. The file is
 * renamed after its length and checksum have been verified.
 */

import fs from "node:fs/promises"
import path from "node:path"
import { Callback } from "@divisi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Checksum from "./Checksum.ts"
import { detailOf, type FileError, fromUnknown } from "./FileError.ts"
import * as Lock from "./Lock.ts"
import * as OwnerOnly from "./OwnerOnly.ts"
import * as WholeFile from "./WholeFile.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The progress of a download, in bytes. */
export interface Progress {
  readonly file: string
  readonly received: number
  /** Total size in bytes. Omitted if the server does not report it. */
  readonly total?: number | undefined
}

/** The source and destination of a download. */
export interface Request {
  readonly url: string
  readonly file: string
  /** Access token. Sent only to the origin of `url`, never to a redirect target at another origin. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** Expected SHA-256 of the file. Defaults to the checksum reported by the server, if any. */
  readonly sha256?: string | undefined
  /** ASCII text that the file must start with, such as `GGUF`, so that an error page is not accepted as the file. */
  readonly magic?: string | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** The result of a download. */
export interface Downloaded {
  /** The commit served by the hub, if reported. */
  readonly commit?: string | undefined
}

/** The server's description of a file. */
interface Promised extends Downloaded {
  readonly url: string
  /** The entity tag, which changes with the file. */
  readonly etag?: string | undefined
  readonly size?: number | undefined
  readonly sha256?: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The reason why a file could not be downloaded. */
export type DownloadErrorReason =
  /** The server is unreachable, or the connection breaks repeatedly. */
  | { readonly _tag: "Offline"; readonly detail: string }
  /** The server refused the request. */
  | { readonly _tag: "Refused"; readonly status: number }
  /** The file does not match the server's description or the request. */
  | { readonly _tag: "Mismatch"; readonly what: "checksum" | "length" | "kind" | "address"; readonly detail: string }
  /** The file or its folder cannot be written. */
  | { readonly _tag: "Folder"; readonly detail: string }

const refusals: Readonly<Record<number, string>> = {
  401: "it needs a token. Set HF_TOKEN to a token with read access, and accept the license on the model's page",
  403: "the token has no access. Accept the license on the model's page, or set HF_TOKEN to another token",
  404: "the file does not exist. Check the URL",
  429: "too many requests. Wait, or set HF_TOKEN"
}

const explain = (url: string, reason: DownloadErrorReason): string => {
  switch (reason._tag) {
    case "Offline":
      return `Cannot connect to ${url} (${reason.detail}). Check the connection.`
    case "Refused":
      return `${url} returned status ${reason.status}: ${refusals[reason.status] ?? "try again later"}.`
    case "Mismatch":
      return `${url} sent unexpected content (${reason.detail}). The partial download was discarded. Try again.`
    case "Folder":
      return reason.detail
  }
}

/** Raised when a file could not be downloaded. */
export class DownloadError extends Data.TaggedError("DownloadError")<{
  readonly url: string
  readonly reason: DownloadErrorReason
}> {
  override get message(): string {
    return explain(this.url, this.reason)
  }
}

const failed = ({ url }: Request, reason: DownloadErrorReason) => new DownloadError({ url, reason })

const unresolved = "the host name cannot be resolved"

/** The codes of a failed connection in words. */
const connections: Readonly<Record<string, string>> = {
  EAI_AGAIN: unresolved,
  ENOTFOUND: unresolved,
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed",
  ETIMEDOUT: "the server did not respond in time",
  UND_ERR_CONNECT_TIMEOUT: "the server did not respond in time",
  ENETUNREACH: "the network is unreachable",
  EHOSTUNREACH: "the host is unreachable"
}

const offline = (request: Request) => (error: HttpClientError) => {
  const { cause } = (error.reason.cause ?? {}) as {
    readonly cause?: { readonly code?: string; readonly message?: string }
  }
  const detail = connections[cause?.code ?? ""] ?? cause?.message ?? cause?.code ?? detailOf(error)
  return failed(request, { _tag: "Offline", detail })
}

const onDisk = <A, R>(request: Request, effect: Effect.Effect<A, FileError | Lock.LockError, R>) =>
  Effect.mapError(effect, ({ message }) => failed(request, { _tag: "Folder", detail: message }))

const write = <A>(request: Request, run: () => Promise<A>) =>
  onDisk(request, Effect.tryPromise({ try: run, catch: fromUnknown(request.file, "written") }))

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const mostRedirects = 5

type Headers = Readonly<Record<string, string | undefined>>

const sha256Of = (etag: string | undefined) => /^"?([0-9a-f]{64})"?$/i.exec(etag ?? "")?.[1]?.toLowerCase()

const strong = (etag: string | undefined) => (etag?.startsWith("W/") === true ? undefined : etag)

const commitOf = (headers: Headers) => /^[0-9a-f]{40,64}$/.exec(headers["x-repo-commit"] ?? "")?.[0]

const promisedBy = ({ url }: Request, first: Headers, { headers, status }: HttpClientResponse): Promised => {
  const range = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1]
  const size = first["x-linked-size"] ?? range ?? (status === 200 ? headers["content-length"] : undefined)
  return {
    url,
    etag: strong(first["x-linked-etag"] ?? headers.etag),
    size: size === undefined ? undefined : Number(size),
    sha256: sha256Of(first["x-linked-etag"]),
    commit: commitOf(first) ?? commitOf(headers)
  }
}

/** Requests a file from an offset. Redirects are followed manually, so that other origins do not receive the token. */
const ask = Effect.fnUntraced(function* (request: Request, from: number) {
  const { token, url } = request
  const { origin } = new URL(url)
  let target = new URL(url)
  let first: Headers | undefined
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const get = HttpClientRequest.get(target).pipe(
      // Requests the file without compression: compressed responses have a different length and do not support ranges.
      HttpClientRequest.setHeaders({ "accept-encoding": "identity", ...(from > 0 && { range: `bytes=${from}-` }) })
    )
    const isHome = token !== undefined && target.origin === origin
    const response = yield* Effect.mapError(
      HttpClient.execute(isHome ? HttpClientRequest.bearerToken(get, token) : get),
      offline(request)
    )
    first ??= response.headers
    const { location } = response.headers
    if (response.status < 300 || response.status > 399 || location === undefined) return { first, response }
    target = new URL(location, target)
  }
  const detail = `more than ${mostRedirects} redirects`
  return yield* failed(request, { _tag: "Mismatch", what: "address", detail })
})

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

/** Returns the paths of the files that hold the data of an incomplete download. */
export const partsOf = (file: string) => ({ bytes: `${file}.part`, promised: `${file}.part.json` })

const sizeOf = (file: string) => Effect.promise(async () => (await fs.stat(file).catch(() => undefined))?.size ?? 0)

const forget = (request: Request) => {
  const { bytes, promised } = partsOf(request.file)
  return write(request, () => Promise.all([fs.rm(bytes, { force: true }), fs.rm(promised, { force: true })]))
}

/** Returns the description stored by the last attempt, if it is for the same URL. */
const remembered = ({ file, url }: Request) =>
  Effect.promise(async (): Promise<Promised | undefined> => {
    try {
      const promised: Promised = JSON.parse(await fs.readFile(partsOf(file).promised, "utf8"))
      return promised.url === url ? promised : undefined
    } catch {
      return undefined
    }
  })

/** Without an entity tag, it is unknown whether the remaining bytes belong to the same version of the file. */
const isSame = (before: Promised | undefined, now: Promised): boolean =>
  before?.etag !== undefined && before.etag === now.etag && before.size === now.size

/** Appends a response after the first `from` bytes, and returns whether it was complete. */
const receive = (request: Request, response: HttpClientResponse, from: number, total: number | undefined) => {
  const { file, onProgress } = request
  let received = from
  return Effect.acquireUseRelease(
    write(request, () => fs.open(partsOf(file).bytes, from > 0 ? "a" : "w", OwnerOnly.fileMode)),
    (handle) =>
      Stream.runForEach(response.stream, (piece) =>
        Effect.map(
          write(request, () => handle.writeFile(piece)),
          () => {
            received += piece.length
            Callback.notifyLogged("onProgress", () => onProgress?.({ file, received, total }))
          }
        )
      ).pipe(
        Effect.as(true),
        // The connection was interrupted. The received bytes are retained.
        Effect.catchTag("HttpClientError", () => Effect.succeed(false)),
        Effect.tap(write(request, () => handle.sync()))
      ),
    (handle) => Effect.promise(() => handle.close())
  )
}

/** Makes one request: from the start, or from the end of the partial file. */
const attempt = Effect.fnUntraced(function* (
  request: Request
): Effect.fn.Return<{ readonly promised: Promised; readonly isEnd: boolean }, DownloadError, HttpClient.HttpClient> {
  const { bytes, promised: note } = partsOf(request.file)
  const before = yield* remembered(request)
  const here = before?.etag === undefined ? 0 : yield* sizeOf(bytes)
  if (before !== undefined && here > 0 && here === before.size) return { promised: before, isEnd: true }
  const { first, response } = yield* ask(request, here)
  const promised = promisedBy(request, first, response)
  const startsAt = Number(/^bytes (\d+)-/.exec(response.headers["content-range"] ?? "")?.[1])
  const goesOn = response.status === 206 && startsAt === here && isSame(before, promised)
  if (here > 0 && !goesOn && (response.status === 206 || response.status === 416)) {
    yield* forget(request)
    return yield* attempt(request)
  }
  if (response.status < 200 || response.status > 299) {
    return yield* failed(request, { _tag: "Refused", status: response.status })
  }
  yield* write(request, () => fs.writeFile(note, JSON.stringify(promised), { mode: OwnerOnly.fileMode }))
  return { promised, isEnd: yield* receive(request, response, goesOn ? here : 0, promised.size) }
})

// -------------------------------------------------------------------------------------------------------------------
// The whole
// -------------------------------------------------------------------------------------------------------------------

const beginOf = (request: Request, length: number) =>
  write(request, async () => {
    const handle = await fs.open(partsOf(request.file).bytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0).finally(() => handle.close())
    return buffer.subarray(0, bytesRead).toString("latin1")
  })

/** Compares the received file with its description, and discards it if they differ. */
const check = Effect.fnUntraced(function* (request: Request, promised: Promised) {
  const { magic, sha256 = promised.sha256 } = request
  const { bytes } = partsOf(request.file)
  const refuse = (what: "checksum" | "length" | "kind", detail: string) =>
    Effect.andThen(forget(request), failed(request, { _tag: "Mismatch", what, detail }))
  const here = yield* sizeOf(bytes)
  if (promised.size !== undefined && here !== promised.size) {
    return yield* refuse("length", `${here} bytes instead of ${promised.size}`)
  }
  if (magic !== undefined && (yield* beginOf(request, magic.length)) !== magic) {
    return yield* refuse("kind", `not a ${magic} file`)
  }
  if (sha256 === undefined) return
  const found = yield* onDisk(request, Checksum.ofFile(bytes))
  if (found.sha256 !== sha256) return yield* refuse("checksum", `its SHA-256 is ${found.sha256} instead of ${sha256}`)
})

/** Maximum number of consecutive requests without progress. */
const patience = 3

const brokenOff = Effect.fnUntraced(function* (request: Request, here: number, { etag, size }: Promised) {
  // Without an `ETag`, the download cannot be resumed.
  if (etag === undefined) yield* forget(request)
  const detail = `the connection was lost after ${here} of ${size ?? "an unknown number of"} bytes`
  return yield* failed(request, { _tag: "Offline", detail })
})

/** Retries while requests make progress. */
const fetchAll = Effect.fnUntraced(function* (request: Request) {
  const { bytes } = partsOf(request.file)
  let most = yield* sizeOf(bytes)
  for (let inVain = 0; ; ) {
    const { isEnd, promised } = yield* attempt(request)
    const here = yield* sizeOf(bytes)
    if (promised.size === undefined ? isEnd : here >= promised.size) {
      yield* check(request, promised)
      return promised
    }
    inVain = here > most ? 0 : inVain + 1
    most = Math.max(most, here)
    if (inVain >= patience) return yield* brokenOff(request, here, promised)
  }
})

const isThere = (file: string) =>
  Effect.promise(async () => (await fs.stat(file).catch(() => undefined))?.isFile() ?? false)

const finish = (request: Request) => {
  const { bytes, promised } = partsOf(request.file)
  return write(request, async () => {
    await fs.rename(bytes, request.file)
    await fs.rm(promised, { force: true })
  }).pipe(Effect.andThen(onDisk(request, WholeFile.syncFolder(path.dirname(request.file)))))
}

/**
 * Downloads a file. An existing file is neither requested nor checked: the result is `undefined`.
 *
 * **Details**
 *
 * An interrupted download resumes where it stopped if the server's file is unchanged according to a strong `ETag`;
 * otherwise it restarts. The file is renamed to its final name only after its length and checksum have been verified.
 * If several processes request the same file, one downloads it and the others wait. If the download is interrupted, the
 * received bytes are retained.
 */
export const file = (request: Request): Effect.Effect<Downloaded | undefined, DownloadError> =>
  Effect.gen(function* () {
    if (yield* isThere(request.file)) return undefined
    yield* onDisk(request, Lock.hold(`${request.file}.lock`, { wait: true }))
    // Another process may have been quicker.
    if (yield* isThere(request.file)) return undefined
    const { commit } = yield* fetchAll(request)
    yield* finish(request)
    return { commit }
  }).pipe(
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    // Prevents our trace ids from appearing in third-party logs.
    Effect.provideService(HttpClient.TracerPropagationEnabled, false)
  )
