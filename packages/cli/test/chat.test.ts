import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { config, divisi, inFolder } from "./process.ts"
import * as PseudoTerminal from "./pseudoTerminal.ts"

const chatting = ["chat", "--config", config("chatting")]

describe("divisi chat on a pipe", () => {
  it("takes each line for a turn, sends the whole conversation, and prints answers alone", async () => {
    const { code, errors, output } = await divisi(chatting, { input: "Hello\n\nAnd now?\n" })
    assert.strictEqual(output, "1 seen, the first: Hello; now: Hello\n3 seen, the first: Hello; now: And now?\n")
    assert.match(errors, /^divisi: 2 turns · 2 calls · \d+ tokens · \$0\.02\n$/)
    assert.strictEqual(code, 0)
  })

  it("takes a line that begins with a slash for a question", async () => {
    const { errors, output } = await divisi(chatting, { input: "/cost of bread\nAnd /cost?\n" })
    assert.match(output, /now: \/cost of bread\n.*now: And \/cost\?\n$/)
    const note = 'Sending "/cost of bread" as a question, because commands work only in a terminal.\n'
    assert.strictEqual(errors.split("as a question").length, 2)
    assert.include(errors, note)
  })

  it("never pays more for all turns together than it may, and ends where one has no answer", async () => {
    const { code, errors, output } = await divisi([...chatting, "--max-cost", "0.025"], { input: "a\nb\nc\nd\n" })
    assert.strictEqual(output.trimEnd().split("\n").length, 2)
    assert.match(errors, /stopped by a limit/)
    assert.match(errors, /2 calls · \d+ tokens · \$0\.02\n$/)
    assert.strictEqual(code, 3)
  })

  it("prints nothing about an empty conversation", async () => {
    assert.deepEqual(await divisi(chatting, { input: "" }), { code: 0, output: "", errors: "" })
  })
})

describe.runIf(PseudoTerminal.isThere)("divisi chat on a terminal", () => {
  it("answers, folds the plan and the cost away, forgets and saves", () =>
    inFolder(async (cwd) => {
      const screen = await PseudoTerminal.play(
        chatting,
        [
          ["› ", "Hello\r"],
          ["/plan", "And now?\r"],
          ["3 seen, the first: Hello; now: And now?", ""],
          ["/plan", "/plan\r"],
          [/Plan.* by single/s, ""],
          ["› ", "/cost\r"],
          ["2 turns", ""],
          ["› ", "/save talk.json\r"],
          ["Saved to talk.json", ""],
          ["› ", "/reset\r"],
          ["Conversation cleared", ""],
          ["› ", "Who?\r"],
          ["1 seen, the first: Who?", ""],
          ["› ", "\u0004"]
        ],
        cwd
      )
      assert.match(screen, /3 turns · 3 calls · \d+ tokens · \$0\.03/)
      const saved = JSON.parse(fs.readFileSync(path.join(cwd, "talk.json"), "utf8"))
      assert.deepStrictEqual(
        saved.messages.map(({ role }: { role: string }) => role),
        ["user", "assistant", "user", "assistant"]
      )
      assert.strictEqual(saved.runs.length, 2)
    }))

  it("stops a turn at Ctrl-C, and keeps the conversation and what was paid", () =>
    inFolder(async (cwd) => {
      const screen = await PseudoTerminal.play(
        chatting,
        [
          ["› ", "Hello\r"],
          ["/plan", "for ever, please\r"],
          ["la la la", "\u0003"],
          ["interrupted", ""],
          ["› ", "Still there?\r"],
          ["3 seen, the first: Hello; now: Still there?", ""],
          ["› ", "/exit\r"]
        ],
        cwd
      )
      assert.match(screen, /3 turns · 3 calls/)
    }))

  it("takes lines that are pasted for one turn", () =>
    inFolder(async (cwd) => {
      const screen = await PseudoTerminal.play(
        chatting,
        [
          ["› ", "one\rtwo\r"],
          ["now: one/two", ""],
          ["› ", "\u0004"]
        ],
        cwd
      )
      assert.match(screen, /1 turn · 1 call/)
    }))
})

describe.runIf(PseudoTerminal.isThere)("divisi init on a terminal", () => {
  it("asks with prompts that can be seen, and keeps what it may not overwrite", () =>
    inFolder(async (cwd) => {
      fs.writeFileSync(path.join(cwd, "divisi.config.ts"), "mine")
      fs.writeFileSync(path.join(cwd, "first.ts"), "mine, too")
      const screen = await PseudoTerminal.play(
        ["init", "--models", "gym"],
        [
          ["Which language?", "\r"],
          ["divisi.config.ts already exists. Overwrite it?", "n"],
          ["first.ts already exists. Overwrite it?", "\u0003"]
        ],
        cwd
      )
      assert.notInclude(screen, "\\u001b")
      assert.strictEqual(fs.readFileSync(path.join(cwd, "first.ts"), "utf8"), "mine, too")
    }))
})
