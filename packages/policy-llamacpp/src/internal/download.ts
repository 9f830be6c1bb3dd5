/**
 * Downloads of large files: once for all processes, going on where the last attempt broke off, whole or not at all.
 *
 * Bytes are written to `<file>.part`, with what the server says of them in `<file>.part.json`, and renamed when their
 * number and their checksum are right. node-llama-cpp has a downloader, too; it has no checksum and no lock, and takes
 * a file that was cut for one that is whole.
 */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import fs from "node:fs/promises"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { setTimeout as wait } from "node:timers/promises"
import * as Errors from "../LlamaCppError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How far a download has come, in bytes. */
export interface Progress {
  readonly file: string
  readonly received: number
  /** Absent where the server does not say. */
  readonly total?: number
}

/** What to download, and where to. */
export interface Request {
  readonly url: string
  readonly file: string
  /** Sent to the host of `url` alone. */
  readonly token?: string
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
}

/** What a server says of a file. */
interface Promised {
  readonly url: string
  /** Changes when the file does. */
  readonly etag?: string
  readonly size?: number
  readonly sha256?: string
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const mostRedirects = 5

const nameOf = (url: string): string => path.posix.basename(new URL(url).pathname)

const unreachable = (url: string, cause: unknown) => {
  const { cause: inner } = cause as { readonly cause?: { readonly code?: string; readonly message?: string } }
  return Errors.make(nameOf(url), {
    _tag: "Offline",
    url,
    detail: inner?.code ?? inner?.message ?? Errors.detailOf(cause)
  })
}

const sha256Of = (etag: string | null): string | undefined =>
  /^"?([0-9a-f]{64})"?$/i.exec(etag ?? "")?.[1]?.toLowerCase()

const strong = (etag: string | null): string | undefined => (etag === null || etag.startsWith("W/") ? undefined : etag)

const promisedBy = (url: string, first: Headers, response: Response): Promised => {
  const range = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1]
  const length = response.status === 200 ? response.headers.get("content-length") : undefined
  const size = first.get("x-linked-size") ?? range ?? length
  const etag = strong(first.get("x-linked-etag") ?? response.headers.get("etag"))
  const sha256 = sha256Of(first.get("x-linked-etag"))
  return {
    url,
    ...(etag === undefined ? {} : { etag }),
    ...(size === null || size === undefined ? {} : { size: Number(size) }),
    ...(sha256 === undefined ? {} : { sha256 })
  }
}

/** Asks for a file from an offset on, and follows redirections; those that leave the host are not told the token. */
const ask = async ({ signal, token, url }: Request, from: number) => {
  let target = url
  let first: Headers | undefined
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const isHome = new URL(target).host === new URL(url).host
    const response = await fetch(target, {
      redirect: "manual",
      headers: {
        // Bytes as they are: what is compressed on the way has another length, and no ranges.
        "accept-encoding": "identity",
        ...(from > 0 ? { range: `bytes=${from}-` } : {}),
        ...(token !== undefined && isHome ? { authorization: `Bearer ${token}` } : {})
      },
      ...(signal === undefined ? {} : { signal })
    }).catch((cause: unknown) => {
      throw signal?.aborted ? cause : unreachable(url, cause)
    })
    first ??= response.headers
    const location = response.headers.get("location")
    if (response.status < 300 || response.status >= 400 || location === null) return { response, first }
    await response.body?.cancel()
    target = new URL(location, target).href
  }
  throw Errors.make(nameOf(url), { _tag: "Download", url, detail: "it redirects without end" })
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

const partOf = (file: string) => ({ bytes: `${file}.part`, promised: `${file}.part.json` })

const sizeOf = async (file: string): Promise<number> => (await fs.stat(file).catch(() => undefined))?.size ?? 0

const forget = async (file: string): Promise<void> => {
  const part = partOf(file)
  await Promise.all([fs.rm(part.bytes, { force: true }), fs.rm(part.promised, { force: true })])
}

/** What the last attempt was promised, where that is known and about the same address. */
const remembered = async ({ file, url }: Request): Promise<Promised | undefined> => {
  try {
    const promised: Promised = JSON.parse(await fs.readFile(partOf(file).promised, "utf8"))
    return promised.url === url ? promised : undefined
  } catch {
    return undefined
  }
}

/** Without a mark that changes with the file, nobody knows whether the rest belongs to what is here. */
const isSame = (before: Promised | undefined, now: Promised): boolean =>
  before?.etag !== undefined && before.etag === now.etag && before.size === now.size

