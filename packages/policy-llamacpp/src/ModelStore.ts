/**
 * The models on this machine: what a name means, where its file is, and how it gets here.
 *
 * Files are kept in one folder, under the names that they have where they come from. What is there is never asked for
 * again, so a machine that is off-line runs what it has.
 */
import fs from "node:fs/promises"
import os from "node:os"
import path from "node:path"
import * as Effect from "effect/Effect"
import * as Download from "./internal/download.ts"
import * as Reference from "./internal/reference.ts"
import * as KnownModels from "./knownModels.ts"
import * as Errors from "./LlamaCppError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

export type { Progress } from "./internal/download.ts"

/** Where models are kept, and who is told how they come. */
export interface Options {
  /** `DIVISI_MODELS`, or `divisi/models` in the cache folder of this user, by default. */
  readonly folder?: string
  /** Told of every piece that arrives. */
  readonly onProgress?: (progress: Download.Progress) => void
  /** Instead of `process.env`: `DIVISI_MODELS`, `HF_TOKEN`, `HF_ENDPOINT`. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** A model in the folder. */
export interface Stored {
  /** The name that it is known by, or the path within the folder. */
  readonly name: string
  readonly path: string
  /** In bytes, of all its parts. */
  readonly size: number
  /** False where a download broke off. */
  readonly isComplete: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Places
// -------------------------------------------------------------------------------------------------------------------

const environmentOf = ({ environment = process.env }: Options) => environment

/** The folder in which models are kept. */
export const folderOf = (options: Options = {}): string => {
  const environment = environmentOf(options)
  const cache =
    environment.XDG_CACHE_HOME ??
    (process.platform === "win32" ? environment.LOCALAPPDATA : undefined) ??
    path.join(os.homedir(), ".cache")
  return path.resolve(options.folder ?? environment.DIVISI_MODELS ?? path.join(cache, "divisi", "models"))
}

const parse = (source: string, options: Options): Effect.Effect<Reference.Reference, Errors.LlamaCppError> =>
  Effect.try({
    try: () => Reference.parse(source, environmentOf(options)),
    catch: (cause) => cause as Errors.LlamaCppError
  })

/** Where the file of a source is, or would be. */
export const locate = (source: string, options: Options = {}): Effect.Effect<string, Errors.LlamaCppError> =>
  Effect.map(parse(source, options), (reference) =>
    reference.type === "file" ? reference.path : path.join(folderOf(options), reference.place)
  )

const fromUnknown = (source: string) => (cause: unknown) =>
  cause instanceof Errors.LlamaCppError
    ? cause
    : Errors.make(source, { _tag: "Folder", detail: Errors.detailOf(cause) })

// -------------------------------------------------------------------------------------------------------------------
// Models in and out
// -------------------------------------------------------------------------------------------------------------------

/**
 * The path of a model's file, which is downloaded where it is not there.
 *
 * **Details**
 *
 * A download that was cut goes on where it broke off, as long as the server's file is the same. Its length and, where
 * the server gives one, its SHA-256 are checked before it gets its name. Of processes that want the same file one
 * downloads it and the others wait. An interruption keeps what has come.
 */
export const resolve = Effect.fnUntraced(function* (
  source: string,
  options: Options = {}
): Effect.fn.Return<string, Errors.LlamaCppError> {
  const reference = yield* parse(source, options)
  if (reference.type === "file") return reference.path
  const file = path.join(folderOf(options), reference.place)
  const token = reference.isHuggingFace ? environmentOf(options).HF_TOKEN : undefined
  for (const place of Reference.parts(file)) {
    yield* Effect.tryPromise({
      try: (signal) =>
        Download.download({
          url: new URL(path.basename(place), reference.url).href,
          file: place,
          signal,
          ...(token === undefined ? {} : { token }),
          ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress })
        }),
      catch: fromUnknown(source)
    })
  }
  return file
})

const nameOf = (place: string): string => {
  const known = KnownModels.knownModels.find(({ source }) => {
    const reference = Reference.parse(source, {})
    return reference.type === "download" && reference.place === place
  })
  return known?.name ?? place.split(path.sep).join("/")
}

/** The models in the folder, by name. */
export const list = (options: Options = {}): Effect.Effect<ReadonlyArray<Stored>, Errors.LlamaCppError> =>
  Effect.tryPromise({
    try: async () => {
      const folder = folderOf(options)
      const files = await fs.readdir(folder, { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return []
        throw cause
      })
      const models = files.filter(
        (file) => /\.gguf(\.part)?$/.test(file) && !/-(?!00001)\d{5}-of-\d{5}\.gguf/.test(file)
      )
      const stored = await Promise.all(
        models.map(async (file): Promise<Stored> => {
          const place = file.replace(/\.part$/, "")
          const parts = Reference.parts(path.join(folder, place))
          const sizes = await Promise.all(parts.map(async (part) => (await fs.stat(part).catch(() => undefined))?.size))
          const isComplete = !file.endsWith(".part") && sizes.every((size) => size !== undefined)
          const partial = isComplete ? 0 : ((await fs.stat(path.join(folder, file)).catch(() => undefined))?.size ?? 0)
          const size = sizes.reduce((sum: number, part) => sum + (part ?? 0), 0)
          return { name: nameOf(place), path: path.join(folder, place), size: size || partial, isComplete }
        })
      )
      return stored.sort((left, right) => left.name.localeCompare(right.name))
    },
    catch: fromUnknown(folderOf(options))
  })

/** Removes a model from the folder, whole or not, and tells how many bytes that has freed. */
export const remove = Effect.fnUntraced(function* (
  source: string,
  options: Options = {}
): Effect.fn.Return<number, Errors.LlamaCppError> {
  const stored = yield* list(options)
  const own = stored.find(({ name }) => name === source)
  const file = own?.path ?? (yield* locate(source, options))
  const found = stored.find((model) => model.path === file)
  if (found === undefined) return yield* Errors.make(source, { _tag: "Missing" })
  const files = Reference.parts(file).flatMap((part) => [part, `${part}.part`, `${part}.part.json`])
  yield* Effect.tryPromise({
    try: () => Promise.all(files.map((part) => fs.rm(part, { force: true }))),
    catch: fromUnknown(source)
  })
  return found.size
})
