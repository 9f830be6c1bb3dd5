/** The default policy of each pool that docs/own-pool.md names, by every way to run it. */
import fs from "node:fs"
import path from "node:path"
import { conduct, type Worker, worker } from "@divisi/core/promise"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"
import { serving } from "./running.ts"

const root = path.resolve(import.meta.dirname, "../../..")
const promise = path.join(root, "packages/core/src/promise.ts")

/** A worker of a pool, for a config and for a program. */
interface Member {
  readonly id: string
  readonly isLanguageModel?: boolean
  readonly description?: string
  readonly outputPerMillion?: number
}

interface Case {
  readonly pool: ReadonlyArray<Member>
  /** The worker that answers, and how many calls that takes. */
  readonly answer: string | undefined
  readonly calls: number
  readonly policy: string
  /** Whether code that has no policy of descriptions does the same. */
  readonly isOfCommandLine?: boolean
}

const model = (id: string, outputPerMillion: number): Member => ({ id, isLanguageModel: true, outputPerMillion })

/** By the first column of the table of the page. */
const cases: Readonly<Record<string, Case>> = {
  "one worker": { pool: [{ id: "only" }], answer: "only", calls: 1, policy: "single:only" },
  "several language models": {
    pool: [model("small", 1), model("large", 10), model("mid", 5)],
    answer: "small",
    calls: 2,
    policy: "large"
  },
  "language models and other workers": {
    pool: [{ id: "tool" }, model("large", 10)],
    answer: "tool",
    calls: 2,
    policy: "large"
  },
  "other workers with descriptions": {
    pool: [{ id: "tool" }, { id: "why", description: "Answers why questions." }],
    answer: "why",
    calls: 1,
    policy: "lexical",
    isOfCommandLine: true
  },
  "other workers without descriptions": {
    pool: [{ id: "a" }, { id: "b" }],
    answer: undefined,
    calls: 0,
    policy: "none"
  }
}

const plan = 'model_id = [0]\nsubtasks = [""]\naccess_list = [[]]'

const source = (member: Member) => {
  const { outputPerMillion, ...about } = member
  const pricing = outputPerMillion === undefined ? undefined : { inputPerMillion: 1, outputPerMillion }
  return { ...about, ...(pricing && { pricing }) }
}

/** A model that is asked for a plan has the first worker answer. */
const answerOf = (id: string) => (request: { readonly messages: ReadonlyArray<{ readonly content: unknown }> }) =>
  JSON.stringify(request.messages).includes("access_list") ? plan : id

const workerOf = (member: Member): Worker => worker({ ...source(member), answer: answerOf(member.id) } as never)

const configOf = (pool: ReadonlyArray<Member>): string => `
import { worker } from ${JSON.stringify(promise)}
const plan = ${JSON.stringify(plan)}
const pool = ${JSON.stringify(pool.map(source))}
const answerOf = (id) => (request) => JSON.stringify(request.messages).includes("access_list") ? plan : id
export default { pool: pool.map((member) => worker({ ...member, answer: answerOf(member.id) })) }
`

const documented = (): ReadonlyArray<string> => {
  const page = fs.readFileSync(path.join(root, "docs/own-pool.md"), "utf8")
  const section = page.split("## Without a policy")[1]?.split("\n## ")[0] ?? ""
  return [...section.matchAll(/^\| ([^|]+) \|/gm)]
    .map(([, cell = ""]) => cell.trim())
    .filter((cell) => !/^(pool|-+)$/.test(cell))
}

const withConfig = (pool: ReadonlyArray<Member>, use: (folder: string) => Promise<void>) =>
  inFolder(async (folder) => {
    fs.writeFileSync(path.join(folder, "divisi.config.mjs"), configOf(pool))
    await use(folder)
  })

const none = { DIVISI_OUTCOMES: "none", DIVISI_ROUTER: "/nonexistent/router.json" }

describe("the default of a pool that the page describes", () => {
  it("is tried here for each pool of its table", () => {
    assert.deepStrictEqual(documented(), [...Object.keys(cases), "a pool whose runs you have rated"])
  })

  describe.each(Object.entries(cases))("of %s", (_, { answer, calls, isOfCommandLine, policy, pool }) => {
    it("is used by conduct", async () => {
      const result = await conduct({ question: "Why?", pool: pool.map(workerOf) })
      const isDone = answer !== undefined && isOfCommandLine !== true
      assert.strictEqual(result.answer, isDone ? answer : undefined)
      assert.strictEqual(result.spend.calls, isDone ? calls : 0)
      if (isDone) assert.strictEqual(result.transcript.policy, policy)
      assert.strictEqual(/^No policy was given, so /.test(result.transcript.reason ?? ""), isDone)
    })

    it("is used by divisi run, which reports it first", () =>
      withConfig(pool, async (folder) => {
        const { code, errors, output } = await divisi(["run", "Why?"], { cwd: folder, environment: none })
        if (answer === undefined) {
          assert.strictEqual(code, 2)
          assert.include(errors, "--policy single:<id>")
          return
        }
        assert.strictEqual(output.trim(), answer)
        const [, first = ""] = errors.split("\n")
        assert.match(first, new RegExp(`^policy {3}${policy}: No policy was given, so `))
        assert.match(errors, new RegExp(`· ${calls} calls? ·`))
      }))

    it("is used by divisi serve", () =>
      withConfig(pool, async (folder) => {
        if (answer === undefined) {
          const { code } = await divisi(["serve", "--port", "0"], { cwd: folder, environment: none })
          return assert.strictEqual(code, 2)
        }
        await serving(
          folder,
          [],
          async ({ url }) => {
            const body = { model: "divisi", messages: [{ role: "user", content: "Why?" }] }
            const response = await fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify(body) })
            const { choices } = (await response.json()) as {
              readonly choices: ReadonlyArray<{ readonly message: { readonly content: string } }>
            }
            assert.strictEqual(choices[0]?.message.content, answer)
          },
          none
        )
      }))
  })
})
