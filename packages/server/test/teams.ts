/** Pools of scripted workers, and what plans for them. */
import { Baselines } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker, WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import type * as NodeServer from "../src/NodeServer.ts"

/** Usage of each answer. */
export const usage = { inputTokens: 7, outputTokens: 3 }

/** An answer in pieces. */
export const said = (...pieces: ReadonlyArray<string>): ScriptedWorker.Reply => ({
  parts: [...pieces.map((text): WorkerPart => ({ type: "text", text })), { type: "finish", reason: "stop", usage }]
})

/** An answer that asks for tools. */
export const asks = (...calls: ReadonlyArray<readonly [name: string, input: object]>): ScriptedWorker.Reply => ({
  parts: [
    ...calls.map(
      ([name, input], at): WorkerPart => ({
        type: "tool-call",
        id: `own-${at}`,
        name,
        arguments: JSON.stringify(input)
      })
    ),
    { type: "finish", reason: "tool-calls", usage }
  ]
})

/** A worker that gives its replies in turn. */
export const worker = (
  id: string,
  ...replies: ReadonlyArray<ScriptedWorker.Reply>
): ScriptedWorker.ScriptedWorker & Worker => ({
  ...ScriptedWorker.make({ id, replies, pricing: { inputPerMillion: 1_000, outputPerMillion: 10_000 } }),
  capabilities: { tools: true, images: true, files: true, jsonSchema: true }
})

/** The first of some workers, which answers without a plan. */
export const alone = (...workers: ReadonlyArray<Worker>): NodeServer.Options => ({
  pool: WorkerPool.makeUnsafe(workers),
  policy: Baselines.single(0)
})

/** Two that work, and a third that sees both and answers. */
export const team = (...workers: ReadonlyArray<Worker>): NodeServer.Options => ({
  pool: WorkerPool.makeUnsafe(workers),
  policy: Policy.fixed("a team", () => ({
    steps: [
      { worker: 0, subtask: "look", access: [] },
      { worker: 1, subtask: "look, too", access: [] },
      { worker: 2, subtask: "answer", access: "all" }
    ]
  }))
})
