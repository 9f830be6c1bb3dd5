import { assert, describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Completion from "../src/workflow/Completion.ts"
import * as Lines from "../src/workflow/Lines.ts"
import { renderText } from "../src/workflow/RenderText.ts"
import { workflow } from "./fixture.ts"

const flags = { strict: false, poolSize: Option.none<number>(), maxSteps: 5, allowEmpty: false }

const reader = Completion.reader(flags)

const completion = 'model_id = [1, 0]\nsubtasks = ["Räum auf 🧹.", "Check."]\naccess_list = [[], "all"]\n'

const collect = async (input: Buffer, size: number): Promise<string> => {
  async function* chunks() {
    for (let start = 0; start < input.length; start += size) yield input.subarray(start, start + size)
  }
  let text = ""
  for await (const piece of Lines.results(reader, "lines.jsonl", chunks())) text += piece
  return text
}

describe("read --lines", () => {
  const input = Buffer.from(`${JSON.stringify(completion)}\nnot json\r\n\n7\n${JSON.stringify("prose")}`)

  it("ends at a line that is longer than any completion, and says which", async () => {
    async function* chunks() {
      yield Buffer.from('"a"\n"')
      for (;;) yield Buffer.alloc(1 << 24, "x")
    }
    const results = Lines.results(reader, "lines.jsonl", chunks())
    const first = await results.next()
    assert.include(first.value, '"ok":false')
    const error = await results.next().then(undefined, (error: unknown) => error)
    assert.strictEqual((error as Error).message, "lines.jsonl cannot be read: line 2 is longer than 67108864 bytes.")
  })

  it("gives one result for every line, also for blank ones and the last without its line feed", async () => {
    const results = (await collect(input, 1 << 16)).trimEnd().split("\n")
    assert.deepStrictEqual(JSON.parse(results[0]!), {
      ok: true,
      workflow: {
        steps: [
          { worker: 1, subtask: "Räum auf 🧹.", access: [] },
          { worker: 0, subtask: "Check.", access: "all" }
        ]
      }
    })
    assert.deepStrictEqual(
      results.slice(1).map((result) => Object.keys(JSON.parse(result).error)),
      Array.from({ length: 4 }, () => ["line", "column", "message"])
    )
  })

  it("gives the same wherever the chunks are cut, in the middle of a character too", async () => {
    const whole = await collect(input, 1 << 16)
    for (const size of [1, 2, 3, 7, 64]) assert.strictEqual(await collect(input, size), whole)
  })

  it("gives nothing for nothing", async () => {
    assert.strictEqual(await collect(Buffer.alloc(0), 10), "")
  })

  it("joins a line of many chunks once, not at every chunk", async () => {
    const long = Buffer.from(JSON.stringify("x".repeat(1 << 20)))
    const result = JSON.parse(await collect(long, 64))
    assert.isFalse(result.ok)
  })
})

describe("the reader", () => {
  const read = (text: string, changed: Partial<Parameters<typeof Completion.reader>[0]> = {}) =>
    Result.mapError(Completion.reader({ ...flags, ...changed })(text), (problem) => problem.message)

  it("takes any worker from 0 on when the pool is not known", () => {
    const text = "model_id = [99]\nsubtasks = ['x']\naccess_list = [[]]"
    assert.isTrue(Result.isSuccess(read(text)))
    assert.isTrue(Result.isFailure(read(text, { poolSize: Option.some(99) })))
    assert.deepStrictEqual(
      read(text.replace("99", "-1")),
      Result.fail("Step 0: worker -1 does not exist. Worker indices start at 0.")
    )
  })

  it("takes prose around the lists, but not strictly", () => {
    const text = `I think.\n${completion}`
    assert.isTrue(Result.isSuccess(read(text)))
    assert.isTrue(Result.isFailure(read(text, { strict: true })))
  })

  it("takes three empty lists where they are allowed", () => {
    const text = "model_id = []\nsubtasks = []\naccess_list = []"
    assert.isTrue(Result.isFailure(read(text)))
    assert.isTrue(Result.isSuccess(read(text, { allowEmpty: true })))
  })
})

describe("showProblem", () => {
  const show = (text: string, line: number, column: number) =>
    Completion.showProblem(text, { line, column, message: "No." })

  it("puts the caret under the place, also behind wide characters", () => {
    assert.strictEqual(show("a\nb = 日本 ?", 2, 8), "Line 2, column 8: No.\n  2 | b = 日本 ?\n    |          ^")
  })

  it("shows the part of a long line that matters", () => {
    const [, shown, caret] = show(`${"x".repeat(1_000)}?${"y".repeat(10_000_000)}`, 1, 1_001).split("\n")
    assert.strictEqual(shown![caret!.indexOf("^")], "?")
    assert.isBelow(shown!.length, 120)
  })

  it("points behind the end of a text that ends too early", () => {
    assert.strictEqual(show("", 1, 1), "Line 1, column 1: No.\n  1 | \n    | ^")
  })
})

describe("render", () => {
  it("draws in text", () => {
    expect(renderText(workflow)).toMatchSnapshot()
  })
})
