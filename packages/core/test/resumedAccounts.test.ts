/** A resumed run charges an account only for what the account does not know. */
import { assert, describe, it } from "vitest"
import type { Ask } from "../src/loop/call.ts"
import { identityOf } from "../src/middleware/replay/replay.ts"
import {
  conduct,
  decodeTranscript,
  encodeTranscript,
  ledger,
  memoryCache,
  memoryJournal,
  resume,
  single,
  tool,
  worker
} from "../src/promise.ts"
import { ChargedCalls } from "../src/run/ChargedCalls.ts"
import type { Message } from "../src/task/Message.ts"
import type { WorkerRequest } from "../src/task/Worker.ts"

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

  /** Fails in an outage, then asks for a tool, and then answers; the next outage comes with the tool's result. */
  const faulty = () => {
    const vendor = { isDown: true, asked: 0 }
    const answer = ({ messages }: WorkerRequest) => {
      vendor.asked += 1
      const isAfterTool = messages.at(-1)?.role === "tool"
      if (vendor.isDown) throw new Error("503 Service Unavailable")
      return isAfterTool ? "done" : { toolCalls: [{ name: "look", arguments: {} }] }
    }
    return { vendor, pool: [worker({ id: "faulty", capabilities: { tools: true }, answer })] }
  }

  it.each([false, true])(
    "is charged once for failures that are tried again; known from the start: %s",
    async (isKnown) => {
      const { pool, vendor } = faulty()
      const account = ledger()
      const settings = { pool, policy: single(0), tools: [look], seed: 1, retry: { maxAttempts: 1 } }
      const started = isKnown ? { ...settings, ledger: account } : settings
      let run = await conduct({ ...started, question: "What is there?" })
      const unknown = isKnown ? 0 : vendor.asked
      const again = async (results = {}) => {
        const transcript = await decodeTranscript(encodeTranscript(run.transcript))
        run = await resume({ ...settings, ledger: account, transcript, results })
        const asked = run.spend.calls
        assert.deepStrictEqual([run.ending, asked, account.spent().calls], [run.ending, vendor.asked, vendor.asked])
      }
      assert.strictEqual(unknown, isKnown ? 0 : 1)
      await again()
      vendor.isDown = false
      await again()
      const results = { [run.waitingFor[0]!.id]: "ok" }
      vendor.isDown = true
      await again(results)
      await again(results)
      vendor.isDown = false
      await again(results)
      assert.deepStrictEqual([run.ending, vendor.asked], ["answered", 6])
      const lost = run.transcript.rounds.flatMap(({ steps }) => steps.flatMap(({ lost }) => lost))
      assert.deepStrictEqual([lost.length, lost.every(({ isRetired }) => isRetired)], [4, true])
      assert.strictEqual(new Set(lost.map(({ chargeId }) => chargeId)).size, 4)
    }
  )

  it("is charged once for a cached answer with its original cost, and for the failures before it", async () => {
    let asked = 0
    const answer = () => {
      asked += 1
      if (asked === 1) throw new Error("503 Service Unavailable")
      return { toolCalls: [{ name: "look", arguments: {} }] }
    }
    const pool = [worker({ id: "flaky", capabilities: { tools: true }, answer })]
    const retry = { baseDelayMillis: 0 }
    const cache = memoryCache({ maxEntries: 10 })
    const settings = {
      pool,
      policy: single(0),
      tools: [look],
      seed: 1,
      retry,
      cache,
      cachedAnswers: "charged" as const
    }
    await conduct({ ...settings, question: "What is there?" })
    const account = ledger()
    let run = await conduct({ ...settings, question: "What is there?", ledger: account })
    for (let at = 0; at < 3; at++) {
      assert.deepStrictEqual([run.ending, run.spend.calls, account.spent().calls, asked], ["suspended", 2, 2, 2])
      run = await resume({ ...settings, ledger: account, transcript: run.transcript, results: {} })
    }
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
      hashes.add(identityOf({ worker: clerk(0).pool[0]!, request, sample: 1 } as unknown as Ask))
    }
    assert.deepStrictEqual([read, hashes.size], [51, 50])
  })
})
