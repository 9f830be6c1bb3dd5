import { type RunEvent, Transcript } from "@divisi/core"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Block from "../src/view/Block.ts"
import * as BlockView from "../src/view/BlockView.ts"
import * as Line from "../src/view/Line.ts"
import * as PlainView from "../src/view/PlainView.ts"
import * as View from "../src/view/View.ts"
import { complete, events, fold, type Part, proposed, running, started } from "./fixture.ts"
import { Terminal } from "./Terminal.ts"

const now = 2_000

const live = (parts: ReadonlyArray<Part>, width: number, height?: number): string =>
  BlockView.toPlainText(BlockView.live(fold(events(parts)), { width, now, height }))

const final = (parts: ReadonlyArray<Part>, width: number): string =>
  BlockView.toPlainText(BlockView.final(fold(events(parts)), width))

/** Returns the output printed as the events arrive. */
const plain = (list: ReadonlyArray<RunEvent.RunEvent>): string => {
  let output = ""
  const recorder = Transcript.recorder()
  const view = View.plain({ write: (text) => (output += text) }, recorder.transcript)
  for (const event of list) {
    recorder.listener(event)
    view.show(event)
  }
  return output.trimEnd()
}

describe("silence in a pipe", () => {
  const list = events(running)

  /** Shows events, and then what is written at each of some times in seconds after the last. */
  const silent = (shown: ReadonlyArray<RunEvent.RunEvent>, ...seconds: ReadonlyArray<number>) => {
    let output = ""
    let at = 0
    let look = () => {}
    let isStopped = false
    const recorder = Transcript.recorder()
    const view = View.plain({ write: (text) => (output += text) }, recorder.transcript, undefined, {
      now: () => at,
      repeat: (call) => {
        look = call
        return () => {
          isStopped = true
        }
      }
    })
    for (const event of shown) {
      recorder.listener(event)
      view.show(event)
    }
    const said = seconds.map((second) => {
      output = ""
      at = shown.at(-1)!.at + second * 1_000
      look()
      return output
    })
    view.close()
    assert.isTrue(isStopped)
    return said
  }

  it("is reported after a minute, and each time that it is twice as long", () => {
    assert.deepStrictEqual(silent(list, 59, 60, 90, 121, 200, 241), [
      "",
      "step 1   calendar has sent nothing for 1 min 00 s\n",
      "",
      "step 1   calendar has sent nothing for 2 min 01 s\n",
      "",
      "step 1   calendar has sent nothing for 4 min 01 s\n"
    ])
  })

  it("is that of a planner, too, and ends with the run", () => {
    const planning = silent(events([started, { type: "round-started", round: 0 }]), 61)
    assert.deepStrictEqual(planning, ["plan     lexical has sent nothing for 1 min 01 s\n"])
    assert.deepStrictEqual(silent(events(complete), 600), [""])
  })
})

describe("the live view", () => {
  it("shows a run in the middle", () => {
    expect(live(running, 80)).toMatchSnapshot()
  })

  it("shows it on a narrow screen", () => {
    expect(live(running, 36)).toMatchSnapshot()
  })

  it("never is wider or higher than the screen", () => {
    for (const width of [1, 2, 5, 10, 20, 40, 200]) {
      for (const height of [1, 2, 3, 5, 8, 13, 50]) {
        const lines = BlockView.live(fold(events(running)), { width, height, now })
        assert.isAtMost(lines.length, height)
        for (const line of lines) assert.isAtMost(Line.widthOf(Line.toText(line)), width)
      }
    }
  })

  it("says less of each step where there is no room for all", () => {
    expect(live(running, 80, 9)).toMatchSnapshot()
    expect(live(running, 80, 6)).toMatchSnapshot()
  })

  it("shows a plan while it is written, and why the one before could not be read", () => {
    const parts: ReadonlyArray<Part> = [
      started,
      { type: "round-started", round: 0 },
      { type: "completion-delta", round: 0, attempt: 0, kind: "text", text: "model_id = [0," },
      {
        type: "completion-finished",
        round: 0,
        attempt: 0,
        completion: "model_id = [0,",
        error: 'Line 1, column 15: expected "]".',
        cached: false,
        usage: { inputTokens: 1, outputTokens: 1 },
        costUsd: 0
      },
      { type: "completion-delta", round: 0, attempt: 1, kind: "text", text: "I will ask\nmodel_id = [0, 1" }
    ]
    expect(live(parts, 80)).toMatchSnapshot()
  })
})

