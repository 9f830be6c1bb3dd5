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

  it.effect("reads UTF-16 with a byte order mark, and rejects other encodings", () =>
    Effect.gen(function* () {
      const marked = Buffer.from('\ufeff{"a":"é"}\r\n2', "utf16le")
      for (const bytes of [marked, Buffer.from(marked).swap16()]) {
        expect(yield* values(fresh(bytes), { isComplete: true })).toEqual([{ a: "é" }, 2])
      }
      const error = yield* Effect.flip(values(fresh(Buffer.from('{"a":"é"}', "latin1")), { isComplete: true }))
      assert.include(error.message, "save it as UTF-8")
    })
  )

  it.effect("ends a line at a line feed alone", () =>
    Effect.gen(function* () {
      const texts = ["a\u2028b", "a\u2029b", "a\u0085b", "a\vb", "a\fb"]
      const file = fresh()
      yield* append(file, texts)
      expect(yield* values(file)).toEqual(texts)
      expect(yield* values(fresh("[1,\r2]\n3\n"))).toEqual([[1, 2], 3])
    })
  )

  it.effect("leaves damaged lines out if a listener for them is given", () =>
    Effect.gen(function* () {
      const damaged: Array<number> = []
      const file = fresh('{"a":1}\n{"a":\n{"a":3}\n\u0000\n5\n')
      const found = yield* values(file, { onDamaged: ({ line }) => void damaged.push(line) })
      expect([found, damaged]).toEqual([
        [{ a: 1 }, { a: 3 }, 5],
        [2, 4]
      ])
    })
  )

  it.effect("tells a sealed line that was changed from one that was not", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* append(file, [{ a: 1 }, {}, { b: "é", c: undefined }], { isSealed: true })
      expect(yield* values(file, { seal: "required" })).toEqual([{ a: 1 }, {}, { b: "é" }])
      const [first = "", ...rest] = fs.readFileSync(file, "utf8").split("\n")
      fs.writeFileSync(file, [first.replace('"a":1', '"a":2'), '{"a":1}', ...rest].join("\n"))
      const damaged: Array<string> = []
      const onDamaged = ({ line, problem }: JsonLines.LineError) => void damaged.push(`${line} ${problem}`)
      expect(yield* values(file, { seal: "required", onDamaged })).toEqual([{}, { b: "é" }])
      expect(damaged).toEqual([
        "1 is damaged: its checksum does not match, so it is corrupt or was edited",
        "2 is damaged: it has no checksum"
      ])
      expect(yield* values(file, { seal: "optional", onDamaged })).toEqual([{ a: 1 }, {}, { b: "é" }])
    })
  )

  it.effect("puts letters together that come in two pieces", () =>
    Effect.gen(function* () {
      const text = "é🎻".repeat(50_000)
      expect(yield* values(fresh(`${JSON.stringify(text)}\n`))).toEqual([text])
    })
  )

  it.effect("names the line that is not JSON", () =>
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

  it.effect("reads the file each time that it is run", () =>
    Effect.gen(function* () {
      const file = fresh("1\n")
      const reading = values(file)
      expect(yield* reading).toEqual([1])
      fs.appendFileSync(file, "2\n")
      expect(yield* reading).toEqual([1, 2])
    })
  )

  it.effect("says that there is no file", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(values(path.join(root, "none.jsonl")))).toMatchObject({ reason: "Missing" })
    })
  )
})

describe("writing", () => {
  it.effect("continues after the last complete line", () =>
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

  it.effect("does not go through a link, whatever it leads to", () =>
    Effect.gen(function* () {
      const victim = fresh("a precious line without end")
      for (const target of [path.basename(victim), "not there", "."]) {
        const link = fresh()
        fs.symlinkSync(target, link)
        const error = yield* Effect.flip(append(link, [1]))
        expect(error.message).toContain("it is a link. It was not changed")
      }
      expect(fs.readFileSync(victim, "utf8")).toBe("a precious line without end")
      expect(fs.existsSync(path.join(root, "not there"))).toBe(false)
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
  it("has every reported line on the disk, and the next process continues", async () => {
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
  it.effect("writes a line completely or not at all, and the next one when space is free again", () =>
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
