import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { evaluated, samplesIn } from "./evaluated.ts"
import { divisi, inFolder, valuesOf } from "./process.ts"

const lastLine = (text: string) => text.trim().split("\n").at(-1)

/** A folder with questions and the modules of a test. */
const withFiles = (files: Readonly<Record<string, string>>, use: (cwd: string) => Promise<void>) =>
  inFolder(async (cwd) => {
    const rows = [1, 2, 3, 4].map((n) => ({ id: `q${n}`, question: `What is ${n} + ${n}?`, answer: 2 * n }))
    writeFileSync(path.join(cwd, "mine.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"))
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text)
    await use(cwd)
  })

const questions = ["eval", "--benchmark", "mine.jsonl", "--config", "none"]

describe("a policy and a grader of one's own", () => {
  it("measure, grade again and run", () =>
    withFiles(
      {
        "half.ts": `import type { Task } from "@divisi/core/Task"
          export default (task: Task, answer: string): number => answer.includes(task.reference ?? "") ? 0.5 : 0`,
        "strict.mjs": `export default { name: "strict", grade: async (task, answer) => ({ correct: false, explanation: answer }) }`,
        "direct.ts": `export default { name: "direct", propose: ({ pool }) => ({ steps: [{ worker: pool.workers.findIndex(({ id }) => id === "abacus"), subtask: "", access: [] }] }) }`
      },
      async (cwd) => {
        const report = await evaluated([...questions, "--grader", "./half.ts", "--policy", "./direct.ts"], cwd)
        expect(report.benchmarks[0]).toMatchObject({ benchmark: "mine", grader: "half" })
        expect(report.cells[0]).toMatchObject({ policy: "direct", score: { mean: 0.5, samples: 4 } })
        const again = await divisi(["eval", "regrade", "evaluation", "--grader", "./strict.mjs", "--json"], { cwd })
        expect(again.code).toBe(0)
        expect(valuesOf(again.output)[0]).toMatchObject({ after: { score: 0, rung: "strict" } })
        const run = await divisi(["run", "What is 3 + 4?", "--policy", "./direct.ts", "--config", "none"], { cwd })
        expect(run).toMatchObject({ code: 0 })
        const graded = await divisi(["grade", "--grader", "./half.ts", "--gold", "7", "--answer", "7"], { cwd })
        expect(valuesOf(graded.output)).toEqual([{ correct: false, rung: "half" }])
      }
    ))

  it("are not resumed once their file has changed", () =>
    withFiles(
      {
        "direct.ts": `export default { name: "direct", propose: () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }) }`,
        "half.ts": `export default () => 0.5`
      },
      async (cwd) => {
        const args = [...questions, "--grader", "./half.ts", "--policy", "./direct.ts", "--out", "changed"]
        expect(await divisi(args, { cwd })).toMatchObject({ code: 0 })
        expect(await divisi(args, { cwd })).toMatchObject({ code: 0 })
        for (const name of ["direct.ts", "half.ts"]) {
          const file = path.join(cwd, name)
          const before = readFileSync(file, "utf8")
          writeFileSync(file, `${before}\n// Changed.`)
          const { code, errors } = await divisi(args, { cwd })
          expect(code).toBe(2)
          expect(errors).toMatch(/has a different (source of policy direct|source of the grader of mine)\./)
          writeFileSync(file, before)
        }
        expect(await divisi(args, { cwd })).toMatchObject({ code: 0 })
        writeFileSync(path.join(cwd, "half.ts"), "export default () => 1")
        expect(await divisi(["eval", "regrade", "changed"], { cwd })).toMatchObject({ code: 0 })
        expect(await divisi(args, { cwd })).toMatchObject({ code: 0 })
      }
    ))

  it.each<readonly [flag: string, file: string, text: string | undefined, message: RegExp]>([
    ["--grader", "none.ts", undefined, /^divisi: The grader file \.\/none\.ts does not exist\.$/],
    [
      "--grader",
      "empty.ts",
      "export const grade = () => true\n",
      /^divisi: empty\.ts has no default export. Add `export default \{ name, grade \}/
    ],
    ["--grader", "number.ts", "export default 42\n", /^divisi: The default export of number\.ts is not a grader/],
    [
      "--grader",
      "syntax.ts",
      "export default {\n  grade: (task, answer) =>> true\n}\n",
      /^divisi: Syntax error in syntax\.ts, /
    ],
    [
      "--grader",
      "loading.ts",
      "const wanted = undefined\n\nexport default wanted.grade\n",
      /^divisi: loading\.ts threw an error on line 3 while it was being loaded/
    ],
    ["--policy", "number.ts", "export default 42\n", /^divisi: The default export of number\.ts is not a policy/],
    ["--policy", "mine.jsonl", undefined, /^divisi: \.\/mine\.jsonl is not a policy module/]
  ])("say what is wrong with their file, with its line, and no stack: %s %s", (flag, file, text, message) =>
    withFiles(text === undefined ? {} : { [file]: text }, async (cwd) => {
      const { code, errors } = await divisi([...questions, flag, `./${file}`], { cwd })
      expect(errors).not.toMatch(/^\s+at /m)
      expect(code).toBe(2)
      expect(lastLine(errors)).toMatch(message)
    })
  )

  it.each([
    [
      "throwing.ts",
      `export default () => {\n  throw new Error("no more")\n}\n`,
      { cause: "grader", message: expect.stringContaining("no more (throwing.ts, line 2)") }
    ],
    ["words.ts", `export default () => "good"\n`, { message: expect.stringContaining("it must return true, false") }]
  ])("leave samples without a verdict if a grader fails: %s", (file, text, missing) =>
    withFiles({ [file]: text }, async (cwd) => {
      await divisi([...questions, "--policy", "single:abacus", "--grader", `./${file}`, "--out", "failed"], { cwd })
      expect(samplesIn(path.join(cwd, "failed"))[0]).toMatchObject({ missing })
    })
  )

  it("fail a run or an evaluation if a policy throws, with the line", () =>
    withFiles({ "planless.ts": `export default () => {\n  throw new Error("no plan")\n}\n` }, async (cwd) => {
      const silent = await divisi([...questions, "--grader", "integer", "--policy", "./planless.ts"], { cwd })
      expect(silent.code).toBe(1)
      expect(lastLine(silent.errors)).toContain("These policies produced no answers and no plans: planless")
      const run = await divisi(["run", "What is 3 + 4?", "--policy", "./planless.ts", "--config", "none"], { cwd })
      expect(run.errors + run.output).toContain("no plan (planless.ts, line 2)")
    }))
})

describe("tasks of a file", () => {
  it("are chosen by id in the command line, with examples before them", () =>
    withFiles({}, async (cwd) => {
      const args = [...questions, "--grader", "integer", "--policy", "single:abacus", "--shots", "2"]
      const report = await evaluated([...args, "--ids", "q3,q1"], cwd)
      expect(report.benchmarks[0]).toMatchObject({
        selected: 2,
        prompt: "as given/2-shot",
        shots: { count: 2, seed: 0 }
      })
      const regraded = await divisi(["eval", "regrade", "evaluation"], { cwd })
      expect(regraded.output).toContain("Regraded 2 answers; 0 verdicts changed")
      const gym = await divisi(["eval", "--shots", "1", "--config", "none"], { cwd })
      expect(gym).toMatchObject({ code: 2, errors: expect.stringContaining("The gym has no solved examples") })
      const box = await divisi([...questions, "--format", "box"], { cwd })
      expect(box).toMatchObject({ code: 2, errors: expect.stringContaining("--format box") })
    }))
})
