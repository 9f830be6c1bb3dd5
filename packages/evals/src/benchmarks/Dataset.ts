/**
 * Data sets: files of records, on disk or on a hub, read as streams.
 *
 * A file from a hub is fetched once, streamed to a cache folder and known by its SHA-256, which is checked again
 * whenever it is used. JSON lines (also gzipped) and Parquet are read a piece at a time.
 */
import { createHash } from "node:crypto"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import readline from "node:readline"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Row } from "./Row.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A record as its file holds it. */
export type Record = Row

/** Files of a data set on a hub that serves them as `<endpoint>/datasets/<id>/resolve/<revision>/<file>`. */
export interface HubFiles {
  readonly dataset: string
  /** A branch, tag or commit; `main` by default. Only a commit stays what it is. */
  readonly revision?: string
  readonly files: ReadonlyArray<string>
  /** SHA-256 by file, where it is known beforehand. */
  readonly sha256?: Readonly<globalThis.Record<string, string>>
}

/** How files are found and kept. */
export interface Options {
  /** Where files of a hub are kept; `~/.cache/divisi/datasets` by default. */
  readonly cacheFolder?: string
  /** Sent to the hub alone. `HF_TOKEN` of the environment by default. */
  readonly token?: string
  /** The hub's address. `HF_ENDPOINT` of the environment by default, else the public hub. */
  readonly endpoint?: string
}

/** A file on this machine, and what is known of it. */
export interface LocalFile {
  readonly path: string
  /** As its data set names it. */
  readonly name: string
  readonly sha256: string
  readonly bytes: number
  /** The commit that its hub served, where it said so: what a branch or tag meant on that day. */
  readonly commit?: string
}

