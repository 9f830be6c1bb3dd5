/** Runs whose files a disk, or a hand, has changed. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { Sealed } from "@divisi/files"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { EngineError } from "../src/Engine.ts"
import * as RunFolder from "../src/RunFolder.ts"
import * as Layout from "../src/RunLayout.ts"
import * as Trainer from "../src/Trainer.ts"
import { parts, warmStart } from "./world.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(tmpdir(), "divisi-damage-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const input = { phases: [{ ...warmStart, steps: 12 }], checkpoints: { every: 3, keep: 2 } }

/** A run that was stopped after nine iterations: it has checkpoints 6 and 9. */
const stopped = Effect.gen(function* () {
  const folder = yield* temporary
  const controller = new AbortController()
  const listener: Trainer.Options["listener"] = (event) => {
    if (event.type === "checkpoint-saved" && event.iteration === 9) controller.abort()
  }
  yield* Trainer.start(parts(), input, { folder, listener, signal: controller.signal })
  assert.deepStrictEqual(yield* RunFolder.checkpoints(folder), [6, 9])
  return folder
})

/** Returns what a run leaves, except for clock times. */
const left = Effect.fnUntraced(function* (folder: string) {
  return {
    state: yield* RunFolder.readState(folder, 12),
    metrics: (yield* RunFolder.readMetrics(folder)).map((one) => ({ ...one, at: 0, seconds: 0 }))
  }
})

const whole = Effect.gen(function* () {
  const folder = yield* temporary
  yield* Trainer.start(parts(), input, { folder })
  return yield* left(folder)
})

/** Resumes a run, and collects its messages. */
const resume = (folder: string) => {
  const said: Array<unknown> = []
  const logger = Logger.make(({ message }) => void said.push(message))
  return Effect.map(Trainer.resume(parts(), { folder }), () => said.flat().join("\n")).pipe(
    Effect.provide(Logger.layer([logger]))
  )
}

const flip = (file: string, at = fs.statSync(file).size >> 1) => {
  const bytes = fs.readFileSync(file)
  bytes[at]! ^= 4
  fs.writeFileSync(file, bytes)
}

describe("a run whose last checkpoint is damaged", () => {
  for (const name of ["engine.bin", Layout.state]) {
    it.effect(`resumes from the one before, reports that, and comes to the same end (${name})`, () =>
      Effect.gen(function* () {
        const expected = yield* whole
        const folder = yield* stopped
        flip(path.join(folder, Layout.checkpointOf(9), name))
        assert.include(yield* resume(folder), `and the run continues from checkpoint 6`)
        assert.deepStrictEqual(yield* left(folder), expected)
        assert.isTrue(fs.existsSync(path.join(folder, `${Layout.checkpointOf(9)}.damaged`, name)))
      })
    )
  }

  it.effect("resumes from the one before also if a file is missing or empty", () =>
    Effect.gen(function* () {
      const expected = yield* whole
      for (const damage of [
        (file: string) => fs.rmSync(file),
        (file: string) => fs.writeFileSync(file, ""),
        (file: string) => fs.truncateSync(file, 100)
      ]) {
        const folder = yield* stopped
        damage(path.join(folder, Layout.checkpointOf(9), "engine.bin"))
        assert.include(yield* resume(folder), "continues from checkpoint 6")
        assert.deepStrictEqual(yield* left(folder), expected)
      }
    })
  )

  it.effect("is refused, with nothing changed, where no other is whole", () =>
    Effect.gen(function* () {
      const folder = yield* stopped
      for (const checkpoint of [6, 9]) flip(path.join(folder, Layout.checkpointOf(checkpoint), "engine.bin"))
      const { message } = yield* Effect.flip(resume(folder))
      assert.include(
        message,
        "all of its checkpoints are damaged (checkpoints/000009/engine.bin does not match its checksum"
      )
      assert.deepStrictEqual(yield* RunFolder.checkpoints(folder), [6, 9])
    })
  )
})

describe("a disk that is full when the engine saves", () => {
  it.effect("ends the run with advice, and it resumes to the same end", () =>
    Effect.gen(function* () {
      const expected = yield* whole
      const folder = yield* temporary
      const { engine, ...rest } = parts()
      let saves = 0
      const save: typeof engine.save = (label, into) => {
        saves += 1
        if (saves !== 3) return engine.save(label, into)
        const detail = "Error: ENOSPC: no space left on device, write"
        return Effect.fail(new EngineError({ engine: "toy", doing: "save", reason: { _tag: "Failed", detail } }))
      }
      const failing = Trainer.start({ ...rest, engine: { ...engine, save } }, input, { folder })
      assert.strictEqual(
        (yield* Effect.flip(failing)).message,
        `The disk of ${folder} is full. Free some space, then resume the run; it continues from its last checkpoint.`
      )
      yield* resume(folder)
      assert.deepStrictEqual(yield* left(folder), expected)
    })
  )
})

