/**
 * Downloads adapters trained by a server, safely unpacks their archives, and converts them to the format loaded by
 * PEFT, vLLM and llama.cpp.
 *
 * Archives vary: they may be gzipped regardless of their extension, contain a folder named `/`, and hold an adapter or
 * a whole model. Only two files are extracted, by name, so paths in an archive cannot escape the folder.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { OwnerOnly, WholeFile } from "@divisi/files"
import type { FileError } from "@divisi/files/FileError"
import { LoraAdapter, Metadata, Safetensors } from "@divisi/gguf"
import { EngineError, type EngineErrorReason } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as tar from "tar"
import { configOf, nameOf, rename } from "./internal/peft.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Source and target of an adapter download. */
export interface Request {
  /** URL of the archive: a signed URL, or one on the server itself. The API key is not sent to it. */
  readonly url: string
  /** Target folder. It is created if necessary; an existing adapter in it is replaced. */
  readonly folder: string
  /** The base model that the adapter was trained on. The name in the archive may be a path on the server. */
  readonly baseModel: string
  readonly fetch?: typeof fetch | undefined
}

const configFile = "adapter_config.json"
const weightsFile = "adapter_model.safetensors"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

const failure = (reason: EngineErrorReason) => new EngineError({ engine: "tinker", doing: "export", reason })

const failed = (detail: string) => failure({ _tag: "Failed", detail })

const detailOf = (cause: unknown): string => {
  const { cause: inner, message } = cause as {
    readonly cause?: { readonly message?: string | undefined } | undefined
    readonly message?: string | undefined
  }
  return inner?.message ?? message ?? String(cause)
}

const attempt = <A>(what: string, run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, EngineError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => (cause instanceof EngineError ? cause : failed(`${what} (${detailOf(cause)}).`))
  })

const onDisk = <A>(effect: Effect.Effect<A, FileError>): Effect.Effect<A, EngineError> =>
  Effect.mapError(effect, ({ message }) => failed(message))

// -------------------------------------------------------------------------------------------------------------------
// Archives
// -------------------------------------------------------------------------------------------------------------------

const scratch: Effect.Effect<string, EngineError, Scope.Scope> = Effect.acquireRelease(
  attempt(`cannot create a folder in ${os.tmpdir()}`, () =>
    fs.promises.mkdtemp(path.join(os.tmpdir(), "divisi-adapter-"))
  ),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const mostRedirects = 5

const fetchTo = async (url: string, file: string, fetching: typeof fetch, signal: AbortSignal): Promise<void> => {
  let target = url
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const response = await fetching(target, { redirect: "manual", signal })
    const location = response.headers.get("location")
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel()
      target = new URL(location, target).href
      continue
    }
    if (!response.ok || response.body === null) throw failed(`the archive's server returned status ${response.status}.`)
    await pipeline(Readable.fromWeb(response.body as never), fs.createWriteStream(file, { mode: OwnerOnly.fileMode }))
    return
  }
  throw failed("the archive's address redirects in a loop.")
}

/** Whether a path in an archive stays within the target folder. */
const isInside = (name: string) => !name.split(/[\\/]/).includes("..")

/** Returns the names of the adapter's two files in an archive. */
const list = async (file: string): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>()
  const names: Array<string> = []
  await tar.list({
    file,
    strict: false,
    onReadEntry: ({ path: name, type }) => {
      names.push(name)
      const base = path.posix.basename(name)
      const isFile = type === "File" || type === "OldFile" || type === "ContiguousFile"
      if (isFile && isInside(name) && (base === configFile || base === weightsFile)) found.set(base, name)
    }
  })
  if (found.size === 2) return found
  const holds = names.length === 0 ? "nothing" : names.slice(0, 8).join(", ")
  const isModel = names.some((name) => name.endsWith(".safetensors") && path.posix.basename(name) !== weightsFile)
  const why = isModel
    ? "it is a whole model, as saved by SkyRL's FSDP and Megatron engines: serve that model, or train with another engine"
    : `it holds ${holds}`
  throw failed(`the archive is not an adapter: ${why}.`)
}