/** A data set cannot be read. */
export class DatasetError extends Data.TaggedError("DatasetError")<{
  /** The file or address. */
  readonly source: string
  readonly reason: "not-found" | "gated" | "network" | "checksum" | "format"
  readonly detail: string
}> {
  override get message(): string {
    const todo = {
      "not-found": "check its path or address",
      gated: "accept its terms on the hub, and give a token (HF_TOKEN)",
      network: "check the connection, or give a local file",
      checksum: "delete it and fetch it again, or give the checksum of this revision",
      format: "check that it is the file the benchmark expects"
    }[this.reason]
    return `${this.source} cannot be read: ${this.detail}; ${todo}.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Local files
// -------------------------------------------------------------------------------------------------------------------

const notFound = (file: string) => (error: unknown) =>
  new DatasetError({
    source: file,
    reason: "not-found",
    detail: error instanceof Error ? error.message : String(error)
  })

const digestOf = async (file: string): Promise<{ readonly sha256: string; readonly bytes: number }> => {
  const hash = createHash("sha256")
  let bytes = 0
  for await (const chunk of fs.createReadStream(file)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { sha256: hash.digest("hex"), bytes }
}

/** A file of this machine with its checksum. */
export const local = (file: string): Effect.Effect<LocalFile, DatasetError> =>
  Effect.map(
    Effect.tryPromise({ try: () => digestOf(file), catch: notFound(file) }),
    (digest): LocalFile => ({ path: file, name: path.basename(file), ...digest })
  )

// -------------------------------------------------------------------------------------------------------------------
// Files of a hub
// -------------------------------------------------------------------------------------------------------------------

const publicHub = "https://huggingface.co"

/** Where a file of a hub is served. */
export const url = ({ dataset, revision = "main" }: HubFiles, file: string, endpoint: string = publicHub): string =>
  `${endpoint.replace(/\/+$/, "")}/datasets/${dataset}/resolve/${encodeURIComponent(revision)}/${file.split("/").map(encodeURIComponent).join("/")}`

const cacheFolder = (options: Options) => options.cacheFolder ?? path.join(os.homedir(), ".cache", "divisi", "datasets")

/** What a hub served, and the commit it was of. */
interface Served {
  readonly response: Response
  readonly commit: string | undefined
}

const commitOf = (response: Response): string | undefined =>
  /^[0-9a-f]{40,64}$/.exec(response.headers.get("x-repo-commit") ?? "")?.[0]

const maxRedirects = 5

/**
 * Follows redirects by hand: a hub names the commit where it redirects to its storage, and the token is for the hub
 * alone.
 */
const follow = async (address: string, token: string | undefined, signal: AbortSignal): Promise<Served> => {
  const { origin } = new URL(address)
  let commit: string | undefined
  for (let [at, hop] = [new URL(address), 0]; ; hop++) {
    const headers = token === undefined || at.origin !== origin ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(at, { signal, headers, redirect: "manual" })
    commit ??= commitOf(response)
    const location = response.headers.get("location")
    if (response.status < 300 || response.status > 399 || location === null) return { response, commit }
    await response.body?.cancel()
    if (hop === maxRedirects) throw new Error(`it redirected more than ${maxRedirects} times`)
    at = new URL(location, at)
  }
}

const request = (address: string, token: string | undefined) =>
  Effect.tryPromise({
    try: (signal) => follow(address, token, signal),
    catch: (error) => new DatasetError({ source: address, reason: "network", detail: String(error) })
  }).pipe(
    Effect.filterOrFail(
      ({ response }) => response.ok,
      ({ response }) => refused(address, response.status)
    )
  )

const refused = (source: string, status: number): DatasetError => {
  const reason = status === 401 || status === 403 ? "gated" : status === 404 ? "not-found" : "network"
  return new DatasetError({ source, reason, detail: `the hub answered with status ${status}` })
}

/** What is written down beside a file of the cache. */
const noted = (target: string, what: "sha256" | "commit"): Effect.Effect<string | undefined> =>
  Effect.promise(() =>
    fs.promises.readFile(`${target}.${what}`, "utf8").then(
      (text) => text.trim(),
      () => undefined
    )
  )

/** Streams a body to a file that only gets its name when it is whole. */
const save = ({ commit, response }: Served, address: string, target: string) => {
  const partial = `${target}.${process.pid}.${Math.random().toString(36).slice(2)}.part`
  return Effect.tryPromise({
    try: async (signal) => {
      await fs.promises.mkdir(path.dirname(target), { recursive: true })
      const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])
      await pipeline(body, fs.createWriteStream(partial), { signal })
      const digest = await digestOf(partial)
      await fs.promises.writeFile(`${target}.sha256`, `${digest.sha256}\n`)
      if (commit !== undefined) await fs.promises.writeFile(`${target}.commit`, `${commit}\n`)
      await fs.promises.rename(partial, target)
      return { ...digest, ...(commit === undefined ? {} : { commit }) }
    },
    catch: (error) => new DatasetError({ source: address, reason: "network", detail: String(error) })
  }).pipe(Effect.ensuring(Effect.promise(() => fs.promises.rm(partial, { force: true }))))
}

const checked = (file: LocalFile, source: string, expected: string | undefined) =>
  expected === undefined || expected === file.sha256
    ? Effect.succeed(file)
    : Effect.fail(
        new DatasetError({ source, reason: "checksum", detail: `its SHA-256 is ${file.sha256} instead of ${expected}` })
      )

const download = (hub: HubFiles, name: string, options: Options): Effect.Effect<LocalFile, DatasetError> =>
  Effect.gen(function* () {
    const { env } = process
    const address = url(hub, name, options.endpoint ?? env.HF_ENDPOINT ?? publicHub)
    const target = path.join(
      cacheFolder(options),
      hub.dataset.replaceAll("/", "--"),
      (hub.revision ?? "main").replaceAll("/", "--"),
      ...name.split("/")
    )
    const expected = hub.sha256?.[name]
    if (fs.existsSync(target)) {
      const [recorded, commit] = [yield* noted(target, "sha256"), yield* noted(target, "commit")]
      const file = { ...(yield* local(target)), name, ...(commit === undefined ? {} : { commit }) }
      return yield* checked(file, target, expected ?? recorded)
    }
    const served = yield* request(address, options.token ?? env.HF_TOKEN)
    const digest = yield* save(served, address, target)
    return yield* checked({ path: target, name, ...digest }, address, expected)
  })

/** Fetches the files of a data set that are not in the cache yet, one after another. */
export const fetchFiles = (
  hub: HubFiles,
  options: Options = {}
): Effect.Effect<ReadonlyArray<LocalFile>, DatasetError> =>
  Effect.forEach(hub.files, (file) => download(hub, file, options))

// -------------------------------------------------------------------------------------------------------------------
// Records
// -------------------------------------------------------------------------------------------------------------------

const badFormat = (file: string) => (error: unknown) =>
  error instanceof DatasetError
    ? error
    : new DatasetError({
        source: file,
        reason: "format",
        detail: error instanceof Error ? error.message : String(error)
      })

async function* jsonLines(file: string): AsyncGenerator<Row> {
  const stream = fs.createReadStream(file)
  const input = file.endsWith(".gz") ? stream.pipe(createGunzip()) : stream
  let line = 0
  for await (const text of readline.createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    if (text.trim() === "") continue
    const value: unknown = parsed(text, line)
    if (typeof value !== "object" || value === null) throw new Error(`line ${line} is not an object`)
    yield value as Row
  }
}

const parsed = (text: string, line: number): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`line ${line} is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

/** Row groups one after another: one is in memory at a time. */
async function* parquet(file: string): AsyncGenerator<Row> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import("hyparquet")
  const { compressors } = await import("hyparquet-compressors")
  const buffer = await asyncBufferFromFile(file)
  const metadata = await parquetMetadataAsync(buffer)
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    yield* await parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, compressors })
    rowStart = rowEnd
  }
}

/**
 * The records of a file: Parquet by its name, else JSON lines.
 *
 * **Example**
 *
 * ```ts
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 * import { Dataset } from "@divisi/evals"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "questions.jsonl")
 * fs.writeFileSync(file, '{"question":"6 times 7?","answer":"42"}\n')
 * await Effect.runPromise(Stream.runCollect(Dataset.records(file))) // => [{ question: "6 times 7?", answer: "42" }]
 * ```
 */
export const records = (file: string): Stream.Stream<Record, DatasetError> =>
  Stream.suspend(() => {
    if (!fs.existsSync(file)) return Stream.fail(notFound(file)("there is no such file"))
    return Stream.fromAsyncIterable(file.endsWith(".parquet") ? parquet(file) : jsonLines(file), badFormat(file))
  })
