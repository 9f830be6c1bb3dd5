import fs, { readdirSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { config, divisi, inFolder } from "./process.ts"

const short = ["train", "--recipe", "toy", "--iterations", "3"]

const ours = ["--config", config("recipes")]

// Each test waits for processes of its own, so they run side by side.
describe.concurrent("divisi train", () => {
  it("teaches with examples, exit codes and subcommands", async () => {
    const { code, output } = await divisi(["train", "--help"])
    assert.strictEqual(code, 0)
    for (const text of ["EXAMPLES", "--dry-run", "3 stopped by --max-cost", "resume", "report", "export"]) {
      assert.include(output, text)
    }
  })

  it("says what happens in lines of JSON", () =>
    inFolder(async (cwd) => {
      const { code, output } = await divisi([...short, "--json"], { cwd })
      const events = output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.strictEqual(code, 0)
      assert.strictEqual(events[0].type, "training-started")
      assert.strictEqual(events.filter(({ type }) => type === "iteration-finished").length, 23)
      assert.deepInclude(events.at(-1), { type: "training-finished", ending: { type: "finished" }, iteration: 23 })
    }))

  for (const [what, args, message] of [
    ["no recipe", ["train"], "Choose a recipe with --recipe. Available:\n  gym: "],
    ["an unknown recipe", ["train", "--recipe", "soup"], 'Unknown recipe "soup". Available:\n  gym: '],
    ["an object's own names", ["train", "--recipe", "constructor"], 'Unknown recipe "constructor".'],
    ["another engine", [...short, "--engine", "tinker"], "does not support the engine"],
    ["no run to go on with", ["train", "resume", "nowhere"], '"nowhere" does not exist'],
    ["no run to report", ["train", "report", "nowhere"], '"nowhere" contains no training run'],
    ["no format", ["train", "export", "nowhere", "--out", "x"], "--to"],
    ["no iterations", [...short.slice(0, -1), "0"], "Expected a whole number from 1 to 1000000"]
  ] as const) {
    it(`calls ${what} wrong usage, in a sentence and without a stack`, () =>
      inFolder(async (cwd) => {
        const { code, errors, output } = await divisi(args, { cwd })
        assert.deepStrictEqual([code, output], [2, ""])
        assert.include(errors, message)
        assert.notMatch(errors, /\n\s+at /)
        assert.deepStrictEqual(readdirSync(cwd), [])
      }))
  }
})

describe.concurrent("divisi train --dry-run", () => {
  it("says what a run would cost and take, and trains nothing", () =>
    inFolder(async (cwd) => {
      const { code, output } = await divisi([...short, "--dry-run"], { cwd })
      assert.strictEqual(code, 0)
      assert.match(output, /^phases {5}warm start: 20 steps of 3 examples\n/)
      assert.match(output, /\ncost {7}\$[\d.]+ \(\$[\d.]+ to \$[\d.]+\) play money\n/)
      assert.match(output, /\n {2}engine {3}\$0\n/)
      assert.match(output, /\ntime {7}[\d.]+ m?s/)
      assert.match(output, /\nrollouts {3}144\n/)
      assert.deepStrictEqual(readdirSync(cwd), [])
    }))

  it("says which prices are unknown, and shows no cost in all", () =>
    inFolder(async (cwd) => {
      const { code, output } = await divisi(["train", "--recipe", "unpriced", "--dry-run", ...ours], { cwd })
      assert.strictEqual(code, 0)
      assert.include(output, "\ncost       incomplete: see below\n  workers  unknown\n  engine   unknown\n")
      assert.include(output, "\ntime       unknown\n")
      for (const id of ["abacus", "almanac", "converter"]) assert.include(output, `The price of ${id} is unknown`)
      assert.notInclude(output, "$0")
    }))

  it("counts the prices that the config says", () =>
    inFolder(async (cwd) => {
      const priced = ["--config", config("priced")]
      const { output } = await divisi(["train", "--recipe", "unpriced", "--dry-run", ...priced], { cwd })
      assert.match(output, /\n {2}workers {2}\$0\n/)
      assert.notInclude(output, "The price of abacus is unknown")
    }))

  it("is a value for programs", () =>
    inFolder(async (cwd) => {
      const { output } = await divisi([...short, "--dry-run", "--json"], { cwd })
      const estimate = JSON.parse(output)
      assert.strictEqual(estimate.plannedIterations, 23)
      assert.isAbove(estimate.costUsd.total.high, estimate.costUsd.total.low)
    }))
})

describe.concurrent("a training that learns nothing", () => {
  it("stops where its workers are down, with what failed, and exits with 1", () =>
    inFolder(async (cwd) => {
      const args = ["train", "--recipe", "down", "--iterations", "20", ...ours]
      const { code, errors, output } = await divisi(args, { cwd })
      assert.strictEqual(code, 1)
      assert.match(errors, /The last \d+ rollouts that called a worker failed, .*: Network \(\d+\)/)
      assert.notInclude(output, "Finished")
    }))

  it("reports it at its end with the reason, and exits with 1", () =>
    inFolder(async (cwd) => {
      const args = ["train", "--recipe", "unprepared", "--iterations", "2", ...ours]
      const { code, output } = await divisi(args, { cwd })
      assert.strictEqual(code, 1)
      assert.match(output, /Phase \S+ learned nothing: no completion was a valid workflow\./)
      assert.include(output, "Ended without learning: 2 iterations")
    }))
})

describe.concurrent("recipes of a config", () => {
  it("are named when another is asked for", async () => {
    const { errors } = await divisi(["train", "--recipe", "none", ...ours])
    assert.include(errors, "  mine: from the config\n")
  })

  for (const [recipe, message] of [
    ["broken", "Cannot use the recipe broken: There is no oven."],
    ["empty", "The function of the recipe empty returns no `"],
    ["uninstalled", "(the Tinker engine) is not installed. Install it next to @divisi/cli: `npm install"]
  ] as const) {
    it(`fails with a sentence where the recipe is ${recipe}`, () =>
      inFolder(async (cwd) => {
        const { code, errors } = await divisi(["train", "--recipe", recipe, ...ours], { cwd })
        assert.strictEqual(code, 2)
        assert.include(errors, message)
        assert.notMatch(errors, /\n\s+at /)
      }))
  }
})

const page = path.join(import.meta.dirname, "../../../docs/training.md")

describe("the recipe of the training page", () => {
  it("learns what it is for", () =>
    inFolder(async (cwd) => {
      const text = fs.readFileSync(page, "utf8")
      const own = text.slice(text.indexOf("## Your own recipe"))
      const [, code = ""] = /```ts\n(.*?)```/s.exec(own) ?? []
      fs.writeFileSync(path.join(cwd, "divisi.config.ts"), code.split("Object.keys")[0]!)
      const { code: exit, output } = await divisi(["train", "--recipe", "mine", "--seed", "7", "--json"], { cwd })
      assert.strictEqual(exit, 0)
      const rewards = output.split("\n").flatMap((line) => {
        const event = line === "" ? {} : JSON.parse(line)
        return event.metrics?.type === "grpo" ? [event.metrics.rewardMean as number] : []
      })
      assert.isBelow(rewards[0]!, 0.8)
      assert.isAbove(rewards.at(-1)!, 0.9)
    }))

  it("is refused with a setting that there is not", () =>
    inFolder(async (cwd) => {
      const { code, errors } = await divisi(["train", "--recipe", "misspelt", ...ours], { cwd })
      assert.strictEqual(code, 2)
      assert.match(errors, /The recipe misspelt: option "evaluateevery".*"evaluateEvery"/)
    }))
})