describe("metrics", () => {
  it.effect("that are shorter than the checkpoint states, or damaged, are lost alone, and this is reported", () =>
    Effect.gen(function* () {
      const expected = yield* whole
      for (const damage of [
        (file: string) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2)),
        (file: string) => flip(file),
        (file: string) => {
          const lines = fs.readFileSync(file, "utf8").split("\n")
          fs.writeFileSync(file, lines.with(2, lines[4]!).with(6, lines[4]!).join("\n"))
        },
        (file: string) => fs.rmSync(file)
      ]) {
        const folder = yield* stopped
        const file = path.join(folder, Layout.metrics)
        damage(file)
        const said = yield* resume(folder)
        assert.match(said, /lacks \d of 9 iterations\. Their metrics are lost/)
        const { metrics, state } = yield* left(folder)
        assert.deepStrictEqual(state, expected.state)
        const kept = new Set(metrics.map(({ iteration }) => iteration))
        assert.deepStrictEqual(
          metrics,
          expected.metrics.filter(({ iteration }) => kept.has(iteration))
        )
        for (const iteration of [9, 10, 11]) assert.isTrue(kept.has(iteration))
      }
    })
  )

  it.effect("of another user are neither cut nor written, also through a link", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const victim = path.join(folder, "victim")
      for (const place of ["first", "second"]) {
        fs.mkdirSync(path.join(folder, place))
        fs.writeFileSync(victim, "precious")
        const file = path.join(folder, place, Layout.metrics)
        if (place === "first") fs.symlinkSync("../victim", file)
        else fs.copyFileSync(victim, file)
        const error = yield* Effect.flip(Trainer.start(parts(), input, { folder: path.join(folder, place) }))
        assert.include(error.message, place === "first" ? "it is a link" : "name another folder")
        assert.strictEqual(fs.readFileSync(file, "utf8"), "precious")
      }
    })
  )
})

describe("a folder that was tampered with", () => {
  const state = (folder: string) => path.join(folder, Layout.checkpointOf(9), Layout.state)
  const edit = (file: string, change: object) =>
    fs.writeFileSync(file, Sealed.stringify({ ...Sealed.parse(fs.readFileSync(file, "utf8")), ...change }))

  it.effect("loads nothing from elsewhere", () =>
    Effect.gen(function* () {
      const version = 9
      for (const change of [
        { iteration: "../../x" },
        { iteration: 6 },
        { engine: { reference: "../../../etc/passwd", version } },
        { engine: { reference: "/etc/passwd", version } },
        { engine: { reference: "C:\\windows", version } },
        { reference: { reference: "..\\x", version } },
        { files: { "../../x": "" } },
        { phase: -1 },
        { best: {} },
        { engine: null }
      ]) {
        const folder = yield* stopped
        edit(state(folder), change)
        assert.include(yield* resume(folder), "the run continues from checkpoint 6")
      }
    })
  )

  it.effect("says what is wrong with what it has spent, and with its configuration", () =>
    Effect.gen(function* () {
      const folder = yield* stopped
      const message = Effect.map(Effect.flip(resume(folder)), (error) => error.message)
      const spent = path.join(folder, Layout.spent)
      for (const [text, said] of [
        ["{}", "it has no checksum"],
        [Sealed.stringify({}), "it holds no USD"],
        [Sealed.stringify({ costUsd: "x" }), "it holds no USD"],
        [Sealed.stringify({ costUsd: -1 }), "it holds no USD"],
        ["{", "it is not JSON"]
      ] as const) {
        fs.writeFileSync(spent, text)
        const told = yield* message
        assert.include(told, said)
        assert.include(told, "Delete it to count only the cost recorded in the last checkpoint")
      }
      fs.rmSync(spent)
      const config = path.join(folder, Layout.config)
      const before = fs.readFileSync(config, "utf8")
      for (const [text, said] of [
        ['{"version":1}', "it has no checksum"],
        [Sealed.stringify({ version: 1 }), "name must have the type string"],
        [
          Sealed.stringify({ ...Sealed.parse(before), phases: [{ type: "grpo", name: "x" }] }),
          "phases[0].tasks must have the type"
        ],
        [Sealed.stringify({ ...Sealed.parse(before), phases: [null] }), "phases[0] must have the type object"],
        [Sealed.stringify({ ...Sealed.parse(before), pool: [{}] }), "pool[0].id must have the type string"],
        [before.replace('"seed": 1', '"seed": 2'), "does not match its checksum"],
        ["[]", "it is not an object"]
      ] as const) {
        fs.writeFileSync(config, text)
        assert.include(yield* message, said)
      }
      fs.writeFileSync(config, before)
      yield* resume(folder)
    })
  )
})
