/** The file that stores a server's API keys. It contains hashes, never secrets. */
import fs from "node:fs"
import path from "node:path"
import { Lock, UserFolders, WholeFile } from "@divisi/files"
import { fromUnknown } from "@divisi/files/FileError"
import type { Keys } from "@divisi/server"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import * as Hint from "../invocation/Hint.ts"
import { explain } from "../invocation/OptionalPackage.ts"
import { type Change, type KeyStore, unknown } from "../stores/KeyStore.ts"

/** Loads the package that implements keys. */
export const server = Effect.tryPromise({
  try: () => import("@divisi/server"),
  catch: (error) => usage(`API keys require @divisi/server. ${explain(error)}`)
})

/** Returns the given file, or the user's default file. */
export const fileOf = (named: Option.Option<string>): Effect.Effect<string> =>
  Option.match(named, {
    onNone: () => UserFolders.dataFile("keys.json", "DIVISI_KEYS"),
    onSome: (file) => Effect.succeed(path.resolve(file))
  })

/** Fails if a named file does not exist. A server with a mistyped name would accept clients without a key. */
export const exists = (file: string): Effect.Effect<void, Failure> =>
  fs.existsSync(file)
    ? Effect.void
    : Effect.fail(
        usage(
          `The key file ${file} does not exist. Create it with: ${Hint.command("divisi key make <name>", { keys: Option.some(file) })}`
        )
      )

/** Version of the file format. Keys written in version 1 have no rights. */
const version = 2

/** Parses the keys in the text of the file. */
type Reader = (text: string) => ReadonlyArray<Keys.Key>

const readerOf = (file: string, { Keys }: typeof import("@divisi/server")): Reader => {
  const decode = Schema.decodeUnknownResult(
    Schema.fromJsonString(Schema.Struct({ version: Schema.Literals([1, version]), keys: Schema.Array(Keys.schema) }))
  )
  const decodeVersion = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Struct({ version: Schema.Int })))
  return (text) => {
    const read = decode(text)
    if (Result.isSuccess(read)) return read.success.keys
    const written = decodeVersion(text)
    if (Result.isSuccess(written) && written.success.version > version) {
      throw new Error(`${file} was written by a newer version of Divisi. Update Divisi, or use another file.`)
    }
    throw new Error(`${file} is not a valid key file. Restore it from a backup, or use another file.`)
  }
}

const textOf = (file: string): string | undefined => {
  try {
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined
  } catch (error) {
    throw fromUnknown(file, "read")(error)
  }
}

/** Returns the keys in a file, or an empty list if the file does not exist. */
const read = (file: string): Effect.Effect<ReadonlyArray<Keys.Key>, Failure> =>
  Effect.flatMap(server, (server) =>
    Effect.try({
      try: () => {
        const text = textOf(file)
        return text === undefined ? [] : readerOf(file, server)(text)
      },
      catch: (error) => failed(messageOf(error))
    })
  )

/** Edits the keys in a file and returns the edited key. Processes that write at the same time wait for each other. */
const edit = (
  file: string,
  edited: (
    keys: ReadonlyArray<Keys.Key>
  ) => Effect.Effect<{ readonly key: Keys.Key; readonly keys: ReadonlyArray<Keys.Key> }, Failure>
): Effect.Effect<Keys.Key, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* WholeFile.makeFolder(path.dirname(file))
      yield* Lock.hold(`${file}.lock`, { wait: true })
      const { key, keys } = yield* edited(yield* read(file))
      yield* WholeFile.writeJson(file, { version, keys })
      return key
    }).pipe(Effect.mapError((error) => (error._tag === "Failure" ? error : failed(error.message))))
  )

const add = (file: string, key: Keys.Key) => edit(file, (keys) => Effect.succeed({ key, keys: [...keys, key] }))

const change = (file: string, id: string, changed: Change) =>
  edit(file, (keys) => {
    const at = keys.findIndex((key) => key.id === id)
    return at < 0
      ? unknown(id, { keys: Option.some(file) }, keys)
      : Effect.map(changed(keys[at]!), (key) => ({ key, keys: keys.with(at, key) }))
  })

/**
 * Looks up keys in a file that may change: it is read again after each write. If the file is unreadable, all keys are
 * rejected.
 */
const finder = (file: string, reader: Reader) => {
  let stamp = ""
  let known = new Map<string, Keys.Key>()
  let isUnreadable = false
  const look = (): ReadonlyMap<string, Keys.Key> => {
    const at = fs.statSync(file, { throwIfNoEntry: false })
    const now = at === undefined ? "" : `${at.ino} ${at.mtimeMs} ${at.size}`
    if (now === stamp) return known
    try {
      const text = textOf(file)
      known = new Map((text === undefined ? [] : reader(text)).map((key) => [key.id, key]))
      isUnreadable = false
    } catch (error) {
      known = new Map()
      isUnreadable = true
      process.stderr.write(`divisi: ${messageOf(error)}\n`)
    }
    stamp = now
    return known
  }
  return {
    find: (id: string) => Effect.sync(() => look().get(id)),
    isAny: Effect.sync(() => look().size > 0 || isUnreadable)
  }
}

/** Opens the key store in a file. */
export const store = (file: string): Effect.Effect<KeyStore, Failure> =>
  Effect.map(server, (server) => ({
    all: read(file),
    add: (key) => add(file, key),
    change: (id, changed) => change(file, id, changed),
    ...finder(file, readerOf(file, server))
  }))
