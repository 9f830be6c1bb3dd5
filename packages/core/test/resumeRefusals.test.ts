import { assert, describe, it } from "vitest"
import type { ConductOptions, Tool } from "../src/promise.ts"
import {
  conduct,
  encodeTranscript,
  eventResponse,
  fork,
  memoryJournal,
  openTelemetry,
  resume,
  single,
  streamResponse,
  tool,
  worker
} from "../src/promise.ts"
import { messageOf } from "./messageOf.ts"

/** A tool that a person must approve, and how often it was executed. */
const payments = () => {
  const paid: Array<string> = []
  const input = { type: "object", properties: {} } as const
  const pay = tool({ name: "pay", input, needsApproval: true, execute: () => void paid.push("paid") })
  return { paid, pay }
}

const clerk = (id: string, asked: Array<string>) =>
  worker({
    id,
    capabilities: { tools: true },
    answer: ({ messages }) => {
      asked.push(id)
      return messages.at(-1)?.role === "tool" ? "It is paid." : { toolCalls: [{ name: "pay", arguments: {} }] }
    }
  })

const suspendedRun = async () => {
  const asked: Array<string> = []
  const { paid, pay } = payments()
  const journal = memoryJournal()
  const own: Omit<ConductOptions, "question" | "tools"> & { readonly tools: ReadonlyArray<Tool> } = {
    pool: [clerk("a", asked), clerk("b", asked)],
    policy: single(0),
    tools: [pay],
    seed: 3
  }
  const { transcript } = await conduct({ ...own, question: "Pay it.", runId: "run-1", journal })
  return { own, journal, transcript, asked, paid }
}

