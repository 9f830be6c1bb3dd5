/**
 * Manages the models on this machine: resolves names, locates files, and downloads models.
 *
 * Files are stored in one folder under a path derived from their source. An existing file is never requested again, so
 * downloaded models also work offline.
 */
import fs from "node:fs/promises"
import path from "node:path"
import { Options as Tables } from "@divisi/core"
import { Download, Hub, UserFolders } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Reference from "./internal/reference.ts"
import { checked, storeTable } from "./internal/tables.ts"
import * as KnownModels from "./knownModels.ts"
import * as Errors from "./LlamaCppError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Progress of a download. */
export type Progress = Download.Progress

/** The models folder, and a callback for download progress. */
export interface Options {
  /**
   * The models folder. Defaults to the path in `DIVISI_MODELS`, otherwise to `divisi/models` in the user's cache
   * folder.
   */
  readonly folder?: string | undefined
  /** Called with the download progress for every chunk. */
  readonly onProgress?: ((progress: Download.Progress) => void) | undefined
}

/** A model stored in the folder. */
export interface Stored {
  /** The name of a known model, or the path within the folder. */
  readonly name: string
  readonly path: string
  /** Total size of its files, in bytes. */
  readonly size: number
  /** `false` after an interrupted download. */
  readonly isComplete: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Places
// -------------------------------------------------------------------------------------------------------------------

/** Returns the path of the models folder. */
export const folderOf = (options: Options = {}): Effect.Effect<string> => {
  Tables.check("ModelStore.folderOf", options, storeTable)
  const { folder } = options
  return folder === undefined ? UserFolders.cache("models", "DIVISI_MODELS") : Effect.succeed(path.resolve(folder))
}

const parse = (source: string): Effect.Effect<Reference.Reference, Errors.LlamaCppError> =>
  Effect.flatMap(Hub.endpoint, (endpoint) =>
    Effect.try({
      try: () => Reference.parse(source, endpoint),
      catch: (cause) => cause as Errors.LlamaCppError
    })
  )

const placeOf = (reference: Reference.Reference, options: Options) =>
  reference.type === "file"
    ? Effect.succeed(reference.path)
    : Effect.map(folderOf(options), (folder) => path.join(folder, reference.place))

/**
 * Returns the path at which a source's file is stored, whether or not it exists.
 *
 * @internal
 */
export const locate = (source: string, options: Options = {}): Effect.Effect<string, Errors.LlamaCppError> =>
  Effect.andThen(
    checked("ModelStore.locate", options, storeTable),
    Effect.flatMap(parse(source), (reference) => placeOf(reference, options))
  )

const fromUnknown = (source: string) => (cause: unknown) =>
  cause instanceof Errors.LlamaCppError
    ? cause
    : Errors.make(source, { _tag: "Folder", detail: Errors.detailOf(cause) })

// -------------------------------------------------------------------------------------------------------------------
// Models in and out
// -------------------------------------------------------------------------------------------------------------------

/** Converts a download error to an error of this package. */
const notDownloaded =
  (file: string) =>
  ({ reason, url }: Download.DownloadError): Errors.LlamaCppError => {
    const name = path.basename(file)
    switch (reason._tag) {
      case "Offline":
        return Errors.make(name, { _tag: "Offline", url, detail: reason.detail })
      case "Refused":
        return Errors.make(name, { _tag: "Refused", url, status: reason.status })
      case "Mismatch":
        return Errors.make(name, { _tag: "Download", url, detail: reason.detail })
      case "Folder":
        return Errors.make(file, { _tag: "Folder", detail: reason.detail })
    }
  }

/**
 * Returns the path of a model's file, downloading the file if it is missing.
 *
 * **Details**
 *
 * An interrupted download resumes if the server's file has not changed. The length and, if the server reports one, the
 * SHA-256 are verified before the file is renamed to its final name. If several processes need the same file, one
 * downloads it and the others wait.
 */
export const resolve = Effect.fnUntraced(function* (
  source: string,
  options: Options = {}
): Effect.fn.Return<string, Errors.LlamaCppError> {
  yield* checked("ModelStore.resolve", options, storeTable)
  const reference = yield* parse(source)
  const file = yield* placeOf(reference, options)
  if (reference.type === "file") return file
  const token = reference.isHuggingFace ? yield* Hub.token : undefined
  for (const place of Reference.parts(file)) {
    const url = new URL(path.basename(place), reference.url).href
    yield* Effect.mapError(
      Download.file({ url, file: place, token, magic: "GGUF", onProgress: options.onProgress }),
      notDownloaded(place)
    )
  }
  return file
})

const nameOf = (place: string): string => {
  const known = KnownModels.knownModels.find(({ source }) => {
    const reference = Reference.parse(source, "")
    return reference.type === "download" && reference.place === place
  })
  return known?.name ?? place.split(path.sep).join("/")
}

/** Returns the models in the folder, sorted by name. */
export const list = (options: Options = {}): Effect.Effect<ReadonlyArray<Stored>, Errors.LlamaCppError> =>
  Effect.flatMap(
    Effect.andThen(
      checked("ModelStore.list", options, storeTable),
      Effect.suspend(() => folderOf(options))
    ),
    listIn
  )

const listIn = (folder: string) =>
  Effect.tryPromise({
    try: async () => {
      // With `withFileTypes`, links to folders are not followed; they could lead outside of the folder or form cycles.
      const entries = await fs
        .readdir(folder, { recursive: true, withFileTypes: true })
        .catch((cause: NodeJS.ErrnoException) => {
          if (cause.code === "ENOENT") return []
          throw cause
        })
      const files = entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
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
    catch: fromUnknown(folder)
  })

/** Removes a complete or incomplete model from the folder and returns the number of bytes freed. */
export const remove = Effect.fnUntraced(function* (
  source: string,
  options: Options = {}
): Effect.fn.Return<number, Errors.LlamaCppError> {
  yield* checked("ModelStore.remove", options, storeTable)
  const stored = yield* list(options)
  const own = stored.find(({ name }) => name === source)
  const file = own?.path ?? (yield* locate(source, options))
  const found = stored.find((model) => model.path === file)
  if (found === undefined) return yield* Errors.make(source, { _tag: "Missing" })
  const files = Reference.parts(file).flatMap((part) => [part, ...Object.values(Download.partsOf(part))])
  yield* Effect.tryPromise({
    try: () => Promise.all(files.map((part) => fs.rm(part, { force: true }))),
    catch: fromUnknown(source)
  })
  return found.size
})
