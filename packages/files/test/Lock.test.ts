import { fork, spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Lock from "../src/Lock.ts"
import { folder } from "./folder.ts"
import { start, startWith } from "./processes.ts"

const root = folder()
let files = 0
const fresh = () => path.join(root, `${files++}`, "run.lock")

const refused = (file: string) => Effect.flip(Effect.scoped(Lock.hold(file)))

describe("a lock", () => {
  it.effect("keeps another part of this process out, and says who has it", () =>
    Effect.gen(function* () {
      const file = fresh()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Lock.hold(file)
          // The second failure shows that the first has not freed the lock.
          for (let tries = 0; tries < 2; tries++) {
            const { message, reason } = yield* refused(file)
            assert(reason._tag === "Held" && reason.holder !== undefined)
            expect(reason.holder).toMatchObject({ pid: process.pid, host: os.hostname() })
            expect(message).toBe(
              `${file} is locked by process ${process.pid} since ${reason.holder.since}. Wait for it to finish, or stop it.`
            )
          }
        })
      )
      yield* Effect.scoped(Lock.hold(file))
      expect(fs.readdirSync(path.dirname(file))).toEqual([])
    })
  )

  it("keeps another process out after a failure in the holder's own", async () => {
    const file = fresh()
    await Effect.gen(function* () {
      yield* Lock.hold(file)
      yield* refused(file)
      const { code, errors } = yield* Effect.promise(() => start("lockHolder.ts", file).ended)
      expect(code).toBe(1)
      expect(errors).toContain(`is locked by process ${process.pid} since`)
    }).pipe(Effect.scoped, Effect.runPromise)
  })

  it("is free once its holder was killed, and names the holder before", async () => {
    const file = fresh()
    for (let round = 0; round < 3; round++) {
      const holder = start("lockHolder.ts", file)
      await holder.says("held")
      const { message } = await Effect.runPromise(refused(file))
      expect(message).toContain(`is locked by process ${holder.process.pid} since`)
      await holder.kill()
      await Effect.runPromise(Effect.scoped(Lock.hold(file)))
    }
  })

  const isolated = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]
  const canIsolate = spawnSync(isolated[0]!, [...isolated.slice(1), "true"]).status === 0

  it.skipIf(!canIsolate)(
    "keeps out processes of other namespaces, whatever their ids are there, and is freed by their death",
    async () => {
      const file = fresh()
      for (const [first, second] of [
        [[], isolated],
        [isolated, []]
      ] as const) {
        const holder = startWith(first, "lockHolder.ts", file)
        await holder.says("held")
        const { code, errors } = await startWith(second, "lockHolder.ts", file).ended
        expect(code).toBe(1)
        expect(errors).toContain("is locked by process")
        await holder.kill()
        await Effect.runPromise(Effect.scoped(Lock.hold(file, { wait: true })))
      }
    }
  )

  it("is taken by one alone of many that find it left behind", async () => {
    const file = fresh()
    for (let round = 0; round < 3; round++) {
      const dead = start("lockHolder.ts", file)
      await dead.says("held")
      await dead.kill()
      const all = Array.from({ length: 4 }, () => start("lockHolder.ts", file))
      const states = await Promise.all(
        all.map(({ ended, says }) => Promise.race([says("held").then(() => "held"), ended.then(() => "refused")]))
      )
      expect(states.sort()).toEqual(["held", "refused", "refused", "refused"])
      await Promise.all(all.map(({ kill }) => kill()))
    }
  })

  it("is not handed on to a child of its holder", async () => {
    const file = fresh()
    const held = await Effect.gen(function* () {
      yield* Lock.hold(file)
      return fork(new URL("fixtures/idle.ts", import.meta.url))
    }).pipe(Effect.scoped, Effect.runPromise)
    await Effect.runPromise(Effect.scoped(Lock.hold(file)))
    held.kill()
  })

  it("lets those who wait in one after another", async () => {
    const file = fresh()
    const counter = path.join(root, "counter")
    fs.writeFileSync(counter, "0")
    const children = Array.from({ length: 3 }, () => start("lockHolder.ts", file, counter, "20"))
    for (const { ended } of children) expect(await ended).toMatchObject({ code: 0, errors: "" })
    expect(fs.readFileSync(counter, "utf8")).toBe("60")
  })

  it("is taken while others free it, by a process that retries continuously", async () => {
    const file = fresh()
    const counter = path.join(root, "eagerly")
    fs.writeFileSync(counter, "0")
    const children = Array.from({ length: 4 }, () => start("lockHolder.ts", file, counter, "100", "eager"))
    for (const { ended } of children) expect(await ended).toMatchObject({ code: 0, errors: "" })
    expect(fs.readFileSync(counter, "utf8")).toBe("400")
  })

  it.live("is waited for until its holder is killed", () =>
    Effect.gen(function* () {
      const file = fresh()
      const holder = start("lockHolder.ts", file)
      yield* Effect.promise(() => holder.says("held"))
      const waiting = yield* Effect.forkChild(Effect.scoped(Lock.hold(file, { wait: true })))
      yield* Effect.promise(() => holder.kill())
      yield* Fiber.join(waiting)
    })
  )

  it.effect("says why its file cannot be used", () =>
    Effect.gen(function* () {
      const below = path.join(root, "a file")
      fs.writeFileSync(below, "")
      const text = path.join(root, "a text")
      fs.writeFileSync(text, "Dear diary, ".repeat(100))
      for (const file of [path.join(below, "run.lock"), text]) {
        const { message, reason } = yield* refused(file)
        expect(reason._tag).toBe("Unusable")
        expect(message).toContain(`Cannot lock ${file} (`)
      }
      expect(fs.readFileSync(text, "utf8")).toBe("Dear diary, ".repeat(100))
    })
  )
})
