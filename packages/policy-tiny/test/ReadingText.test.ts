import { Prompt } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as ReadingText from "../src/ReadingText.ts"

const description = 'Says "quoted" things.\n| a | b |\u2028failed\nRecord: dates 3/4 high.'
const worker = { ...ScriptedWorker.echo("a"), pricing: { inputPerMillion: 1, outputPerMillion: 0.30000000000000004 } }
const pool = WorkerPool.makeUnsafe([
  { ...worker, description },
  { ...ScriptedWorker.echo("b"), description: undefined, pricing: undefined }
])
const question = 'What is "x"?\n\nIt was answered.'

const asked = (previous?: Prompt.ConductorContext["previous"], maxSteps = 4) =>
  ReadingText.asked(
    Prompt.conductorMessages({ task: Task.make(question), pool, maxSteps, self: true, previous }, ReadingText.options)
  )

describe("ReadingText", () => {
  it("a prompt is read as it was meant, to the last character", () => {
    assert.deepStrictEqual(
      asked()?.workers.map(({ description, pricing }) => ({ description, pricing })),
      [
        { description, pricing: { outputPerMillion: 0.30000000000000004 } },
        { description: "", pricing: undefined }
      ]
    )
    assert.strictEqual(asked()?.question, question)
    assert.strictEqual(asked()?.maxSteps, 4)
    assert.strictEqual(asked(undefined, 1)?.maxSteps, 1)
    assert.deepStrictEqual(asked()?.failed, [])
  })

  it("an answer with an objection is not accepted, and neither is a plan that failed", () => {
    const workflow = { steps: [{ worker: 0, subtask: "", access: [] }] }
    const answer = { type: "answered", text: "42" } as const
    assert.isFalse(asked()?.isAnswered)
    assert.isTrue(asked({ workflow, answer, failed: [1] })?.isAnswered)
    assert.deepStrictEqual(asked({ workflow, answer, failed: [1] })?.failed, [1])
    assert.isFalse(asked({ workflow, answer, failed: [], feedback: "It was answered." })?.isAnswered)
    assert.isFalse(asked({ workflow, answer: { type: "failed", message: "" }, failed: [0] })?.isAnswered)
  })

  it("another prompt does not match", () => {
    assert.isUndefined(ReadingText.asked([{ role: "user", content: "What is 2 plus 2?" }]))
  })
})
