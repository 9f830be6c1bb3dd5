import * as Task from "@divisi/core/Task"
import { assert, describe, it } from "@effect/vitest"
import { manifest, written } from "../scripts/manifest.ts"
import { names } from "../src/Family.ts"
import * as Gym from "../src/Gym.ts"
import { split } from "../src/internal/parts.ts"

const splits: ReadonlyArray<Gym.Split> = ["train", "validation", "test"]

describe("Gym", () => {
  it("the same options give the same tasks, and fewer are the beginning of more", () => {
    const tasks = Gym.tasks({ split: "train", count: 120, seed: 3 })
    assert.deepStrictEqual(Gym.tasks({ split: "train", count: 120, seed: 3 }), tasks)
    assert.deepStrictEqual(Gym.tasks({ split: "train", count: 40, seed: 3 }), tasks.slice(0, 40))
    const other = new Set(Gym.tasks({ split: "train", count: 120, seed: 4 }).map(Task.question))
    assert.isBelow(tasks.filter((task) => other.has(Task.question(task))).length, 5)
  })

  it("splits share no question, and no question is repeated, easy ones included", () => {
    const questions = splits.flatMap((split) =>
      [1, 2, 3].flatMap((seed) =>
        [
          ...Gym.tasks({ split, count: 400, seed }),
          ...Gym.tasks({ split, count: 400, seed, difficulty: 1, composites: 0 })
        ].map((task) => [split, Task.question(task)] as const)
      )
    )
    const home = new Map<string, Gym.Split>()
    for (const [split, question] of questions) {
      assert.strictEqual(home.get(question) ?? split, split, question)
      home.set(question, split)
    }
    for (const split of splits) {
      const tasks = Gym.tasks({ split, count: 800, difficulty: 1 })
      assert.strictEqual(new Set(tasks.map(Task.question)).size, 800)
      assert.strictEqual(new Set(tasks.map((task) => task.id)).size, 800)
    }
  })

  it("the seeds of the splits do not overlap, and tasks keep to theirs", () => {
    const ranges = splits.map((split) => Gym.seedRanges[split])
    for (const [index, { from, to }] of ranges.entries()) {
      assert.isBelow(from, to)
      assert.isAtLeast(from, ranges[index - 1]?.to ?? 0)
    }
    for (const split of splits) {
      for (const task of Gym.tasks({ split, count: 50, seed: 9 })) {
        const { from, to } = Gym.seedRanges[split]
        assert.isTrue(Gym.metadata(task)!.seed >= from && Gym.metadata(task)!.seed < to)
      }
    }
  })

  it("every family and difficulty comes, and four tasks in ten are composites", () => {
    const all = Gym.tasks({ split: "train", count: 1000 }).map((task) => Gym.metadata(task)!)
    for (const name of names) assert.isAbove(all.filter(({ family }) => family === name).length, 40, name)
    for (const level of [1, 2, 3]) assert.isAbove(all.filter(({ difficulty }) => difficulty === level).length, 250)
    const composites = all.filter(({ family }) => family === "composite")
    assert.isTrue(composites.length > 330 && composites.length < 470)
    for (const { parts } of composites) assert.isTrue(parts.length === 2 || parts.length === 3)
    assert.isTrue(composites.some(({ parts }) => parts[2]?.needs.length === 2))
  })

  it("a later part of a composite needs an earlier answer and does not hold it", () => {
    for (const task of Gym.tasks({ split: "train", count: 200, composites: 1 })) {
      const { parts } = Gym.metadata(task)!
      assert.isTrue(parts.at(-1)!.needs.length > 0)
      assert.strictEqual(new Set(parts.map(({ family }) => family)).size, parts.length)
      assert.deepStrictEqual(
        split(Task.question(task)).map(({ needs }) => needs),
        parts.map(({ needs }) => needs),
        Task.question(task)
      )
    }
  })

  it("families and difficulty are as requested", () => {
    const tasks = Gym.tasks({ split: "test", count: 60, families: ["calendar", "units"], difficulty: 2 })
    for (const task of tasks) {
      const { difficulty, parts } = Gym.metadata(task)!
      assert.strictEqual(difficulty, 2)
      for (const { family } of parts) assert.isTrue(family === "calendar" || family === "units")
    }
    const alone = Gym.tasks({ split: "test", count: 20, families: ["logic"] })
    assert.isTrue(alone.every((task) => Gym.metadata(task)!.family === "logic"))
  })

  it("says what is wrong with its options", () => {
    assert.throws(() => Gym.tasks({ split: "test", count: -1 }), /"count" must be a whole number of at least 0, not -1/)
    assert.throws(() => Gym.tasks({ split: "test", count: 1, seed: 0.5 }), /"seed" must be a whole number, not 0.5/)
    assert.throws(
      () => Gym.tasks({ split: "test", count: 1, composites: 2 }),
      /"composites" must be a number from 0 to 1, not 2/
    )
    const misspelt = { split: "test", count: 1, familys: ["logic"] } as const
    assert.throws(() => Gym.tasks(misspelt), 'option "familys" does not exist. Did you mean "families"?')
    assert.throws(() => Gym.tasks({ split: "test", count: 1, families: [] }), /at least one family/)
    assert.deepStrictEqual(Gym.tasks({ split: "test", count: 0 }), [])
  })

  it("the manifest is what the generators make", () => {
    assert.deepStrictEqual(written(), JSON.parse(JSON.stringify(manifest())))
  })
})
