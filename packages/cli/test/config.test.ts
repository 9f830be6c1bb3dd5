import { spawnSync } from "node:child_process"
import { chownSync, mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { free } from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as ConfigSchema from "../src/config/ConfigSchema.ts"
import { defineConfig } from "../src/config.ts"
import * as RunOptions from "../src/team/RunOptions.ts"
import { divisi, inFolder } from "./process.ts"

const problem = (config: unknown): string | undefined => {
  const checked = ConfigSchema.check(config)
  return Result.isFailure(checked) ? checked.failure : undefined
}

const worker = ScriptedWorker.echo("a")

describe("the check of a config", () => {
  const accepted: ReadonlyArray<unknown> = [
    {},
    { pool: [worker] },
    { pool: WorkerPool.makeUnsafe([worker]) },
    {
      pool: [
        { ...worker, pricing: { ...free, perCall: undefined } },
        { ...ScriptedWorker.echo("b"), pricing: undefined }
      ]
    },
    { pool: [{ ...worker, pricing: { ...free, model: "a", source: "a.example", date: "2026-11-01", hourly: 1 } }] },
    { pool: [{ ...worker, more: 1 }], policy: "random", maxSteps: 3, recursion: 0, seed: 7 },
    { policy: { name: "mine", propose: () => undefined } },
    { budget: { costUsd: 0.5, tokens: 1000, calls: 10, durationMillis: 60_000 } },
    { budget: { costUsd: undefined }, maxSteps: undefined },
    { worker: { temperature: 0.2, reasoning: { type: "effort", effort: "low" } }, retry: { maxAttempts: 1 } },
    { reassign: "next", onStepFailure: "end", skipUnseen: false },
    { reassign: () => undefined, critic: { name: "c", score: () => undefined }, threshold: 0.5 },
    { self: { maxDepth: 2 } },
    { recipes: { mine: () => ({}) } },
    { serve: { aliases: { "gpt-4o": "divisi-fast" }, fast: "a", housekeeping: "as-asked" } },
    { serve: { database: "postgres://divisi@localhost/divisi" } },
    { serve: { database: Redacted.make("postgres://divisi@localhost/divisi") } },
    { cache: "answers.sqlite", limits: { openai: { requestsPerMinute: 500 }, "*": { concurrency: 4 } } },
    { cache: { file: "answers.sqlite", maxBytes: 1_000_000, timeToLive: "30 days" } }
  ]
  for (const config of accepted) {
    it(`takes ${JSON.stringify(config)}`, () => assert.isUndefined(problem(config)))
  }

  const refused: ReadonlyArray<readonly [unknown, string]> = [
    [7, "expected an object of settings, got 7"],
    [{ budgett: {} }, "budgett: unknown setting (did you mean budget?)"],
    [{ colour: 1 }, "colour: unknown setting"],
    [{ budget: { cost: 1 } }, "budget.cost: unknown setting (did you mean budget.costUsd?)"],
    [{ budget: { costUSD: 1 } }, "budget.costUSD: unknown setting (did you mean budget.costUsd?)"],
    [{ serve: { alias: {} } }, "serve.alias: unknown setting (did you mean serve.aliases?)"],
    [{ aliases: { a: "b" } }, "aliases: unknown setting (did you mean serve.aliases?)"],
    [{ serve: { aliases: { a: 1 } } }, "serve.aliases.a: expected a string, got 1"],
    [{ database: "" }, "database: unknown setting (did you mean serve.database?)"],
    [{ serve: { database: 5432 } }, "serve.database: expected a string, got 5432"],
    [{ costUsd: 1 }, "costUsd: unknown setting (did you mean budget.costUsd?)"],
    [{ maxCost: 1 }, "maxCost: unknown setting (did you mean budget.costUsd?)"],
    [{ temperature: 1 }, "temperature: unknown setting (did you mean worker.temperature?)"],
    [{ workers: [] }, "workers: unknown setting (did you mean pool?)"],
    [
      { retry: { attempts: 3 } },
      "retry.attempts: unknown setting (available: maxAttempts, baseDelayMillis, factor, maxDelayMillis, maxRetryAfterMillis, jitter)"
    ],
    [
      { mcpServers: { files: { comand: "x" } } },
      "mcpServers.files.comand: unknown setting (did you mean mcpServers.files.command?)"
    ],
    [{ mcpServers: { files: { command: "x", env: { A: 3 } } } }, "mcpServers.files.env.A: expected a string, got 3"],
    [{ mcpServers: { files: { url: 3 } } }, "mcpServers.files.url: expected a URL, got 3"],
    [
      { mcpServers: { files: { command: "x", needsApproval: "all" } } },
      "mcpServers.files.needsApproval: expected true, false, or an array of tool names, got a string"
    ],
    [{ budget: { costUsd: "a secret" } }, "budget.costUsd: expected a number, got a string"],
    [{ budget: { costUsd: -1 } }, "budget.costUsd: expected a number of at least 0, got -1"],
    [{ maxSteps: 1.5 }, "maxSteps: expected a whole number of at least 1, got 1.5"],
    [{ pool: [] }, "pool: expected at least one worker, got an empty array"],
    [{ pool: 7 }, "pool: expected a pool or an array of workers, got 7"],
    [{ pool: [worker, { id: "b" }] }, "pool[1].generate: required, but missing"],
    [
      { pool: [{ ...worker, pricing: { input: 1, outputPerMillion: 1 } }] },
      "pool[0].pricing.input: unknown setting (did you mean pool[0].pricing.inputPerMillion?)"
    ],
    [{ pool: [{ ...worker, generate: "x" }] }, "pool[0].generate: expected a function, got a string"],
    [{ policy: 3 }, "policy: expected a policy or the name of a policy, got 3"],
    [{ policy: { name: "x" } }, "policy.propose: required, but missing"],
    [{ onStepFailure: "ignore" }, 'onStepFailure: expected "report" or "end", got "ignore"'],
    [{ cache: 7 }, "cache: expected a file name or an object of settings, got 7"],
    [{ cache: { maxBytes: 1 } }, "cache.file: required, but missing"],
    [
      { limits: { openai: { rpm: 5 } } },
      "limits.openai.rpm: unknown setting (did you mean limits.openai.requestsPerMinute?)"
    ],
    [
      { limits: { openai: { concurrency: 0 } } },
      "limits.openai.concurrency: expected a whole number of at least 1, got 0"
    ],
    [{ recipes: { mine: 7 } }, "recipes.mine: expected a function, got 7"],
    [{ recipes: [] }, "recipes: expected an object, got an empty array"],
    [{ skipUnseen: 1 }, "skipUnseen: expected a boolean, got 1"]
  ]
  for (const [config, message] of refused) {
    it(`says: ${message}`, () => assert.strictEqual(problem(config), message))
  }
})

/** A config whose execution is detectable. */
const found = "export default { found: 1 }"

/** Asks for the workers from a folder within `cwd`, with files by their places in it. */
const asked = (
  files: Readonly<Record<string, string>>,
  args: ReadonlyArray<string> = [],
  environment: Readonly<Record<string, string>> = {}
) =>
  inFolder(async (top) => {
    const folder = path.join(top, "work/inner")
    mkdirSync(folder, { recursive: true })
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(top, file)), { recursive: true })
      writeFileSync(path.join(top, file), text)
    }
    const timeout = args.includes("--timeout") ? [] : ["--timeout", "100ms"]
    return divisi(["pool", "check", ...timeout, ...args], {
      cwd: folder,
      environment: { HOME: path.join(top, "elsewhere"), ...environment }
    })
  })

