/**
 * With `--json`, the output of every command is JSON and nothing else, whatever a config prints, and so it is if the
 * command fails: then the error output says why, and the exit code is not 0.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { describe as describeCommands } from "../src/Cli.ts"
import { config, divisi, type Ended, inFolder } from "./process.ts"

const described = await describeCommands()

type Described = typeof described

const withJson = ({ flags, name, subcommands }: Described, before = ""): ReadonlyArray<string> => {
  const path = before === "" && name === "divisi" ? "" : `${before} ${name}`.trim()
  const own = flags.some((flag) => flag.name === "json") ? [path] : []
  return [...own, ...subcommands.flatMap((command) => withJson(command, path))]
}

interface Case {
  /** Arguments with which the command does its work; absent if that needs more than this machine. */
  readonly works?: ReadonlyArray<string>
  /** The exit code of that; 0 by default. */
  readonly code?: number
  /** Whether there may be nothing to print. */
  readonly isEmpty?: boolean
  /** Arguments with which it fails, where it can. */
  readonly fails?: ReadonlyArray<string>
}

const noisy = ["--config", config("noisy")]
const nowhere = ["--config", "nowhere.config.ts"]
const keys = ["--keys", "keys.json"]

/** By command, in the order in which they are called. */
const cases: Readonly<Record<string, Case>> = {
  init: {
    works: ["--models", "gym", "--directory", "project"],
    fails: ["--models", "acme:none", "--directory", "other"]
  },
  run: {
    works: ["?", "--durable", "--run-id", "noisy", "--approve", "all", ...noisy],
    fails: ["?", "--policy", "psychic", ...noisy]
  },
  runs: { works: [], fails: ["--journal", "outcomes.jsonl"] },
  "runs show": { works: ["noisy"], fails: ["nothing"] },
  "runs resume": { works: ["noisy", ...noisy], fails: ["nothing", ...noisy] },
  "runs fork": { works: ["noisy", "--at", "0.0", ...noisy], fails: ["nothing", "--at", "0.0", ...noisy] },
  "runs compare": { works: ["noisy", "noisy"], fails: ["nothing"] },
  "runs report": { works: noisy, fails: ["--journal", "outcomes.jsonl"] },
  "runs delete": { works: ["noisy"], fails: ["nothing"] },
  "runs purge": { works: [...noisy, "--keep", "30d"], fails: noisy },
  "key make": { works: ["alice", ...keys, ...noisy], fails: ["alice", ...keys, "--workers", "nobody", ...nowhere] },
  "key list": { works: [...keys, ...noisy], fails: ["--database", "postgres://127.0.0.1:9/none"] },
  "key change": { fails: ["nobody", ...keys, "--max-cost", "1", ...noisy] },
  "key adjust": { fails: ["nobody", ...keys, "--by", "1", "--reason", "none", ...noisy] },
  "key audit": { works: [...keys, ...noisy], fails: ["--database", "postgres://127.0.0.1:9/none"] },
  "pool list": { works: noisy, fails: [...noisy, "--pool", "nobody"] },
  "pool check": { works: noisy, fails: [...noisy, "--pool", "nobody"] },
  "gym sample": { works: ["--count", "2"], fails: ["--count", "0"] },
  "gym solve": {
    works: ["--tasks", "2", "--max-missing", "1", ...noisy],
    fails: ["--tasks", "2", "--policy", "psychic", ...noisy]
  },
  train: {
    works: ["--recipe", "toy", "--iterations", "1", "--out", "trained", ...noisy],
    fails: ["--recipe", "nothing", ...noisy]
  },
  "train resume": { works: ["trained", ...noisy], fails: ["nothing", ...noisy] },
  eval: {
    // Its tools wait for an approval, so nothing is measured.
    code: 1,
    works: ["--benchmark", "mine.jsonl", "--grader", "text", "--policy", "single:asker", ...noisy],
    fails: ["--benchmark", "mine.jsonl", "--grader", "text", "--policy", "psychic", "--out", "other", ...noisy]
  },
  "eval regrade": { isEmpty: true, works: ["evaluation"], fails: ["nothing"] },
  "eval diff": { works: ["evaluation", "evaluation"], fails: ["evaluation", "nothing"] },
  "bench routing": { works: ["--outcomes", "outcomes.jsonl", "--repeats", "1"], fails: ["--outcomes", "nothing"] },
  rate: { works: ["up"], fails: ["up", "nothing"] },
  learn: { works: ["--from", "outcomes.jsonl", ...noisy], fails: ["--from", "nothing", ...noisy] },
  // Its templates are there once the package is built.
  "provider new": { fails: ["ACME"] },
  "models list": { works: [] },
  "models inspect": { fails: ["nothing.gguf"] },
  doctor: { works: [] }
}

/** Commands that run forever have a separate test. */
const served = ["serve"]

const row = (index: number) =>
  JSON.stringify({
    question: `Question ${index} of ${index % 3}`,
    kind: index % 2 === 0 ? "a" : "b",
    scores: { a: index % 2, b: (index + 1) % 2 }
  })

const environmentIn = (cwd: string) => ({
  DIVISI_RUNS: path.join(cwd, "runs.sqlite"),
  DIVISI_OUTCOMES: path.join(cwd, "log.jsonl"),
  DIVISI_ROUTER: path.join(cwd, "router.json"),
  DIVISI_HEAD: path.join(cwd, "head.json"),
  XDG_DATA_HOME: path.join(cwd, "data"),
  XDG_CACHE_HOME: path.join(cwd, "cache")
})

describe("the output of a command with --json", { timeout: 300_000 }, () => {
  const ended = new Map<string, { readonly works?: Ended; readonly fails?: Ended }>()

  beforeAll(
    () =>
      inFolder(async (cwd) => {
        writeFileSync(
          path.join(cwd, "outcomes.jsonl"),
          `${Array.from({ length: 60 }, (_, at) => row(at)).join("\n")}\n`
        )
        const questions = [1, 2].map((n) =>
          JSON.stringify({ id: `q${n}`, question: `How much is ${n}?`, answer: "42" })
        )
        writeFileSync(path.join(cwd, "mine.jsonl"), questions.join("\n"))
        const environment = environmentIn(cwd)
        for (const [command, { fails, works }] of Object.entries(cases)) {
          const call = (args: ReadonlyArray<string>) =>
            divisi([...command.split(" "), ...args, "--json"], { cwd, environment })
          ended.set(command, {
            ...(works && { works: await call(works) }),
            ...(fails && { fails: await call(fails) })
          })
        }
      }),
    300_000
  )
  afterAll(() => ended.clear())

  it("is tested of each that has it", () => {
    assert.sameMembers([...withJson(described)], [...Object.keys(cases), ...served])
  })

  for (const [command, { code = 0, fails, isEmpty = false, works }] of Object.entries(cases)) {
    it(`is JSON alone: ${command}`, () => {
      const isJson = (text: string): boolean => {
        try {
          JSON.parse(text)
          return true
        } catch {
          return false
        }
      }
      const json = ({ output }: Ended) => {
        const lines = output.split("\n").filter((line) => line !== "")
        assert.isTrue(isJson(output) || lines.every(isJson), output)
      }
      const { fails: failed, works: worked } = ended.get(command)!
      if (works !== undefined) {
        assert.strictEqual(worked!.code, code, worked!.errors)
        if (!isEmpty) assert.notStrictEqual(worked!.output, "")
        json(worked!)
      }
      if (fails !== undefined) {
        assert.include([1, 2], failed!.code, failed!.output)
        assert.notStrictEqual(failed!.errors.trim(), "")
        json(failed!)
      }
    })
  }
})
