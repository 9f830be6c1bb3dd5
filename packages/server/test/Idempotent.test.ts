import { Journal } from "@divisi/core"
import { assert, describe, it } from "vitest"
import * as Idempotent from "../src/segment/Idempotent.ts"
import { serving } from "./serving.ts"
import { said, team, worker } from "./teams.ts"

const question = (text: string) => [{ role: "user", content: text }]

const wires = {
  "/chat/completions": (text: string) => ({ model: "divisi", messages: question(text) }),
  "/responses": (text: string) => ({ model: "divisi", input: text }),
  "/messages": (text: string) => ({ model: "divisi", max_tokens: 100, messages: question(text) })
}

/** Servers that start one after another on one journal, each in the memory of a process of its own. */
const servers = () => {
  const memory = Journal.memory()
  const [a, b, c] = [worker("a", said("one")), worker("b", said("two")), worker("c", said("the answer"))]
  return {
    calls: () => [a, b, c].reduce((sum, { calls }) => sum + calls.length, 0),
    ask: (path: string, body: object, key: string) =>
      serving({ ...team(a, b, c), journal: Journal.makeMemory(memory) }, async ({ url }) => {
        const headers = { "Idempotency-Key": key, "content-type": "application/json" }
        const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
        return { status: response.status, text: await response.text() }
      })
  }
}

describe("an Idempotency-Key", () => {
  for (const [path, bodyOf] of Object.entries(wires)) {
    for (const stream of [false, true]) {
      it(`has the answer of a finished run after a restart: ${path}, ${stream ? "" : "not "}streaming`, async () => {
        const { ask, calls } = servers()
        const body = { ...bodyOf("What is it?"), stream }
        const first = await ask(path, body, "k-1")
        assert.deepStrictEqual([first.status, first.text.includes("the answer")], [200, true], first.text)
        const paid = calls()
        const again = await ask(path, body, "k-1")
        assert.deepStrictEqual([again.status, again.text.includes("the answer")], [200, true], again.text)
        assert.strictEqual(calls(), paid)
        const other = await ask(path, { ...bodyOf("What else?"), stream }, "k-1")
        assert.strictEqual(other.status, 400)
        assert.include(other.text, "was used with a different request")
        assert.strictEqual(calls(), paid)
        await ask(path, body, "k-2")
        assert.isAbove(calls(), paid)
      })
    }
  }

  it("of one owner does not match the key of another", () => {
    const headers = { "idempotency-key": "k" }
    assert.notStrictEqual(Idempotent.runOf("a", headers), Idempotent.runOf("b", headers))
    assert.strictEqual(Idempotent.runOf("a", headers), Idempotent.runOf("a", headers))
    assert.match(Idempotent.runOf("a", headers)!, /^[0-9A-Za-z]{22}$/)
  })
})
