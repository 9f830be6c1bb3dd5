import { assert, describe, it } from "@effect/vitest"
import * as TextFile from "../src/invocation/TextFile.ts"

const text = '{"question":"How many?"}\r\n'
const marked = Buffer.from(`\ufeff${text}`, "utf16le")

describe("TextFile", () => {
  it("decodes what editors and shells on Windows write, without the byte order mark", () => {
    for (const bytes of [
      Buffer.from(text),
      Buffer.from(`\ufeff${text}`),
      marked,
      Buffer.from(marked).swap16(),
      Buffer.from("\ufeff"),
      Buffer.alloc(0)
    ]) {
      assert.strictEqual(TextFile.decode(bytes), bytes.length > 3 ? text : "")
    }
  })
})
