import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach } from "vitest"
import * as DiskAccounts from "../src/DiskAccounts.ts"
import * as DiskCache from "../src/DiskCache.ts"
import * as DiskJournal from "../src/DiskJournal.ts"
import * as DiskRecords from "../src/DiskRecords.ts"
import { Report } from "../src/FileError.ts"
import * as JsonLines from "../src/JsonLines.ts"
import * as Lock from "../src/Lock.ts"
import * as WholeFile from "../src/WholeFile.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-files-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

/** Everything below a folder that other users could use, with its mode. */
const open = (folder: string): ReadonlyArray<string> =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((name) => (fs.statSync(name).mode & 0o077) !== 0)
    .map((name) => `${path.relative(folder, name)} ${(fs.statSync(name).mode & 0o777).toString(8)}`)

let mask = 0
let home: string | undefined
beforeEach(() => {
  mask = process.umask(0)
  home = process.env.XDG_DATA_HOME
})
afterEach(() => {
  process.umask(mask)
  if (home === undefined) delete process.env.XDG_DATA_HOME
  else process.env.XDG_DATA_HOME = home
})

const hearing = () => {
  const heard: Array<string> = []
  const hear = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(effect, Report, (message) => void heard.push(message))
  return { heard, hear }
}

describe.skipIf(process.platform === "win32")("what is written", () => {
  it.effect("is readable by its owner alone, whatever the umask, and so are the files that SQLite adds", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const at = (name: string) => path.join(folder, "deep", name)
      const journal = yield* DiskJournal.make({ file: at("runs.sqlite") })
      const { epoch } = yield* journal.claim("run")
      const cache = yield* DiskCache.make({ file: at("cache.sqlite") })
      const accounts = yield* DiskAccounts.make({ file: at("accounts.sqlite") })
      yield* accounts.open({ name: "a" })
      const records = yield* DiskRecords.make({ file: at("records.sqlite") })
      records.set("a", "b")
      yield* Lock.hold(at("run.lock"))
      const lines = yield* JsonLines.open(at("lines.jsonl"))
      lines.append({})
      yield* WholeFile.writeJson(at("whole.json"), {})
      assert.isAbove(epoch, 0)
      assert.isDefined(cache)
      const written = fs.readdirSync(path.join(folder, "deep"))
      for (const end of ["", "-wal", "-shm", "-owners"]) assert.include(written, `runs.sqlite${end}`)
      assert.deepStrictEqual(open(folder), [])
    })
  )

  it.effect("follows the umask where it is source code", () =>
    Effect.gen(function* () {
      const folder = path.join(yield* temporary, "project")
      yield* WholeFile.makeFolder(folder, "umask")
      yield* WholeFile.write(path.join(folder, "config.ts"), "", { access: "umask" })
      assert.strictEqual(fs.statSync(folder).mode & 0o777, 0o777)
      assert.strictEqual(fs.statSync(path.join(folder, "config.ts")).mode & 0o777, 0o666)
    })
  )

  it.effect("is closed in a folder of this user's that an older version left open", () =>
    Effect.gen(function* () {
      const data = yield* temporary
      process.env.XDG_DATA_HOME = data
      const folder = path.join(data, "divisi")
      fs.mkdirSync(path.join(folder, "runs.sqlite-owners"), { recursive: true })
      fs.writeFileSync(path.join(folder, "keys.json"), "{}")
      fs.writeFileSync(path.join(folder, "other.jsonl"), "")
      const { heard, hear } = hearing()
      yield* hear(WholeFile.makeFolder(path.join(folder, "more")))
      assert.deepStrictEqual(open(data), [])
      fs.chmodSync(path.join(folder, "keys.json"), 0o644)
      yield* hear(WholeFile.writeJson(path.join(folder, "keys.json"), {}))
      fs.chmodSync(path.join(folder, "other.jsonl"), 0o640)
      yield* hear(Effect.scoped(JsonLines.open(path.join(folder, "other.jsonl"))))
      assert.deepStrictEqual([open(data), heard], [[], []])
    })
  )

  it.effect("is reported once per folder with the command that closes it, where a person named the file", () =>
    Effect.gen(function* () {
      const folder = path.join(yield* temporary, "it's")
      fs.mkdirSync(folder)
      const { heard, hear } = hearing()
      const files = ["runs.sqlite", "lines.jsonl", "whole.json"].map((name) => path.join(folder, name))
      for (const file of files) fs.writeFileSync(file, "", { mode: 0o644 })
      for (let time = 0; time < 3; time += 1) {
        yield* hear(Effect.scoped(DiskJournal.make({ file: files[0]! })))
        yield* hear(Effect.scoped(JsonLines.open(files[1]!)))
        yield* hear(WholeFile.write(files[2]!, ""))
      }
      assert.deepStrictEqual(
        heard.map((message) => message.split("chmod ")[1]),
        [`go= '${folder.replace("'", "'\\''")}'/*`]
      )
      assert.deepStrictEqual(
        files.map((file) => fs.statSync(file).mode & 0o777),
        [0o644, 0o644, 0o644],
        "a person's own files stay as they are"
      )
    })
  )
})
