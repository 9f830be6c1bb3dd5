import { assert, describe, expect, it } from "@effect/vitest"
import * as BlockView from "../src/view/BlockView.ts"
import * as PlainView from "../src/view/PlainView.ts"
import { events, fold, type Part, proposed, started } from "./fixture.ts"

const paid = { usage: { inputTokens: 10, outputTokens: 5 }, costUsd: 0 }
const place = { round: 0, step: 0, turn: 0 }
const call = (id: string, name: string, text: string) => ({ id, name, arguments: text })

const turn = (...toolCalls: ReadonlyArray<ReturnType<typeof call>>): Part => ({
  type: "turn-finished",
  ...place,
  worker: "units",
  text: "I will look.",
  toolCalls,
  durationMillis: 10,
  cached: false,
  ...paid
})

const gave = (index: number, name: string, content: string, isError = false): ReadonlyArray<Part> => [
  { type: "tool-started", ...place, index, name },
  { type: "tool-finished", ...place, index, name, content, isError, durationMillis: 12 }
]

const step: ReadonlyArray<Part> = [started, ...proposed, { type: "step-started", round: 0, step: 0, worker: "units" }]

const plain = (...parts: ReadonlyArray<Part>) =>
  PlainView.entries(fold(events([...step, ...parts]))).flatMap(({ lines }) => lines)

const live = (width: number, ...parts: ReadonlyArray<Part>) =>
  BlockView.toPlainText(BlockView.live(fold(events([...step, ...parts])), { width, now: 5_000 }))

describe("views of tools", () => {
  it("show what is asked, given and failed, and what a worker is not shown", () => {
    const parts: ReadonlyArray<Part> = [
      {
        type: "step-notice",
        round: 0,
        step: 0,
        worker: "units",
        notice: "It does not support pictures, so they were left out."
      },
      turn(call("a", "weather", '{"city":"Ulm"}'), call("b", "total", "{}")),
      ...gave(0, "weather", "sunny"),
      ...gave(1, "total", "The tool failed: no network", true)
    ]
    const lines = plain(...parts)
    for (const line of [
      "step 0   units: It does not support pictures, so they were left out.",
      "step 0   units: I will look.",
      'step 0   units calls weather({"city":"Ulm"})',
      "step 0   weather returned (12 ms): sunny",
      "step 0   total failed (12 ms): The tool failed: no network"
    ]) {
      expect(lines).toContain(line)
    }
    const screen = live(100, ...parts)
    expect(screen).toContain('✓ weather({"city":"Ulm"}) → sunny')
    expect(screen).toContain("✗ total({}) → The tool failed: no network")
  })

  it("show how far a tool is while it runs, and none of it afterwards", () => {
    const progress = (message: string): Part => ({
      type: "tool-progress",
      ...place,
      index: 0,
      name: "read",
      progress: 3,
      total: 10,
      message
    })
    const begun = [
      turn(call("a", "read", '{"name":"a.md"}')),
      { type: "tool-started", ...place, index: 0, name: "read" }
    ]
    const parts = [...begun, progress("page 2\u001b[31m"), progress("page 3")] as ReadonlyArray<Part>
    assert.include(live(100, ...parts), '… read({"name":"a.md"}): 3 of 10, page 3')
    assert.notInclude(live(100, ...parts), "page 2")
    const long = live(60, ...(begun as ReadonlyArray<Part>), progress("y".repeat(500)))
    for (const line of long.split("\n")) assert.isAtMost(line.length, 60)
    const ended = live(100, ...parts, ...gave(0, "read", "text"))
    assert.notInclude(ended, "3 of 10")
  })

  it("show how a tool ended after arguments of any length, and the arguments before a long result", () => {
    const long = `{"text":"${"x".repeat(500)}"}`
    const screen = live(
      60,
      turn(call("a", "write", long), call("b", "read", '{"name":"a.md"}')),
      ...gave(0, "write", "The disk is full.", true),
      ...gave(1, "read", "y".repeat(500))
    )
    assert.match(screen, /✗ write\(\{"text":"x+…\) → The disk is full\.$/m)
    assert.match(screen, /✓ read\(\{"name":"a\.md"\}\) → y+…$/m)
    for (const line of screen.split("\n")) assert.isAtMost(line.length, 60)
  })

  it("count all turns of a step as what its answer took", () => {
    const answered: Part = {
      type: "step-finished",
      round: 0,
      step: 0,
      worker: "units",
      answer: "It is done.",
      finishReason: "stop",
      cached: false,
      durationMillis: 40,
      usage: { inputTokens: 30, outputTokens: 5 },
      costUsd: 0.25
    }
    const lines = plain(turn(call("a", "weather", "{}")), ...gave(0, "weather", "sunny"), answered)
    expect(lines).toContain("step 0   units (40 ms, 50 tokens, $0.25): It is done.")
  })

  it("show a tool that runs, and one that waits for a word or a result", () => {
    const asked = turn(call("a", "weather", "{}"))
    expect(live(100, asked, gave(0, "weather", "")[0]!)).toContain("… weather({})")
    for (const [what, words] of [
      ["approval", "step 0   waits for approval of weather({})"],
      ["result", "step 0   waits for the result of weather({})"]
    ] as const) {
      const waiting: Part = {
        type: "step-waiting",
        round: 0,
        step: 0,
        worker: "units",
        calls: [{ id: "0.0.0.0", round: 0, step: 0, worker: "units", for: what, call: call("a", "weather", "{}") }]
      }
      expect(plain(asked, waiting)).toContain(words)
      expect(live(100, asked, waiting)).toContain("◦ weather({})")
    }
  })

  it("show hostile names, arguments and results as short plain text, however large", () => {
    const evil = "\u001b]0;owned\u0007\u202e\u009b31m"
    const parts = [
      turn(call("a", `we${evil}ather`, JSON.stringify({ text: `${evil}${"x".repeat(1_000_000)}` }))),
      ...gave(0, `we${evil}ather`, `${evil}\n`.repeat(100_000))
    ]
    const lines = plain(...parts)
    for (const line of lines) {
      assert.notMatch(line, /[\p{Cc}\u202e]/u)
      assert.isBelow(line.length, 400)
    }
    assert.match(lines.find((line) => line.includes(" calls "))!, /calls weather\(.*…\)$/)
    for (const line of live(60, ...parts).split("\n")) {
      assert.notMatch(line, /[\p{Cc}\u202e]/u)
      assert.isAtMost(line.length, 60)
    }
  })
})
