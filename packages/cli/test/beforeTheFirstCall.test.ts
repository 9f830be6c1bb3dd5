/** Runs that end before a worker is called: a limit that cannot hold, and Ctrl-C. */
import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

/** Workers that write a file when they are called; the policy and the config are told apart by the environment. */
const config = `
  import { appendFileSync } from "node:fs"
  import { free, policy, worker } from "@divisi/core/promise"
  const member = (id, pricing) =>
    worker({ id, ...pricing, answer: () => { appendFileSync("calls", id); return "42" } })
  const { STOP } = process.env
  const never = (where) => new Promise(() => { console.error("waits in " + where); setInterval(() => {}, 1e6) })
  if (STOP === "config") await never("config")
  const check = { by: "judge", onFailure: "revise" }
  export default {
    pool: [member("priced", { pricing: free })],
    checks: { judge: member("judge") },
    policy: policy("mine", async () => {
      if (STOP === "policy") await never("policy")
      return { steps: [{ worker: 0, subtask: "", access: [], check }] }
    })
  }
`

const inProject = (test: (cwd: string) => Promise<void>) =>
  inFolder(async (cwd) => {
    fs.writeFileSync(path.join(cwd, "divisi.config.mjs"), config)
    await test(cwd)
    assert.isFalse(fs.existsSync(path.join(cwd, "calls")), "no worker is called")
  })

describe("a run that ends before its first call", { concurrent: true }, () => {
  it("names a check of unknown price under a limit of cost, with what to do", () =>
    inProject(async (cwd) => {
      const { code, errors, output } = await divisi(["run", "Why?", "--max-cost", "1"], { cwd })
      assert.deepStrictEqual([code, output], [3, ""], errors)
      assert.match(errors, /worker "judge" has no known price\. Set `pricing`/)
    }))

  const below = path.join("file", "it")
  for (const flags of [
    ["--transcript", below],
    ["--transcript", path.join(below, "deeper")],
    ["--transcript", "folder"],
    ["--durable", "--journal", below],
    ["--cache", below]
  ]) {
    it(`is refused if an output file cannot be written: ${flags.join(" ")}`, () =>
      inProject(async (cwd) => {
        fs.writeFileSync(path.join(cwd, "file"), "")
        fs.mkdirSync(path.join(cwd, "folder"))
        const { code, errors, output } = await divisi(["run", "Why?", ...flags], { cwd })
        assert.deepStrictEqual([code, output], [2, ""], errors)
        assert.include(errors, flags.at(-1)!.split(path.sep)[0]!)
      }))
  }

  for (const STOP of ["config", "policy"]) {
    it(`is stopped by Ctrl-C in its ${STOP}`, { timeout: 60_000 }, () =>
      inProject(async (cwd) => {
        const { code, errors } = await divisi(["run", "Why?"], {
          cwd,
          environment: { STOP },
          onOutput: (text, child) => {
            if (!child.killed && text.includes(`waits in ${STOP}`)) child.kill("SIGINT")
          }
        })
        assert.oneOf(code, [130, null], errors)
      })
    )
  }
})

it("refuses a training whose folder cannot be written", () =>
  inFolder(async (cwd) => {
    fs.writeFileSync(path.join(cwd, "file"), "")
    const { code, errors } = await divisi(["train", "--recipe", "gym", "--out", path.join("file", "it")], { cwd })
    assert.strictEqual(code, 2, errors)
    assert.include(errors, "Cannot start the training run.")
  }))
