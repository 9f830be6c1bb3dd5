import { writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"

const config = (workers: string) => `
  import { worker } from "@divisi/core/promise"
  export default { pool: [${workers}] }
`

const says = (id: string, text: string) =>
  `worker({ id: ${JSON.stringify(id)}, answer: () => ${JSON.stringify(text)} })`

const asked = (policy: string, ...workers: ReadonlyArray<string>) =>
  inFolder(async (folder) => {
    const file = path.join(folder, "divisi.config.mjs")
    writeFileSync(file, config(workers.join(", ")))
    writeFileSync(path.join(folder, "number.json"), '{"type":"number"}')
    const named = policy.replace("FOLDER", folder)
    const { code, errors, output } = await divisi(["run", "6 times 7?", "--config", file, "--policy", named, "--json"])
    if (code !== 0) return { code, errors, answer: undefined, workers: [], notes: [] }
    const events = valuesOf(output)
    return {
      code,
      errors,
      answer: events.findLast(({ type }) => type === "run-finished").answer,
      workers: events.filter(({ type }) => type === "step-started").map(({ worker }) => worker),
      notes: events.flatMap(({ notes = [] }) => notes)
    }
  })

describe.concurrent("policies that ask another worker on evidence", () => {
  const pool = [says("cheap", "about forty"), says("strong", "42"), says("judge", "Verdict: right")]

  it("check an answer by a schema, a command, or a worker that judges", async () => {
    const bySchema = await asked("checked:cheap+strong+schema:FOLDER/number.json", ...pool)
    assert.deepInclude(bySchema, { answer: "42", workers: ["cheap", "strong"] })
    const byCommand = await asked("checked:cheap+strong+command:echo $DIVISI_QUESTION; grep 4+2", ...pool)
    assert.deepInclude(byCommand, { answer: "42", workers: ["cheap", "strong"] })
    assert.include(byCommand.notes.join(), "6 times 7?")
    const byJudge = await asked("checked:cheap+strong+judge", ...pool)
    assert.deepInclude(byJudge, { answer: "about forty", workers: ["cheap"] })
  })

  it("ask a third where two differ", async () => {
    const { answer, workers } = await asked("agreed:cheap+strong+judge", ...pool)
    assert.strictEqual(answer, "Verdict: right")
    assert.sameMembers([...workers], ["cheap", "strong", "judge"])
  })

  it("say what is missing from their names", async () => {
    for (const [policy, problem] of [
      ["checked:cheap+strong", "checked:<first>+<then>+<check>"],
      ["checked:cheap+nobody+grader", "cheap, strong, judge"],
      ["checked:cheap+strong+nobody", "schema:<file>, command:<command>"],
      ["checked:cheap+strong+schema:none.json", "none.json"],
      ["agreed:cheap+strong", "agreed:<a>+<b>+<otherwise>"]
    ] as const) {
      const { code, errors } = await asked(policy, ...pool)
      assert.strictEqual(code, 2)
      assert.include(errors, problem)
    }
  })

  it("can be measured in the gym with a check that is wrong", async () => {
    const right = "checked:student+professor+grader"
    const policies = [right, `${right}:100`, "agreed:student+intern+professor"]
    const { output } = await divisi(["gym", "solve", "--tasks", "30", "--json", "--policy", policies.join(",")])
    const [first, wrong] = valuesOf(output)
    assert.deepStrictEqual(
      valuesOf(output).map(({ policy }) => policy),
      policies
    )
    assert.isAbove(first.accuracy, wrong.accuracy)
  })
})
