/**
 * The runs to kill: five steps, the last of which requests a tool, with answers that depend on the complete request.
 */
import { createHash } from "node:crypto"
import { type RunEvent, Tool, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Message } from "@divisi/core/Message"
import * as Policy from "@divisi/core/Policy"
import { type Worker, WorkerError, type WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"

/** A request to the vendor: which of its models, and with what input. */
export interface Asked {
  readonly model: string
  readonly messages: ReadonlyArray<Message>
  readonly hasTools: boolean
}

/** The run that a request belongs to. */
export const runOf = ({ messages }: Asked): string => /run (\S+)\?/.exec(JSON.stringify(messages))?.[1] ?? "none"

/** The answer to a request. The same request always has the same answer, in every process. */
export const answer = (asked: Asked): ReadonlyArray<WorkerPart> => {
  const text = createHash("sha256").update(JSON.stringify(asked)).digest("hex").slice(0, 200)
  const usage = { inputTokens: 10, outputTokens: 20 }
  if (!asked.hasTools || asked.messages.some(({ role }) => role === "tool")) {
    return [
      { type: "text", text },
      { type: "finish", reason: "stop", usage }
    ]
  }
  return [
    { type: "tool-call", id: "1", name: "measure", arguments: JSON.stringify({ text }) },
    { type: "finish", reason: "tool-calls", usage }
  ]
}

/** The number of calls of a run without a fault. */
export const callsOfRun = 6

const worker = (model: string, ask: (asked: Asked) => Promise<ReadonlyArray<WorkerPart>>): Worker => ({
  id: model,
  pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
  maxOutputTokens: 100,
  capabilities: { tools: true },
  generate: ({ messages, tools = [] }) =>
    Effect.tryPromise({
      try: () => ask({ model, messages, hasTools: tools.length > 0 }),
      catch: (error) => new WorkerError({ worker: model, reason: { _tag: "Network", detail: String(error) } })
    })
})

const policy = Policy.fixed("five steps", () => ({
  steps: [
    { worker: 0, subtask: "one", access: [] },
    { worker: 1, subtask: "two", access: [] },
    { worker: 0, subtask: "three", access: [] },
    { worker: 1, subtask: "four", access: "all" },
    { worker: 0, subtask: "", access: [3] }
  ]
}))

/** A repeatable tool, because it only reads: it may be called again if its result is lost. */
const measure = Tool.make({
  name: "measure",
  input: { type: "object", properties: { text: { type: "string" } } },
  isRepeatable: true,
  execute: (input: unknown) => Effect.succeed(`${JSON.stringify(input).length} characters`)
})

/** A Conductor whose workers use this function. */
export const conductor = (ask: (asked: Asked) => Promise<ReadonlyArray<WorkerPart>>) =>
  Conductor.make({
    policy,
    pool: WorkerPool.makeUnsafe([worker("a", ask), worker("b", ask)]),
    tools: [measure],
    seed: 7
  })

export const questionOf = (run: string): string => `What is run ${run}?`

/** A transcript without what depends on time, and without what was lost in doubt. */
export const timeless = (events: ReadonlyArray<RunEvent.RunEvent>): string =>
  JSON.stringify(Transcript.fromEvents(events), (key, value) => {
    if (/At$|^at$|Millis$|^spend$/.test(key)) return undefined
    return key === "lost" ? value.filter((call: Transcript.LostCall) => call.isInDoubt !== true) : value
  })

/** The result of a run without faults. */
export const uninterrupted = (run: string): Effect.Effect<string> =>
  Effect.suspend(() => {
    const events: Array<RunEvent.RunEvent> = []
    const listener = (event: RunEvent.RunEvent) => void events.push(event)
    const running = conductor(async (asked) => answer(asked)).run(questionOf(run), { runId: run, listener })
    return Effect.map(running, () => timeless(events.filter(({ type }) => !type.endsWith("-delta"))))
  })
