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

describe.concurrent("checks by name", () => {
  // Plans like a chat model that was given the checks, and reports it if it was not.
  const planner = (name: string) => `worker({ id: "planner", answer: ({ messages }) => {
    const [system, asked] = messages.map(({ content }) => content)
    if (!system.includes('There are the checks "${name}"')) return "I know of no check."
    if (asked.includes("failed its check")) return "model_id = [1]\\nsubtasks = ['']\\naccess_list = [[]]"
    return "model_id = [0]\\nsubtasks = ['']\\naccess_list = [[]]\\nchecks = ['${name}']"
  } })`
  const asking = (name: string, checks: string, ...flags: ReadonlyArray<string>) =>
    inFolder(async (folder) => {
      const file = path.join(folder, "divisi.config.mjs")
      writeFileSync(path.join(folder, "number.json"), '{"type":"number"}')
      const workers = [
        says("cheap", "about forty"),
        says("strong", "42"),
        says("judge", "Verdict: wrong"),
        planner(name)
      ]
      writeFileSync(
        file,
        `import { worker } from "@divisi/core/promise"
         export default { pool: [${workers}], policy: "model:planner", checks: ${checks.replace("FOLDER", folder)} }`
      )
      const args = flags.map((flag) => flag.replace("FOLDER", folder))
      const { code, errors, output } = await divisi(["run", "6 times 7?", "--config", file, "--json", ...args])
      const checked = code === 0 ? valuesOf(output).filter(({ type }) => type === "step-checked") : []
      return { code, errors, found: checked.map(({ check, objection }) => [check, objection]), output }
    })

  it("are there for the plans of a chat model, from the config and the command line", async () => {
    const byConfig = await asking("digits", `{ digits: "command:echo $DIVISI_QUESTION; grep 4+2" }`)
    assert.deepStrictEqual(byConfig.found, [["digits", "6 times 7?"]])
    assert.strictEqual(valuesOf(byConfig.output).at(-1).answer, "42")
    const byCode = await asking("digits", `{ digits: (answer) => answer === "42" || "No." }`)
    assert.deepStrictEqual(byCode.found, [["digits", "No."]])
    const bySchema = await asking("a number", "{}", "--check", "a number=schema:FOLDER/number.json")
    assert.strictEqual(bySchema.found[0]?.[0], "a number")
    const byJudge = await asking("right", `{ right: () => true }`, "--check", "right=judge")
    assert.deepStrictEqual(byJudge.found, [["right", "Verdict: wrong"]])
  })

  it("say what is wrong with them", async () => {
    for (const [checks, flag, problem] of [
      ["{}", "=grader", "--check 'tests=command:npm test'"],
      ["{}", "a=schema:none.json", "--check a: cannot use the schema none.json"],
      ['{ a: "nobody" }', "b=grader", 'Check "a" in the config: unknown check "nobody"'],
      ["{ a: 5 }", "b=grader", "checks.a"]
    ] as const) {
      const { code, errors } = await asking("a", checks, "--check", flag)
      assert.strictEqual(code, 2, errors)
      assert.include(errors, problem)
    }
  })
})
