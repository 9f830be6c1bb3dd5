import { assert, describe, it } from "@effect/vitest"
import { TextEncoding } from "../src/index.ts"

const text = '{"question":"How many é?"}\r\n'
const marked = Buffer.from(`\ufeff${text}`, "utf16le")

const readable: ReadonlyArray<readonly [text: string, bytes: Buffer]> = [
  [text, Buffer.from(text)],
  [text, Buffer.from(`\ufeff${text}`)],
  [text, marked],
  [text, Buffer.from(marked).swap16()],
  ["", Buffer.from("\ufeff")],
  ["", Buffer.alloc(0)]
]

describe("TextEncoding", () => {
  it("decodes what editors and shells on Windows write, without the byte order mark", () => {
    for (const [expected, bytes] of readable) assert.strictEqual(TextEncoding.decode(bytes), expected)
  })

  it("decodes chunks that end within a character", () => {
    for (const [expected, bytes] of readable) {
      for (let at = 2; at < bytes.length; at++) {
        const next = TextEncoding.decoder()
        const parts = [next(bytes.subarray(0, at)), next(bytes.subarray(at)), next()]
        assert.strictEqual(parts.join(""), expected)
      }
    }
  })

  it("rejects other encodings and incomplete characters", () => {
    for (const bytes of [Buffer.from("é", "latin1"), Buffer.from("é").subarray(0, 1), marked.subarray(0, 3)])
      assert.throws(() => TextEncoding.decode(bytes), "save it as UTF-8")
  })
})
