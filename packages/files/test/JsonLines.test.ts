import fs from "node:fs"
import path from "node:path"
import { gzipSync } from "node:zlib"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as JsonLines from "../src/JsonLines.ts"
import { folder } from "./folder.ts"
import { mountSmall } from "./fullDisk.ts"
import { start } from "./processes.ts"

const root = folder()
let files = 0
const fresh = (content?: string | Uint8Array) => {
  const file = path.join(root, `${files++}.jsonl`)
  if (content !== undefined) fs.writeFileSync(file, content)
  return file
}

const values = (file: string, options?: JsonLines.ReadOptions) => Stream.runCollect(JsonLines.read(file, options))

const append = (file: string, lines: ReadonlyArray<unknown>, options?: JsonLines.WriteOptions) =>
  Effect.scoped(
    Effect.flatMap(JsonLines.open(file, options), ({ append }) =>
      JsonLines.attempt(() => {
        for (const line of lines) append(line)
      })
    )
  )

describe("reading", () => {
  it.effect("gives the lines that have their end, without empty ones", () =>
    Effect.gen(function* () {
      const file = fresh('{"a":1}\r\n\n[2]\n3')
      expect(yield* values(file)).toEqual([{ a: 1 }, [2]])
      expect(yield* values(file, { isComplete: true })).toEqual([{ a: 1 }, [2], 3])
    })
  )

  it.effect("puts letters together that come in two pieces", () =>
    Effect.gen(function* () {
      const text = "é🎻".repeat(50_000)
      expect(yield* values(fresh(`${JSON.stringify(text)}\n`))).toEqual([text])
    })
  )

  it.effect("names the line that is no JSON", () =>
    Effect.gen(function* () {
      const file = fresh('1\n{"a"\n3\n')
      const error = yield* Effect.flip(values(file))
      expect(error).toMatchObject({ _tag: "LineError", file, line: 2 })
      const torn = yield* Effect.flip(values(fresh('1\n{"a"'), { isComplete: true }))
      expect(torn).toMatchObject({ _tag: "LineError", line: 2 })
    })
  )

  it.effect("puts a long line together in one go, and refuses one without end", () =>
    Effect.gen(function* () {
      const text = "a".repeat(20_000_000)
      const [read] = yield* values(fresh(`"${text}"\n`))
      expect(read === text).toBe(true)
      const endless = path.join(root, "endless.jsonl.gz")
      fs.writeFileSync(endless, gzipSync(`1\n${"[".repeat(JsonLines.longestLine + 1)}`))
      const error = yield* Effect.flip(values(endless))
      expect(error).toMatchObject({ _tag: "LineError", line: 2 })
      expect(error.message).toBe(`${endless} cannot be read: line 2 is longer than 67108864 characters.`)
    })
  )

  it.effect("unpacks as far as it goes, and says when a packed file is cut that should be complete", () =>
    Effect.gen(function* () {
      const packed = gzipSync("1\n2\n")
      const whole = path.join(root, "whole.jsonl.gz")
      const cut = path.join(root, "cut.jsonl.gz")
      fs.writeFileSync(whole, packed)
      fs.writeFileSync(cut, packed.subarray(0, -4))
      expect(yield* values(whole)).toEqual([1, 2])
      expect(yield* values(whole, { isComplete: true })).toEqual([1, 2])
      expect(yield* values(cut)).toEqual([1, 2])
      const error = yield* Effect.flip(values(cut, { isComplete: true }))
      expect(error).toMatchObject({ _tag: "FileError", tried: "read" })
    })
  )

  it.effect("says that there is no file", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(values(path.join(root, "none.jsonl")))).toMatchObject({ reason: "Missing" })
    })
  )
})

describe("writing", () => {
  it.effect("goes on after the last line that has its end", () =>
    Effect.gen(function* () {
      // The torn line is longer than the piece in which the end is looked for.
      for (const torn of ["", "{", `{"text":"${"x".repeat(200_000)}`]) {
        const file = fresh(`{"a":1}\n${torn}`)
        yield* append(file, [2])
        expect(fs.readFileSync(file, "utf8")).toBe('{"a":1}\n2\n')
      }
      const file = fresh("no line at all")
      yield* append(file, [])
      expect(fs.readFileSync(file, "utf8")).toBe("")
    })
  )

  it.effect("cuts off what is not to be kept, at the end of a line", () =>
    Effect.gen(function* () {
      for (const [keepBytes, kept] of [
        [4, "1\n2\n"],
        [5, "1\n2\n"],
        [0, ""],
        [100, "1\n2\n3\n"]
      ] as const) {
        const file = fresh("1\n2\n3\n")
        yield* append(file, [9], { keepBytes })
        expect(fs.readFileSync(file, "utf8")).toBe(`${kept}9\n`)
      }
    })
  )

  it.effect("says how many bytes there are", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const file = fresh("1\nto")
        const writer = yield* JsonLines.open(file, { syncLines: Number.POSITIVE_INFINITY })
        expect(writer.bytes()).toBe(2)
        writer.append("é")
        writer.flush()
        expect([writer.bytes(), fs.statSync(file).size]).toEqual([7, 7])
      })
    )
  )

  it.effect("says why a file cannot be opened", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(append(path.join(root, "not", "there.jsonl"), []))
      expect(error).toMatchObject({ _tag: "FileError", reason: "Missing", tried: "written" })
    })
  )
})

describe("a process that is killed", () => {
  it("has every line on the disk that it has told of, and the next one goes on", async () => {
    const file = fresh()
    let told = -1
    for (let round = 0; round < 3; round++) {
      const writer = start("lineWriter.ts", file, String(told + 1))
      await writer.says(`\n${told + 60}\n`)
      await writer.kill()
      const { output } = await writer.ended
      const last = Number(output.slice(0, output.lastIndexOf("\n")).split("\n").at(-1))
      const kept = (await Effect.runPromise(values(file))) as ReadonlyArray<{ readonly number: number }>
      expect(kept.map(({ number }) => number)).toEqual(kept.map((_, index) => index))
      assert.isAtLeast(kept.length, last + 1)
      told = kept.length - 1
    }
  })
})

const disk = mountSmall()

describe.skipIf(disk === undefined)("a full disk", () => {
  it.effect("takes a line whole or not at all, and the next one when there is room again", () =>
    Effect.gen(function* () {
      const file = path.join(disk!, "journal.jsonl")
      const ballast = path.join(disk!, "ballast")
      const line = { text: "x".repeat(100_000) }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* JsonLines.open(file)
          let kept = 0
          const error = yield* Effect.flip(
            JsonLines.attempt(() => {
              for (;;) {
                writer.append(line)
                kept += 1
              }
            })
          )
          expect(error.reason).toBe("Full")
          expect(yield* values(file)).toHaveLength(kept)
          expect(fs.statSync(file).size).toBe(writer.bytes())
          writer.append("small")
          expect((yield* values(file)).at(-1)).toBe("small")
        })
      )
      fs.rmSync(file)
      fs.rmSync(ballast, { force: true })
    })
  )
})