describe("a run that is resumed", () => {
  type Suspended = Awaited<ReturnType<typeof suspendedRun>>
  const sources: ReadonlyArray<readonly [string, (run: Suspended) => object]> = [
    ["its journal", ({ journal }) => ({ journal, runId: "run-1" })],
    ["its transcript", ({ transcript }) => ({ transcript })],
    ["the JSON of its transcript", ({ transcript }) => ({ transcript: encodeTranscript(transcript) })]
  ]
  const results = { "0.0.0.0": { approved: true } }

  it.each(sources)("from %s is refused with other options, before a call is made", async (_, from) => {
    const run = await suspendedRun()
    const { asked, own, paid } = run
    const mistakes: ReadonlyArray<readonly [Partial<ConductOptions>, RegExp]> = [
      [{ tools: [] }, /call 0\.0\.0\.0 asked for the tool "pay", which is no longer among the tools of the run/],
      [{ tools: undefined }, /call 0\.0\.0\.0 asked for the tool "pay"/],
      [
        { pool: own.pool.toReversed() },
        /Cannot resume run run-1: it has the pool b, a instead of a, b\. Resume it with/
      ],
      [{ pool: own.pool.slice(0, 1) }, /it has the pool a instead of a, b/],
      [{ policy: single(1) }, /it has the policy single:1 instead of single:0/],
      [{ seed: 4 }, /it has the seed 4 instead of 3/]
    ]
    for (const [other, words] of mistakes) {
      const { detail, ending, error } = await resume({
        ...own,
        seed: undefined,
        ...other,
        ...from(run),
        results
      } as never)
      assert.deepStrictEqual([ending, error?._tag], ["failed", "JournalMismatch"])
      assert.match(detail!, words)
    }
    assert.deepStrictEqual([asked, paid], [["a"], []])
    const unknown = { "0.0.0.1": "x" }
    assert.match(
      await messageOf(() => resume({ ...own, ...from(run), results: unknown } as never)),
      /no pending call "0\.0\.0\.1"\. Pending calls: "0\.0\.0\.0" \(pay\)/
    )
    const { answer } = await resume({ ...own, seed: undefined, ...from(run), results } as never)
    assert.strictEqual(answer, "It is paid.")
    assert.deepStrictEqual([asked, paid], [["a", "a"], ["paid"]])
  })

  it.each(sources)("from %s accepts a result without its tool", async (_, from) => {
    const run = await suspendedRun()
    const given = { "0.0.0.0": { content: "done" } }
    const { answer } = await resume({ ...run.own, tools: undefined, ...from(run), results: given } as never)
    assert.strictEqual(answer, "It is paid.")
  })

  it("is refused by name with unknown options or fields of results", async () => {
    const { asked, own, transcript } = await suspendedRun()
    asked.length = 0
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ reslts: {} }, 'option "reslts" does not exist. Did you mean "results"?'],
      [{ results: { "0.0.0.0": { approved: true, raeson: "" } } }, 'Did you mean "results["0.0.0.0"].reason"?'],
      [{ results: { "0.0.0.0": { content: "", isErr: true } } }, 'Did you mean "results["0.0.0.0"].isError"?']
    ]
    for (const [more, words] of wrong) {
      const refused = await resume({ ...own, transcript, results, ...more } as never).then(String, String)
      assert.include(refused, "OptionsError: resume: ")
      assert.include(refused, words)
    }
    assert.lengthOf(asked, 0)
  })

  it("may be forked with another pool and policy", async () => {
    const { asked, own, transcript } = await suspendedRun()
    const { pool } = own
    const options = { pool: pool.slice(0, 1), policy: single("a"), seed: 5 }
    const forked = await fork({ ...options, transcript, at: { round: 0, step: 0 }, answer: "Paid." })
    assert.deepStrictEqual([forked.answer, asked], ["Paid.", ["a"]])
  })

  it("is refused by name if a stored value is none of its kind", async () => {
    const { own, transcript } = await suspendedRun()
    const again = (more: object) => messageOf(() => resume({ ...own, ...more } as never))
    const remedy = "Pass the transcript of a result, or its JSON text."
    for (const [more, words] of [
      [{ transcript: {} }, `resume: "transcript" must be a transcript, not an empty object. ${remedy}`],
      [{ transcript: null }, `resume: "transcript" must be a transcript, not null. ${remedy}`],
      [{ transcript: [transcript] }, `resume: "transcript" must be a transcript, not a list. ${remedy}`],
      [{ transcript: "{" }, "resume: The transcript is not JSON: "],
      [{ transcript: { ...transcript, rounds: [{}] } }, 'The transcript cannot be read at "rounds[0].round": '],
      [{ transcript: { ...transcript, version: 0 } }, "The transcript has version 0, but only version"],
      [{ transcript: { transcript } }, '"transcript" is the result of a run. Pass its transcript: result.transcript.'],
      [{ transcript, results: null }, '"results" must be an object, not null.'],
      [{ transcript, results: "{}" }, '"results" must be an object, not "{}".'],
      [
        { transcript, results: { "0.0.0.0": { approve: true } } },
        '"results["0.0.0.0"]" must be a string, { content }, or { approved: true or false }, not an object with the key approve.'
      ],
      [{ transcript, pool: undefined }, 'resume: "pool" is missing: expected a list of workers.'],
      [{ runId: "run-1", journal: {} }, '"journal" must be a journal from openJournal(), not an empty object.']
    ] as const) {
      assert.include(await again(more), words)
    }
    const at = { round: 0, step: 0 }
    const options = { ...own, at, transcript: "no" } as never
    assert.include(await messageOf(() => fork(options)), "fork: The transcript is not JSON")
    assert.include(await messageOf(() => fork({ at, transcript } as never)), 'fork: "pool" is missing')
    for (const [name, mistake] of Object.entries({ resume, fork, eventResponse, streamResponse }))
      assert.match(await messageOf(mistake as never), /expected a single options object, \w+\(\{ /, name)
    assert.include(await messageOf(() => openTelemetry({} as never)), 'expected the module "@opentelemetry/api"')
  })
})

describe("a conversation", () => {
  it.each([
    [[{ role: "usr", content: "What?" }], '"question.messages[0].role" must be "system", "developer", "user"'],
    [
      [
        { role: "user", content: "What?" },
        { role: "assistant", content: "That." }
      ],
      '"question.messages" must end with a message from the user or a tool, not from the assistant.'
    ]
  ])("with the messages %j is refused", async (messages, words) => {
    const pool = [worker({ id: "a", answer: () => "x" })]
    assert.include(await messageOf(() => conduct({ question: { messages }, pool } as never)), words)
  })
})