describe.concurrent("a worker of a config whose code is wrong", () => {
  it.each([
    ["gives nothing", "() => undefined", "its generate function returned neither a Stream nor an Effect"],
    ["throws", '() => { throw new Error("boom") }', "boom"]
  ])("that %s is told as such by pool check", async (_, generate, why) => {
    const config = `export default { pool: [{ id: "mine", generate: ${generate} }] }`
    const { code, errors, output } = await asked({ "work/inner/divisi.config.mjs": config })
    assert.strictEqual(code, 1, errors)
    assert.include(output, `mine has a bug: ${why}.`)
  })
})

describe.concurrent("a worker of a config that is a function", () => {
  it("is asked by pool check, though its answer comes whole", async () => {
    const config = `import { worker } from "@divisi/core/promise"
export default { pool: [worker({ id: "mine", answer: () => "Here." })] }`
    const { code, output } = await asked({ "work/inner/divisi.config.mjs": config }, ["--timeout", "20s"])
    assert.strictEqual(code, 0, output)
    assert.match(output, /mine/)
  })
})

describe.concurrent("an unnamed config", () => {
  it("is reported if it comes from a folder above", async () => {
    const { errors } = await asked({ "work/divisi.config.mjs": found })
    assert.deepStrictEqual(errors.trim().split("\n"), [
      "divisi: using config ../divisi.config.mjs",
      "divisi: ../divisi.config.mjs: found: unknown setting."
    ])
  })

  it("is not reported if it is in the working folder", async () => {
    const { errors } = await asked({ "work/inner/divisi.config.mjs": found })
    assert.strictEqual(errors, "divisi: divisi.config.mjs: found: unknown setting.\n")
  })

  it("is looked for up to the repository", async () => {
    const inRepository = await asked({ "divisi.config.mjs": found, "work/.git/HEAD": "" })
    const outside = await asked({ "divisi.config.mjs": found })
    assert.deepStrictEqual(
      [inRepository, outside].map(({ errors }) => errors.includes("found")),
      [false, true]
    )
  })

  it("is looked for up to the home folder", () =>
    inFolder(async (folder) => {
      const cwd = path.join(folder, "home/work")
      mkdirSync(cwd, { recursive: true })
      writeFileSync(path.join(folder, "divisi.config.mjs"), found)
      const { errors } = await divisi(["pool", "check"], { cwd, environment: { HOME: path.dirname(cwd) } })
      assert.strictEqual(errors, "")
    }))

  it("is not run when it belongs to another user", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip("Only the superuser can give files away.")
    await inFolder(async (folder) => {
      const file = path.join(folder, "divisi.config.mjs")
      writeFileSync(file, `throw new Error("was run")`)
      chownSync(file, 1234, 1234)
      const { code, errors } = await divisi(["pool", "check"], { cwd: folder })
      assert.strictEqual(code, 2)
      assert.include(errors, "divisi.config.mjs belongs to another user, so it was not loaded.")
    })
  })
})

