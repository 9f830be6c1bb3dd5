/** A resumed run charges an account only for what the account does not know. */
import { assert, describe, it } from "vitest"
import {
  conduct,
  decodeTranscript,
  encodeTranscript,
  ledger,
  memoryJournal,
  resume,
  single,
  tool,
  worker
} from "../src/promise.ts"
import { ChargedCalls } from "../src/run/ChargedCalls.ts"
import { askedOf } from "../src/run/replayed.ts"
import type { Call } from "../src/run/WorkerCall.ts"
import type { Message } from "../src/task/Message.ts"

const look = tool({ name: "look", input: { type: "object" } })

/** Asks for a tool so many times, and then answers. */
const clerk = (pauses: number) => {
  let asked = 0
  const made = worker({
    id: "clerk",
    capabilities: { tools: true },
    answer: ({ messages }) => {
      asked += 1
      const results = messages.filter(({ role }) => role === "tool").length
      return results < pauses ? { toolCalls: [{ name: "look", arguments: {} }] } : "done"
    }
  })
  return { pool: [made], asked: () => asked }
}

describe("the account of a run that is resumed", () => {
  for (const journal of [undefined, memoryJournal()]) {
    const where = journal === undefined ? "from its transcript" : "from its journal"

    it(`is charged for each call once, ${where}`, async () => {
      const { asked, pool } = clerk(5)
      const account = ledger({ calls: 6 })
      const options = { pool, policy: single(0), tools: [look], ledger: account, journal, runId: "run-1" }
      let run = await conduct({ ...options, question: "What is there?" })
      while (run.ending === "suspended") run = await run.resume({ [run.waitingFor[0]!.id]: "ok" })
      assert.deepStrictEqual([run.ending, run.spend.calls, account.spent().calls, asked()], ["answered", 6, 6, 6])
    })
  }

  it("is charged for a call that a fork of the run makes again", async () => {
    const { asked, pool } = clerk(1)
    const account = ledger()
    const options = { pool, policy: single(0), tools: [look], ledger: account, seed: 1 }
    const { transcript, waitingFor } = await conduct({ ...options, question: "What is there?" })
    const results = { [waitingFor[0]!.id]: "ok" }
    for (const _ of [1, 2]) assert.strictEqual((await resume({ ...options, transcript, results })).ending, "answered")
    assert.deepStrictEqual([asked(), account.spent().calls], [3, 3])
  })

  it("is charged for what was paid before, where it is another account", async () => {
    const { pool } = clerk(1)
    const options = { pool, policy: single(0), tools: [look], seed: 1 }
    const { transcript, waitingFor } = await conduct({ ...options, question: "What is there?", ledger: ledger() })
    const read = await decodeTranscript(encodeTranscript(transcript))
    const other = ledger()
    await resume({ ...options, transcript: read, results: { [waitingFor[0]!.id]: "ok" }, ledger: other })
    assert.strictEqual(other.spent().calls, 2)
  })

  it("knows a limited number of calls, those that were used last", () => {
    const calls = new ChargedCalls()
    calls.add("first")
    calls.add("second")
    let largest = 0
    let known = 0
    for (let call = 0; call < 250_000; call++) {
      calls.add(`call ${call}`)
      largest = Math.max(largest, calls.size)
      if (calls.has("first")) known += 1
    }
    assert.deepStrictEqual([known, calls.has("second"), calls.has("call 249999")], [250_000, false, true])
    assert.isAtMost(largest, 100_000)
  })

  it("reads each message of a conversation once, however many turns it has", () => {
    let read = 0
    const message = (): Message => {
      const plain = { role: "user", content: "Hello." }
      const toJSON = () => {
        read += 1
        return plain
      }
      return Object.assign(Object.create({ toJSON }), plain)
    }
    const messages: Array<Message> = [message()]
    const hashes = new Set<string>()
    for (let turn = 0; turn < 50; turn++) {
      messages.push(message())
      const request = { messages: [...messages] as never }
      hashes.add(askedOf({ worker: clerk(0).pool[0]!, request, sample: 1 } as unknown as Call))
    }
    assert.deepStrictEqual([read, hashes.size], [51, 50])
  })
})
