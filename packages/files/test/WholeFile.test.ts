import fs from "node:fs"
import path from "node:path"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as WholeFile from "../src/WholeFile.ts"
import { folder } from "./folder.ts"
import { mountSmall } from "./fullDisk.ts"
import { start } from "./processes.ts"

const root = folder()
let files = 0
const fresh = () => {
  const made = path.join(root, String(files++))
  fs.mkdirSync(made)
  return path.join(made, "file")
}
const beside = (file: string) => fs.readdirSync(path.dirname(file))

describe("a whole file", () => {
  it.effect("names the folder that does not exist, and not its temporary file", () =>
    Effect.gen(function* () {
      const absent = path.join(path.dirname(fresh()), "absent")
      const error = yield* Effect.flip(WholeFile.write(path.join(absent, "file"), "text"))
      assert.include(error.message, `the folder ${absent} does not exist. Create it`)
      assert.notInclude(error.message, ".partial")
    })
  )

  it.effect("takes texts and bytes, in pieces of any size", () =>
    Effect.gen(function* () {
      const file = fresh()
      const large = new Uint8Array(3_000_000).fill(7)
      yield* WholeFile.write(file, ["é", large, Uint8Array.of(1, 2), "", "end"])
      const expected = Buffer.concat([Buffer.from("é"), large, Uint8Array.of(1, 2), Buffer.from("end")])
      assert.isTrue(expected.equals(fs.readFileSync(file)))
      yield* WholeFile.write(file, [])
      expect(fs.readFileSync(file, "utf8")).toBe("")
      yield* WholeFile.writeJson(file, { a: 1 })
      expect(fs.readFileSync(file, "utf8")).toBe('{\n  "a": 1\n}\n')
      expect(beside(file)).toEqual(["file"])
    })
  )

  it.effect("counts the bytes it has taken, and lets them be used again", () =>
    Effect.gen(function* () {
      const file = fresh()
      const bytes = new Uint8Array(1)
      const positions: Array<number> = []
      yield* WholeFile.writeWith(file, async (sink) => {
        for (let value = 1; value <= 3; value++) {
          bytes[0] = value
          await sink.write(bytes)
          positions.push(sink.position())
        }
      })
      expect([positions, [...fs.readFileSync(file)]]).toEqual([
        [1, 2, 3],
        [1, 2, 3]
      ])
    })
  )

  it.effect("is unchanged if its writing fails or is interrupted, and no other file remains", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* WholeFile.write(file, "before")
      const failing = WholeFile.writeWith(file, async (sink) => {
        await sink.write("after")
        throw new Error("no more")
      })
      const error = yield* Effect.flip(failing)
      expect([error.message, (error.cause as Error).message]).toEqual([
        `${file} cannot be written: no more.`,
        "no more"
      ])
      const begun = yield* Deferred.make<void>()
      const endless = WholeFile.writeWith(file, async (sink) => {
        await sink.write("after")
        Deferred.doneUnsafe(begun, Effect.void)
        for (;;) {
          await sink.write("more")
          await new Promise((resolve) => setImmediate(resolve))
        }
      })
      const fiber = yield* Effect.forkChild(endless)
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      expect([fs.readFileSync(file, "utf8"), beside(file)]).toEqual(["before", ["file"]])
    })
  )

  it.effect("keeps its permissions, and a link stays a link", () =>
    Effect.gen(function* () {
      const file = fresh()
      const link = `${file}.link`
      fs.writeFileSync(file, "before", { mode: 0o600 })
      fs.symlinkSync("file", link)
      yield* WholeFile.write(link, "after")
      expect(fs.readlinkSync(link)).toBe("file")
      expect([fs.readFileSync(file, "utf8"), fs.statSync(file).mode & 0o777]).toEqual(["after", 0o600])
    })
  )

  it.effect("does not replace a device", () =>
    Effect.gen(function* () {
      const link = fresh()
      fs.symlinkSync("/dev/null", link)
      yield* WholeFile.write(link, "nothing")
      expect(fs.statSync("/dev/null").isCharacterDevice()).toBe(true)
    })
  )

  it.effect("says why it cannot be written", () =>
    Effect.gen(function* () {
      const file = fresh()
      fs.writeFileSync(file, "")
      const cases = [
        [path.join(file, "below"), "Missing"],
        [path.join(root, "not", "there"), "Missing"],
        [path.dirname(file), "Failed"]
      ] as const
      for (const [target, reason] of cases) {
        const error = yield* Effect.flip(WholeFile.write(target, "text"))
        expect([error.reason, error.message.startsWith(`${target} cannot be written: `)]).toEqual([reason, true])
      }
      expect(beside(file)).toEqual(["file"])
    })
  )
})

