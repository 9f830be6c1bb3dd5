/**
 * Data sets: files of records on disk or on a hub, read as streams.
 *
 * A file from a hub is downloaded once to a cache folder, and its SHA-256 is verified on every use. JSON Lines
 * (optionally gzipped) and Parquet files are read in chunks.
 */
import fs from "node:fs"
import path from "node:path"
import { Checksum, Download, Hub, JsonLines, UserFolders, WholeFile } from "@divisi/files"
import { detailOf } from "@divisi/files/FileError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Row } from "./Row.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A record, as read from a file. */
export type Record = Row

/** Files of a data set on a hub with URLs of the form `<endpoint>/datasets/<id>/resolve/<revision>/<file>`. */
export interface HubFiles {
  readonly dataset: string
  /** A branch, tag or commit. Default: `main`. Only a commit is immutable. */
  readonly revision?: string | undefined
  readonly files: ReadonlyArray<string>
  /** SHA-256 checksums by file, if known in advance. */
  readonly sha256?: Readonly<globalThis.Record<string, string>> | undefined
}

/** Options for locating and caching files. */
export interface Options {
  /** Folder for downloaded files. Default: `DIVISI_DATASETS`, or `divisi/datasets` in the user's cache folder. */
  readonly cacheFolder?: string | undefined
  /** Access token, sent only to the hub. Default: the environment variable `HF_TOKEN`. */
  readonly token?: string | undefined
  /** Base URL of the hub. Default: the environment variable `HF_ENDPOINT`, or the public hub. */
  readonly endpoint?: string | undefined
}

/**
 * A local file with its checksum and origin.
 *
 * @internal
 */
export interface LocalFile {
  readonly path: string
  /** Name of the file within the data set. */
  readonly name: string
  readonly sha256: string
  readonly bytes: number
  /** The commit reported by the hub, if any. */
  readonly commit?: string | undefined
}