/** Writes what a response brings behind the first `from` bytes. */
const receive = async (request: Request, response: Response, from: number, promised: Promised): Promise<void> => {
  const { file, onProgress } = request
  const handle = await fs.open(partOf(file).bytes, from > 0 ? "a" : "w")
  let received = from
  try {
    for await (const chunk of response.body ?? []) {
      await handle.writeFile(chunk)
      received += chunk.length
      onProgress?.({ file, received, ...(promised.size === undefined ? {} : { total: promised.size }) })
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** One request: from the start, or from where the last one broke off. */
const attempt = async (request: Request): Promise<Promised> => {
  const { file, signal, url } = request
  const before = await remembered(request)
  const here = before?.etag === undefined ? 0 : await sizeOf(partOf(file).bytes)
  if (here > 0 && here === before?.size) return before
  const { first, response } = await ask(request, here)
  const promised = promisedBy(url, first, response)
  const startsAt = Number(/^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1])
  const goesOn = response.status === 206 && startsAt === here && isSame(before, promised)
  if (here > 0 && !goesOn && (response.status === 206 || response.status === 416)) {
    await response.body?.cancel()
    await forget(file)
    return attempt(request)
  }
  if (!response.ok) {
    await response.body?.cancel()
    throw Errors.make(nameOf(url), { _tag: "Refused", url, status: response.status })
  }
  await fs.writeFile(partOf(file).promised, JSON.stringify(promised))
  await receive(request, response, goesOn ? here : 0, promised).catch((cause: NodeJS.ErrnoException) => {
    if (signal?.aborted) throw cause
    if (["ENOSPC", "EACCES", "EPERM", "EROFS", "EIO"].includes(cause.code ?? "")) {
      throw Errors.make(file, { _tag: "Folder", detail: Errors.detailOf(cause) })
    }
    // The connection was cut: what has come is kept.
  })
  return promised
}

// -------------------------------------------------------------------------------------------------------------------
// The whole
// -------------------------------------------------------------------------------------------------------------------

const hashOf = async (file: string): Promise<string> => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(file), hash)
  return hash.digest("hex")
}

/** Holds what has come to what was promised. */
const check = async ({ file, url }: Request, { sha256, size }: Promised): Promise<void> => {
  const { bytes } = partOf(file)
  const refuse = async (detail: string) => {
    await forget(file)
    return Errors.make(nameOf(url), { _tag: "Download", url, detail })
  }
  const here = await sizeOf(bytes)
  if (size !== undefined && here !== size) throw await refuse(`${here} bytes instead of ${size}`)
  const handle = await fs.open(bytes, "r")
  const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0)
  await handle.close()
  if (buffer.toString("latin1") !== "GGUF") throw await refuse("no GGUF file")
  if (sha256 === undefined) return
  const hash = await hashOf(bytes)
  if (hash !== sha256) throw await refuse(`its SHA-256 is ${hash} instead of ${sha256}`)
}

/** So many requests in a row may bring nothing. */
const patience = 3

/** Asks again while requests bring something. */
const fetchAll = async (request: Request): Promise<void> => {
  const { bytes } = partOf(request.file)
  let inVain = 0
  for (;;) {
    const before = await sizeOf(bytes)
    const promised = await attempt(request)
    const here = await sizeOf(bytes)
    if (promised.size === undefined || here >= promised.size) return check(request, promised)
    inVain = here > before ? 0 : inVain + 1
    if (inVain >= patience) {
      const detail = `the connection breaks off at ${here} of ${promised.size} bytes`
      throw Errors.make(nameOf(request.url), { _tag: "Offline", url: request.url, detail })
    }
  }
}

const pollMillis = 200

/** Runs while no other process downloads the same file. The lock of one that died is taken over. */
const locked = async <A>(file: string, signal: AbortSignal | undefined, run: () => Promise<A>): Promise<A> => {
  const { default: lockfile } = await import("proper-lockfile")
  for (;;) {
    signal?.throwIfAborted()
    const release = await lockfile.lock(file, { realpath: false, stale: 10_000 }).catch((cause) => {
      if (cause.code !== "ELOCKED") throw cause
    })
    if (release !== undefined) {
      try {
        return await run()
      } finally {
        await release()
      }
    }
    await wait(pollMillis, undefined, signal === undefined ? {} : { signal })
  }
}

const exists = async (file: string): Promise<boolean> => (await fs.stat(file).catch(() => undefined))?.isFile() ?? false

/** Downloads a file, unless it is there. */
export const download = async (request: Request): Promise<void> => {
  const { file, signal } = request
  if (await exists(file)) return
  try {
    await fs.mkdir(path.dirname(file), { recursive: true })
    await locked(file, signal, async () => {
      // Another process may have been quicker.
      if (await exists(file)) return
      await fetchAll(request)
      const part = partOf(file)
      await fs.rename(part.bytes, file)
      await fs.rm(part.promised, { force: true })
    })
  } catch (cause) {
    if (cause instanceof Errors.LlamaCppError || signal?.aborted) throw cause
    throw Errors.make(file, { _tag: "Folder", detail: Errors.detailOf(cause) })
  }
}
