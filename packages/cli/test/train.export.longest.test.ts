/** Train, export, run: three commands one after the other, with a transformer that llama.cpp runs in this process. */
import path from "node:path"
import * as ConductorForm from "@divisi/gguf/ConductorForm"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { divisi, inFolder } from "./process.ts"

interface Event {
  readonly type: string
  readonly policy?: string
  readonly notes?: ReadonlyArray<string>
  readonly ending?: string
}

const eventsOf = (output: string): ReadonlyArray<Event> =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

const quick = ["train", "--recipe", "toy", "--engine", "jax", "--iterations", "1", "--out", "run"]

describe("a Conductor that was trained", () => {
  it(
    "is exported and plans for the workers that it was trained on, without a word more",
    () =>
      inFolder(async (cwd) => {
        const trained = await divisi(quick, { cwd })
        assert.deepStrictEqual([trained.code, trained.errors], [0, ""])
        const exported = await divisi(["train", "export", "run", "--to", "gguf", "--out", "conductor.gguf"], { cwd })
        assert.strictEqual(exported.code, 0, exported.errors)
        assert.strictEqual(exported.output, "conductor.gguf: divisi-toy after 61 iterations, as gguf\n")
        assert.strictEqual(exported.errors, "Run it with `divisi run --policy llamacpp:conductor.gguf`.\n")

        const header = await Effect.runPromise(GgufReader.read(path.join(cwd, "conductor.gguf")))
        assert.strictEqual(GgufReader.number(header, "llama.context_length"), 512)
        const form = Result.getOrThrow(ConductorForm.decode(GgufReader.text(header, ConductorForm.key)!))
        assert.deepInclude(form, { maxTokens: 24, workers: ["abacus", "almanac", "converter"] })
        assert.strictEqual(form.prompt.template?.question, "{question}")

        const question = "How many minutes are there in 3 days?"
        const team = ["--policy", "llamacpp:conductor.gguf", "--pool", "abacus,almanac,converter", "--json"]
        const { code, errors, output } = await divisi(["run", question, ...team], { cwd })
        const proposed = eventsOf(output).find(({ type }) => type === "workflow-proposed")
        // After one iteration the answer may be wrong, but it must plan without a fallback.
        assert.include([0, 4], code, errors)
        assert.deepInclude(proposed, { policy: "llamacpp:conductor.gguf", notes: [] })
        assert.notInclude(errors, "was trained with")

        // Also where it is a worker of the pool.
        const both = ["--policy", "llamacpp:conductor.gguf", "--pool", "abacus,llamacpp:conductor.gguf"]
        const others = await divisi(["run", question, ...both], { cwd })
        const told =
          "llamacpp:conductor.gguf was trained with abacus, almanac, converter; of llamacpp:conductor.gguf it"
        assert.include(others.errors, told)
      }),
    300_000
  )

  it("is refused with a sentence where it is not there", async () => {
    const { code, errors } = await divisi(["run", "Why?", "--policy", "llamacpp:nowhere.gguf"])
    assert.strictEqual(code, 2)
    assert.match(errors, /llamacpp:nowhere\.gguf cannot plan: .*nowhere\.gguf does not exist/)
  })
})