/** Raised if a data set cannot be read. */
export class DatasetError extends Data.TaggedError("DatasetError")<{
  /** The file or URL that caused the error. */
  readonly source: string
  readonly reason: "not-found" | "gated" | "network" | "checksum" | "format" | "reader"
  readonly detail: string
}> {
  override get message(): string {
    const todo = {
      "not-found": "Check the path",
      gated: "Accept its terms on the Hugging Face Hub, and set a token (HF_TOKEN)",
      network:
        "Check the connection, or download the file and pass it with --benchmark <name>=<file> (in code: the option `files` of `Benchmark.load`)",
      checksum: "Delete it and download it again, or pass the checksum of this revision",
      format: "Check the format of the file",
      reader: "Install it: `npm install hyparquet hyparquet-compressors`"
    }[this.reason]
    return `Cannot read ${this.source}: ${this.detail}. ${todo}.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Local files
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns a local file with its checksum.
 *
 * @internal
 */
export const local = (file: string): Effect.Effect<LocalFile, DatasetError> =>
  Effect.mapBoth(Checksum.ofFile(file), {
    onSuccess: (digest): LocalFile => ({ path: file, name: path.basename(file), ...digest }),
    onFailure: ({ cause }) => new DatasetError({ source: file, reason: "not-found", detail: detailOf(cause, file) })
  })

// -------------------------------------------------------------------------------------------------------------------
// Files of a hub
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the URL of a file on a hub.
 *
 * @internal
 */
export const url = ({ dataset, revision }: HubFiles, file: string, endpoint?: string): string =>
  Hub.url({ kind: "dataset", repository: dataset, revision, file }, endpoint)

const cacheFolder = ({ cacheFolder }: Options) =>
  cacheFolder === undefined ? UserFolders.cache("datasets", "DIVISI_DATASETS") : Effect.succeed(cacheFolder)

const refused = (status: number) =>
  status === 401 || status === 403 ? "gated" : status === 404 ? "not-found" : "network"

/** Converts a download error to a data set error. */
const notDownloaded = (error: Download.DownloadError): DatasetError => {
  const { reason, url: source } = error
  switch (reason._tag) {
    case "Refused":
      return new DatasetError({
        source,
        reason: refused(reason.status),
        detail: `the hub answered with status ${reason.status}`
      })
    case "Mismatch":
      return new DatasetError({
        source,
        reason: reason.what === "checksum" ? "checksum" : "network",
        detail: reason.detail
      })
    default:
      return new DatasetError({ source, reason: "network", detail: reason.detail })
  }
}

/** Reads the metadata stored alongside a cached file. */
const noted = (target: string, what: "sha256" | "commit"): Effect.Effect<string | undefined> =>
  Effect.promise(() =>
    fs.promises.readFile(`${target}.${what}`, "utf8").then(
      (text) => text.trim(),
      () => undefined
    )
  )

const note = (target: string, what: "sha256" | "commit", text: string) =>
  Effect.mapError(
    WholeFile.write(`${target}.${what}`, `${text}\n`),
    ({ message }) => new DatasetError({ source: target, reason: "network", detail: message })
  )

const checked = (file: LocalFile, source: string, expected: string | undefined) =>
  expected === undefined || expected === file.sha256
    ? Effect.succeed(file)
    : Effect.fail(
        new DatasetError({ source, reason: "checksum", detail: `its SHA-256 is ${file.sha256}; expected ${expected}` })
      )

const download = Effect.fnUntraced(function* (hub: HubFiles, name: string, options: Options) {
  const address = url(hub, name, options.endpoint ?? (yield* Hub.endpoint))
  const token = options.token === undefined ? yield* Hub.token : Redacted.make(options.token)
  const target = path.join(
    yield* cacheFolder(options),
    hub.dataset.replaceAll("/", "--"),
    (hub.revision ?? "main").replaceAll("/", "--"),
    ...name.split("/")
  )
  const expected = hub.sha256?.[name]
  const fresh = yield* Effect.mapError(
    Download.file({ url: address, file: target, token, sha256: expected }),
    notDownloaded
  )
  const commit = fresh === undefined ? yield* noted(target, "commit") : fresh.commit
  const recorded = yield* noted(target, "sha256")
  const file: LocalFile = { ...(yield* local(target)), name, commit }
  if (fresh === undefined && recorded !== undefined) return yield* checked(file, target, expected ?? recorded)
  yield* note(target, "sha256", file.sha256)
  if (commit !== undefined) yield* note(target, "commit", commit)
  return yield* checked(file, address, expected)
})

/**
 * Downloads the files of a data set that are not in the cache, one at a time.
 *
 * @internal
 */
export const fetchFiles = (
  hub: HubFiles,
  options: Options = {}
): Effect.Effect<ReadonlyArray<LocalFile>, DatasetError> =>
  Effect.forEach(hub.files, (file) => download(hub, file, options))

// -------------------------------------------------------------------------------------------------------------------
// Records
// -------------------------------------------------------------------------------------------------------------------

const missing = (source: string) => new DatasetError({ source, reason: "not-found", detail: "the file does not exist" })

/** The error for a line that does not contain an object, which is usually an array of all records. */
const notAnObject = (file: string, index: number, value: unknown) => {
  const what = Array.isArray(value) ? "is a JSON array" : "is not an object"
  const detail = `record ${index + 1} ${what}; expected one JSON object per line`
  return new DatasetError({ source: file, reason: "format", detail })
}

const jsonLines = (file: string): Stream.Stream<Row, DatasetError> =>
  JsonLines.read(file, { isComplete: true }).pipe(
    Stream.mapError((error) => {
      if (error._tag === "FileError" && error.reason === "Missing") return missing(file)
      const detail = error._tag === "LineError" ? `line ${error.line} ${error.problem}` : detailOf(error.cause)
      return new DatasetError({ source: file, reason: "format", detail })
    }),
    Stream.mapEffect((value, index) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Effect.succeed(value as Row)
        : Effect.fail(notAnObject(file, index, value))
    )
  )

/** Loads the Parquet reader, an optional dependency needed only for Parquet files. */
const readers = (file: string) =>
  Promise.all([import("hyparquet"), import("hyparquet-compressors")]).catch(() => {
    throw new DatasetError({ source: file, reason: "reader", detail: "the Parquet reader is not installed" })
  })

/** Reads a Parquet file one row group at a time, to limit memory. */
async function* parquet(file: string): AsyncGenerator<Row> {
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects }, { compressors }] = await readers(file)
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
 * Streams the records in a file. Files named `*.parquet` are read as Parquet, all others as JSON Lines.
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
    if (!file.endsWith(".parquet")) return jsonLines(file)
    if (!fs.existsSync(file)) return Stream.fail(missing(file))
    return Stream.fromAsyncIterable(parquet(file), (error) =>
      error instanceof DatasetError
        ? error
        : new DatasetError({ source: file, reason: "format", detail: detailOf(error) })
    )
  })