describe.concurrent("the config that is named", () => {
  it("is off for none, also in the environment", async () => {
    const files = { "work/inner/divisi.config.mjs": `throw new Error("was run")` }
    const { errors, output } = await asked(files, ["--config", "none"])
    assert.deepStrictEqual([errors, output.includes("professor")], ["", true])
    assert.include((await asked(files, [], { DIVISI_CONFIG: "none" })).output, "professor")
  })

  it("is the one of the environment, which a flag wins over", async () => {
    const files = { "other.mjs": found, "third.mjs": "export default 7" }
    const environment = { DIVISI_CONFIG: "../../other.mjs" }
    assert.include((await asked(files, [], environment)).errors, "found: unknown setting")
    assert.include((await asked(files, ["--config", "../../third.mjs"], environment)).errors, "got 7")
  })

  for (const [name, text, message] of [
    ["c.ts", "const a = 1\n", "c.ts has no default export. Add `export default defineConfig"],
    ["c.mjs", "export const a = 1\n", "c.mjs has no default export"],
    ["c.json", "{}", "c.json is not a config file. Use a module such as divisi.config.ts."],
    ["folder/c.mjs", found, "folder is a folder. Pass the path of the config file in it."]
  ] as const) {
    it(`is refused with a message if it is invalid: ${name}`, async () => {
      const { code, errors } = await asked({ [`work/inner/${name}`]: text }, ["--config", name.split("/")[0]!])
      assert.strictEqual(code, 2)
      assert.include(errors, message)
    })
  }
})

