/** Functions that a user gives to a training may be async and may throw: it ends with words that name the function. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"
import * as Trainer from "../src/Trainer.ts"
import { grpo, parts, warmStart } from "./world.ts"

const root = mkdtempSync(path.join(tmpdir(), "callbacks-"))
afterAll(() => rmSync(root, { recursive: true }))
let folders = 0

const kinds: Readonly<Record<string, () => never>> = {
  throws: () => {
    throw new Error("boom")
  },
  "is rejected": () => Promise.reject(new Error("boom")) as never
}

const train = (given: Partial<Trainer.Parts>, input: Partial<Trainer.ConfigInput> = {}, options: object = {}) =>
  Trainer.start(
    { ...parts(), evaluate: undefined, ...given },
    { phases: [grpo({ iterations: 1 })], ...input },
    { folder: path.join(root, `${folders++}`), ...options }
  ).pipe(
    Effect.scoped,
    Effect.matchCause({
      onSuccess: ({ ending }) => ending.type,
      onFailure: (cause) => {
        const [reason] = cause.reasons
        return reason !== undefined && "error" in reason ? String((reason.error as Error).message) : "a defect"
      }
    })
  )

const sourceWith = (member: "task" | "kind" | "pool", fail: () => never) => {
  const { tasks } = parts()
  const [name, source] = Object.entries(tasks!)[0]!
  return { tasks: { [name]: { ...source, [member]: fail } } }
}

describe("A function that is given to a training", () => {
  for (const [kind, fail] of Object.entries(kinds)) {
    it.live(`ends it in words where it ${kind}`, () =>
      Effect.gen(function* () {
        assert.match(yield* train(sourceWith("task", fail)), /^task of the source .* failed: boom$/)
        assert.match(yield* train(sourceWith("kind", fail)), /^kind of the source .* failed: boom$/)
        assert.match(yield* train(sourceWith("pool", fail)), /^pool of the source .* failed: boom$/)
        assert.match(yield* train({ policy: fail }), /^policy of the training failed: boom$/)
        const evaluated = yield* train({ evaluate: fail }, { evaluateEvery: 1 })
        assert.match(evaluated, /^The evaluation after iteration 1 failed: .*boom$/)
        const examples = Object.fromEntries(
          Object.entries(parts().examples ?? {}).map(([name, source]) => [name, { ...source, example: fail }])
        )
        assert.match(yield* train({ examples }, { phases: [warmStart] }), /^example of the source .* failed: boom$/)
        assert.strictEqual(yield* train({}, {}, { listener: fail }), "finished")
        const grader = { name: "own", grade: fail, gradeRefusal: fail }
        assert.strictEqual(yield* train({ grader }), "finished")
      })
    )
  }
})
