/** Text written to a stream, and drawn text, does not act: the guard and the lines. */
import { assert, describe, it } from "@effect/vitest"
import * as Output from "../src/invocation/Output.ts"
import * as Line from "../src/view/Line.ts"
import { actingIn, hostile } from "./hostile.ts"

describe("what is written to a stream", () => {
  const written = (use: (stream: NodeJS.WriteStream) => void): string => {
    const chunks: Array<string> = []
    const stream = { write: (text: string) => chunks.push(text) } as unknown as NodeJS.WriteStream
    Output.guard(stream)
    use(stream)
    return chunks.join("")
  }

  it("is shown as escapes where it would act, and is else as it was", () => {
    assert.strictEqual(
      written((stream) => stream.write("a\u001b[2J\u009b\tü\n😀\u202e")),
      "a\\u001b[2J\\u009b\tü\n😀\\u202e"
    )
  })

  it("means the same in JSON", () => {
    assert.strictEqual(JSON.parse(written((stream) => stream.write(JSON.stringify(hostile)))), hostile)
  })

  it("is read as a text when it comes in bytes, wherever they are cut", () => {
    const bytes = Buffer.from("ü\u009b31m😀")
    assert.strictEqual(
      written((stream) => {
        for (const byte of bytes) stream.write(Uint8Array.of(byte))
      }),
      "ü\\u009b31m😀"
    )
  })

  it("may hold sequences where it is drawn", () => {
    assert.strictEqual(
      written((stream) => Output.drawing(stream).write("\u001b[?25l")),
      "\u001b[?25l"
    )
  })
})

describe("a line of a view", () => {
  it("holds no sequence but those of its own colours", () => {
    const line = [Line.span(hostile, "bad"), Line.span(hostile)]
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are its own
    assert.isUndefined(actingIn(Line.toAnsi(line).replaceAll(/\u001b\[\d+m/g, "")))
    assert.isUndefined(actingIn(Line.toText(line)))
  })
})