describe("the final view", () => {
  it("shows a finished run", () => {
    expect(final(complete, 80)).toMatchSnapshot()
  })

  it("shows a long answer as it is, to its end", () => {
    const answer = Array.from({ length: 200 }, (_, index) => `line ${index}`).join("\n")
    const parts = complete.map((part) => (part.type === "run-finished" ? { ...part, answer } : part))
    assert.include(final(parts, 80), answer)
  })

  it("shows what failed, was skipped, was stopped and was never run", () => {
    const parts: ReadonlyArray<Part> = [
      started,
      ...proposed,
      { type: "step-started", round: 0, step: 0, worker: "units" },
      {
        type: "step-failed",
        round: 0,
        step: 0,
        worker: "units",
        message: "units is overloaded: wait, or let another worker take over.",
        durationMillis: 5
      },
      { type: "step-started", round: 0, step: 1, worker: "calendar" },
      {
        type: "call-interrupted",
        round: 0,
        step: 1,
        worker: "calendar",
        usage: { inputTokens: 30, outputTokens: 100, estimated: true },
        costUsd: 0.0001
      },
      { type: "step-skipped", round: 0, step: 2, worker: "generalist", reason: "budget" },
      {
        type: "run-finished",
        ending: "budget",
        detail: "The time limit of 1 s was reached.",
        spend: {
          usage: { inputTokens: 30, outputTokens: 100, estimated: true },
          costUsd: 0.0001,
          calls: 2,
          unpricedCalls: 1
        },
        durationMillis: 1_000
      }
    ]
    expect(final(parts, 80)).toMatchSnapshot()
  })

  it("says that a vendor reported usage that cannot be, as lines do", () => {
    const usage = { inputTokens: 30, outputTokens: 100, estimated: true, misreported: "outputTokens: -90" }
    const spend = { usage, costUsd: 0.0001, calls: 1, unpricedCalls: 0 }
    const parts: ReadonlyArray<Part> = [
      started,
      { type: "round-started", round: 0 },
      { type: "run-finished", ending: "failed", spend, durationMillis: 5 }
    ]
    const said = "invalid usage was reported (outputTokens: -90); an estimate is used instead"
    assert.include(final(parts, 120), said)
    assert.include(plain(events(parts)), `note     ${said}`)
  })

  it("draws a majority vote", () => {
    const steps = [0, 1, 2].map(() => ({ worker: 0, subtask: "", access: [] }))
    const parts: ReadonlyArray<Part> = [
      started,
      { type: "round-started", round: 0 },
      {
        type: "workflow-proposed",
        round: 0,
        policy: "self-consistency-3",
        workflow: { steps, answer: "majority" },
        notes: [],
        durationMillis: 0
      }
    ]
    expect(final(parts, 80)).toMatchSnapshot()
  })
})

describe("the plain view", () => {
  it("shows a run in lines that are never redrawn", () => {
    expect(plain(events(complete))).toMatchSnapshot()
  })

  it("prints from a transcript the same text as during the run", () => {
    const all = PlainView.entries(fold(events(complete))).flatMap(({ lines }) => lines)
    assert.strictEqual(plain(events(complete)), all.join("\n"))
  })

  it("holds no escape sequence, whatever a worker writes", () => {
    const parts = complete.map((part) =>
      part.type === "step-finished" ? { ...part, answer: "\u001b[2J\u001b[31mred\u0007" } : part
    )
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.notMatch(plain(events(parts)), /[\u0000-\u0009\u000b-\u001f]/)
  })
})

describe("the block", () => {
  const lines = (...texts: ReadonlyArray<string>) => texts.map((text) => Line.line(text))

  it("replaces itself when it grows and when it shrinks, and leaves what was above", () => {
    const terminal = new Terminal(20, 10)
    const window = { columns: 20, rows: 10 }
    terminal.write("before\n")
    terminal.write(Block.frame([], lines("a", "bb", "ccc"), window))
    terminal.write(Block.frame(lines("a", "bb", "ccc"), lines("x"), window))
    assert.deepStrictEqual(terminal.text(), ["before", "x"])
    terminal.write(Block.frame(lines("x"), lines("1", "2", "3", "4"), window))
    assert.deepStrictEqual(terminal.text(), ["before", "1", "2", "3", "4"])
  })

  it("counts lines that a narrower window has broken", () => {
    assert.include(Block.frame(lines("a".repeat(30)), lines("b"), { columns: 10, rows: 20 }), "\u001b[3A")
  })

  it("leaves the final view once in the scrollback, on a terminal that is too small for it", () => {
    const terminal = new Terminal(40, 6)
    const recorder = Transcript.recorder()
    const view = View.live(terminal, recorder.transcript, () => now)
    for (const event of events(complete)) {
      recorder.listener(event)
      view.show(event)
    }
    view.close()
    view.close()
    const text = terminal.text().join("\n")
    assert.strictEqual(text, BlockView.toPlainText(BlockView.final(fold(events(complete)), 39)))
    assert.isTrue(terminal.isCursorShown)
  })
})

describe("isLive", () => {
  const terminal = { isTTY: true, write: () => {} }

  it("redraws on a terminal only, and not where plain output is asked for", () => {
    assert.isTrue(View.isLive(terminal, {}))
    assert.isFalse(View.isLive({ write: () => {} }, {}))
    assert.isFalse(View.isLive(terminal, { NO_COLOR: "1" }))
    assert.isFalse(View.isLive(terminal, { CI: "true" }))
    assert.isTrue(View.isLive(terminal, { CI: "false" }))
    assert.isFalse(View.isLive(terminal, { TERM: "dumb" }))
  })
})