describe.concurrent("a config of each name", () => {
  const esm = 'import { one } from "./one.ts"\nconst maxSteps: number = one\nexport default { maxSteps }\n'
  const plain = 'import { one } from "./one.ts"\nexport default { maxSteps: one }\n'
  const older = 'const { one } = require("./three.mjs")\nmodule.exports = { maxSteps: one }\n'
  const texts: Readonly<Record<string, ReadonlyArray<string>>> = {
    "divisi.config.ts": [esm],
    "divisi.config.mts": [esm],
    "divisi.config.js": [plain],
    "divisi.config.mjs": [plain],
    "divisi.config.cts": [esm, older],
    "divisi.config.cjs": [older]
  }
  /** `npm init -y` writes `commonjs`; many tools write nothing. */
  const types = ["commonjs", "module", undefined]
  const compiled =
    'Object.defineProperty(exports, "__esModule", { value: true });\nexports.default = { maxSteps: 1 };\n'

  it("is loaded whatever the type of its package", () =>
    inFolder(async (folder) => {
      const files = types.flatMap((type) => {
        const here = path.join(folder, String(type))
        const write = (name: string, text: string, variant = 0): string => {
          const file = path.join(here, String(variant), name)
          mkdirSync(path.dirname(file), { recursive: true })
          writeFileSync(file, text)
          return file
        }
        for (const variant of [0, 1]) {
          write("one.ts", "export const one: number = 1\n", variant)
          write("two.mjs", "export const one = 1\n", variant)
          write("three.mjs", 'export { one } from "./two.mjs"\n', variant)
        }
        writeFileSync(path.join(here, "package.json"), JSON.stringify({ name: "x", type }))
        return [
          ...Object.entries(texts).flatMap(([name, all]) => all.map((text, index) => write(name, text, index))),
          ...(type === "commonjs" ? [write("divisi.config.js", older, 1), write("compiled.cjs", compiled)] : [])
        ]
      })
      assert.strictEqual(files.length, 3 * 7 + 2)
      const script = path.join(folder, "read.mjs")
      const from = (file: string) => JSON.stringify(pathToFileURL(path.join(import.meta.dirname, file)).href)
      writeFileSync(
        script,
        `import { read } from ${from("../src/config/ConfigModule.ts")}
         import * as Effect from ${JSON.stringify(import.meta.resolve("effect/Effect"))}
         for (const file of ${JSON.stringify(files)}) {
           const read1 = await Effect.runPromise(Effect.result(read(file)))
           console.log(file, JSON.stringify(read1.success ?? String(read1.failure.message)))
         }`
      )
      const { stderr, stdout } = spawnSync(process.execPath, ["--conditions=@divisi/source", script], {
        encoding: "utf8",
        timeout: 60_000
      })
      assert.strictEqual(stderr, "")
      assert.deepStrictEqual(
        stdout.trim().split("\n"),
        files.map((file) => `${file} {"maxSteps":1}`)
      )
    }))

  it("is found", async () => {
    for (const name of Object.keys(texts)) {
      const text = name.endsWith("cjs") ? "module.exports = { found: 1 }" : found
      const { errors } = await asked({ [`work/inner/${name}`]: text, "work/inner/package.json": '{"type":"commonjs"}' })
      assert.strictEqual(errors, `divisi: ${name}: found: unknown setting.\n`)
    }
  })

  it("imports our packages where the command line is installed elsewhere", async () => {
    const text = 'import { defineConfig } from "@divisi/cli/config"\nimport "@divisi/core/promise"\n'
    const { errors } = await asked({
      "work/inner/divisi.config.ts": `${text}export default defineConfig({ found: 1 })`
    })
    assert.strictEqual(errors, "divisi: divisi.config.ts: found: unknown setting.\n")
    const wrong = await asked({ "work/inner/divisi.config.ts": 'import "@divisi/cores"\nexport default {}' })
    assert.include(
      wrong.errors,
      "divisi.config.ts imports a module that does not exist: Cannot find package '@divisi/cores'"
    )
  })

  it("says that Node wants the ending of a file that is imported", async () => {
    const { errors } = await asked({ "work/inner/divisi.config.ts": 'import "./pool"\nexport default {}' })
    assert.include(errors, "Include the file extension: pool.ts.")
  })

  it("is reported if there is another one next to it, and if it is invalid", async () => {
    const { errors } = await asked({ "work/inner/divisi.config.js": "", "work/inner/divisi.config.ts": found })
    assert.include(errors, "divisi: using config divisi.config.ts; ignoring divisi.config.js\n")
    const none = await asked({ "work/inner/divisi.config.json": "{}" })
    assert.strictEqual(none.code, 2)
    assert.include(none.errors, "divisi.config.json is not a config file. Use a module such as divisi.config.ts.")
  })
})