/** Extracts one file from an archive. */
const take = async (archive: string, entry: string, target: string): Promise<void> => {
  const written: Array<Promise<void>> = []
  await tar.list({
    file: archive,
    strict: false,
    onReadEntry: (read) => {
      if (read.path !== entry || written.length > 0) return
      written.push(
        pipeline(read as unknown as NodeJS.ReadableStream, fs.createWriteStream(target, { mode: OwnerOnly.fileMode }))
      )
    }
  })
  await Promise.all(written)
}

/** Extracts an adapter's two files from an archive, gzipped or not. */
export const unpack = (archive: string, folder: string): Effect.Effect<void, EngineError> =>
  attempt("the archive cannot be read", async () => {
    const entries = await list(archive)
    WholeFile.makeFolderNow(folder)
    for (const [base, entry] of entries) await take(archive, entry, path.join(folder, base))
  })

// -------------------------------------------------------------------------------------------------------------------
// PEFT
// -------------------------------------------------------------------------------------------------------------------

/**
 * Converts an adapter to PEFT's format: renames its matrices and completes the config, which servers fill in only
 * partially.
 */
export const repair = (folder: string, baseModel: string): Effect.Effect<void, EngineError> =>
  Effect.gen(function* () {
    const weights = path.join(folder, weightsFile)
    const config = path.join(folder, configFile)
    const file = yield* Effect.mapError(Safetensors.read(weights), ({ message }) => failed(message))
    const names = Object.keys(file.tensors)
    if (names.some((name) => name !== nameOf(name))) {
      yield* onDisk(WholeFile.writeWith(weights, (sink) => rename(weights, sink, nameOf)))
    }
    const whole = yield* attempt(`${config} cannot be read as an adapter's config`, async () =>
      configOf(JSON.parse(await fs.promises.readFile(config, "utf8")), names.map(nameOf), baseModel)
    )
    yield* onDisk(WholeFile.writeJson(config, whole))
  })

/** Copies a file atomically: the target either is complete or does not exist. */
const copy = (from: string, to: string) =>
  onDisk(
    WholeFile.writeWith(to, async (sink) => {
      for await (const piece of fs.createReadStream(from)) await sink.write(piece)
    })
  )

/**
 * Downloads an adapter into a folder that PEFT can load.
 *
 * **Gotchas**
 *
 * The folder keeps its previous adapter until the new one is complete.
 */
export const download = (request: Request): Effect.Effect<void, EngineError> =>
  Effect.gen(function* () {
    const folder = yield* scratch
    const archive = path.join(folder, "archive")
    yield* attempt("the archive cannot be downloaded", (signal) =>
      fetchTo(request.url, archive, request.fetch ?? fetch, signal)
    )
    const adapter = path.join(folder, "adapter")
    yield* unpack(archive, adapter)
    yield* repair(adapter, request.baseModel)
    yield* onDisk(WholeFile.makeFolder(request.folder))
    for (const file of [weightsFile, configFile]) {
      yield* copy(path.join(adapter, file), path.join(request.folder, file))
    }
  }).pipe(Effect.scoped)

/** Downloads an adapter and converts it to a file that llama.cpp applies to the base model in `baseGguf`. */
export const downloadAsGguf = (
  request: Omit<Request, "folder"> & {
    readonly path: string
    readonly baseGguf: string
    readonly about?: Readonly<Record<string, string>> | undefined
  }
): Effect.Effect<void, EngineError> =>
  Effect.gen(function* () {
    const folder = path.join(yield* scratch, "peft")
    yield* download({ ...request, folder })
    const { about = {}, baseGguf: base, path: file } = request
    yield* Effect.mapError(
      LoraAdapter.convert({ folder, base, path: file, metadata: Metadata.texts(about) }),
      ({ message }) => failed(message)
    )
  }).pipe(Effect.scoped)
