import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"

const asked = { question: "What is 6 * 7?", reference: "42" }
const plan = 'model_id = [0]\nsubtasks = [""]\naccess_list = [[]]'

describe("the gym for third-party trainers", () => {
  it("gives tasks and rewards over lines of JSON, and says what is wrong with a line", async () => {
    const requests: ReadonlyArray<unknown> = [
      { id: 1, op: "tasks", count: 2, split: "train", seed: 3 },
      { id: 2, op: "tasks", count: 1, mode: "answer" },
      { id: 3, op: "grade", ...asked, completion: plan },
      { id: 4, op: "grade", ...asked, completion: "no plan" },
      { id: 5, op: "grade", ...asked, mode: "answer", completion: "It is 42." },
      { id: 6, op: "grade", ...asked, mode: "answer", completion: "It is 43." },
      { id: 7, op: "tasks", count: 0 },
      { id: 8, op: "tasks", count: 1, family: "none" },
      { id: 9, op: "dance" }
    ]
    const input = [...requests.map((request) => JSON.stringify(request)), "not JSON", ""].join("\n")
    const { code, output } = await divisi(["gym", "environment"], { input })
    expect(code).toBe(0)
    const [first, second, ...graded] = valuesOf(output)
    expect(first.tasks).toHaveLength(2)
    expect(first.tasks[0].messages[0].content).toContain("Model 15")
    expect(second.tasks[0].messages).toEqual([{ role: "user", content: second.tasks[0].question }])
    expect(graded.slice(0, 4)).toMatchObject([
      { id: 3, reward: 1, result: "correct", answer: "42" },
      { id: 4, reward: 0, result: "unreadable", answer: null },
      { id: 5, reward: 1, result: "correct" },
      { id: 6, reward: 0, result: "wrong" }
    ])
    expect(graded.slice(4).map(({ id }) => id)).toEqual([7, 8, 9, null])
    for (const { error } of graded.slice(4)) expect(error).toMatch(/./)
  })

  it("is written as a package of verifiers, into a folder that is not there", () =>
    inFolder(async (cwd) => {
      expect((await divisi(["gym", "verifiers", "package"], { cwd })).code).toBe(0)
      expect(readFileSync(path.join(cwd, "package/pyproject.toml"), "utf8")).toContain(
        'dependencies = ["verifiers>=0.4"]'
      )
      expect(existsSync(path.join(cwd, "package/divisi_gym/taskset.py"))).toBe(true)
      const again = await divisi(["gym", "verifiers", "package"], { cwd })
      expect(again).toMatchObject({ code: 2, errors: expect.stringContaining('package" already exists') })
    }))
})