describe("the choice of workers", () => {
  const pool = WorkerPool.makeUnsafe(["a", "b", "c"].map(ScriptedWorker.echo))
  const choose = (names: string) => Result.map(RunOptions.choose(pool, names), WorkerPool.ids)

  it("takes the named ones in their order, or leaves the named ones out", () => {
    assert.deepStrictEqual(choose("c, a"), Result.succeed(["c", "a"]))
    assert.deepStrictEqual(choose("-b"), Result.succeed(["a", "c"]))
  })

  it("says what is wrong", () => {
    for (const names of ["", "x", "-x", "a,-b", "-a,-b,-c", "a,a"])
      assert.isTrue(Result.isFailure(choose(names)), names)
  })
})

describe("the settings of a run", () => {
  const none = {
    pool: Option.none(),
    policy: Option.none(),
    maxSteps: Option.none(),
    recursion: Option.none(),
    seed: Option.none()
  }

  /** Fields that are not set. */
  const unset = {
    maxSteps: undefined,
    approvePlans: undefined,
    recursion: undefined,
    seed: undefined,
    reassign: undefined,
    worker: { maxOutputTokens: undefined, silenceMillis: undefined, temperature: undefined, reasoning: undefined },
    budget: { costUsd: undefined, durationMillis: undefined }
  }

  it("come from the flags, then from the config", () => {
    const config = defineConfig({ maxSteps: 3, seed: 1, budget: { costUsd: 1, tokens: 5 }, reassign: "next" })
    assert.deepStrictEqual(
      RunOptions.settings(config, {
        ...none,
        maxSteps: Option.some(2),
        maxCost: Option.some(0.1),
        timeout: Option.none()
      }),
      {
        ...unset,
        maxSteps: 2,
        seed: 1,
        budget: { costUsd: 0.1, tokens: 5, durationMillis: undefined },
        reassign: "next"
      }
    )
  })

  it("hold answers to the length that the flags say, and keep the other settings of calls", () => {
    const config = defineConfig({ worker: { temperature: 0.2, maxOutputTokens: 9 }, cache: "a", limits: {} })
    assert.deepStrictEqual(RunOptions.settings(config, { ...none, maxOutputTokens: Option.some(500) }), {
      ...unset,
      worker: { ...unset.worker, temperature: 0.2, maxOutputTokens: 500 }
    })
    assert.deepStrictEqual(RunOptions.settings(config, none), {
      ...unset,
      worker: { ...unset.worker, temperature: 0.2, maxOutputTokens: 9 }
    })
  })

  it("leave unset fields to the Conductor", () => {
    assert.deepStrictEqual(RunOptions.settings({}, none), unset)
  })
})