describe("processes", () => {
  it("that are killed leave the old file or the new one", async () => {
    const file = fresh()
    const bytes = 800_000
    for (let round = 0; round < 4; round++) {
      const writer = start("wholeWriter.ts", file, String(bytes))
      await writer.says(`wrote ${round}.`)
      await writer.kill()
      const text = fs.readFileSync(file, "utf8")
      expect([text.length, new Set(text).size]).toEqual([bytes, 1])
    }
  })

  it.effect("that were killed leave nothing permanently, and no unrelated file is removed", () =>
    Effect.gen(function* () {
      const file = fresh()
      const torn = `${file}.0b6f1d5a-3f0e-4a8e-9d2b-5f3c1a7e9b10.partial`
      const mine = path.join(path.dirname(file), "thesis.partial")
      for (const one of [torn, mine]) fs.writeFileSync(one, "text")
      fs.utimesSync(torn, 1, 1)
      fs.utimesSync(mine, 1, 1)
      yield* WholeFile.write(file, "text")
      expect(beside(file).sort()).toEqual(["file", "thesis.partial"])
    })
  )

  it.effect("lose what they are writing to a sweep alone, which a lock allows", () =>
    Effect.gen(function* () {
      const file = fresh()
      const torn = `${file}.0b6f1d5a-3f0e-4a8e-9d2b-5f3c1a7e9b10.partial`
      fs.writeFileSync(torn, "text")
      yield* WholeFile.write(file, "text")
      yield* WholeFile.sweep(path.dirname(file), ["another"])
      expect(beside(file)).toHaveLength(2)
      yield* WholeFile.sweep(path.dirname(file), ["file"])
      expect(beside(file)).toEqual(["file"])
    })
  )

  it("that write one file at once leave it whole", async () => {
    const file = fresh()
    const writers = [start("wholeWriter.ts", file, "800000"), start("wholeWriter.ts", file, "80000")]
    await Promise.all(writers.map((writer) => writer.says("wrote 5.")))
    await Promise.all(writers.map((writer) => writer.kill()))
    const text = fs.readFileSync(file, "utf8")
    expect([800_000, 80_000]).toContain(text.length)
    expect(new Set(text).size).toBe(1)
  })
})

describe("a folder", () => {
  it.effect("is created with its parents, or the error names the obstacle", () =>
    Effect.gen(function* () {
      const folder = path.join(path.dirname(fresh()), "one", "two")
      yield* WholeFile.makeFolder(folder)
      yield* WholeFile.makeFolder(folder)
      expect(fs.statSync(folder).isDirectory()).toBe(true)
      const file = fresh()
      fs.writeFileSync(file, "")
      const error = yield* Effect.flip(WholeFile.makeFolder(path.join(file, "below")))
      expect([error.file, error.tried]).toEqual([path.join(file, "below"), "written"])
      // If the system cannot create any, the error is immediate.
      if (process.platform === "linux") {
        expect((yield* Effect.flip(WholeFile.makeFolder("/proc/nope/below"))).message).toContain(
          "the folder cannot be created"
        )
      }
    })
  )

  it.effect("gets its name with all that is in it, and only once", () =>
    Effect.gen(function* () {
      const target = fresh()
      const partial = `${target}.partial`
      fs.mkdirSync(path.join(partial, "below"), { recursive: true })
      fs.writeFileSync(path.join(partial, "below", "file"), "text")
      yield* WholeFile.publishFolder(partial, target)
      expect(fs.readFileSync(path.join(target, "below", "file"), "utf8")).toBe("text")
      expect(fs.existsSync(partial)).toBe(false)
      const error = yield* Effect.flip(WholeFile.publishFolder(partial, `${target}.other`))
      expect(error.reason).toBe("Missing")
    })
  )
})

const disk = mountSmall()

describe.skipIf(disk === undefined)("a full disk", () => {
  it.effect("leaves the file unchanged, and reports it", () =>
    Effect.gen(function* () {
      const file = path.join(disk!, "file")
      yield* WholeFile.write(file, "before")
      const error = yield* Effect.flip(WholeFile.write(file, "x".repeat(10_000_000)))
      expect(error.reason).toBe("Full")
      expect(error.message).toContain("is full. Free some space")
      expect([fs.readFileSync(file, "utf8"), beside(file)]).toEqual(["before", ["file"]])
    })
  )
})
