import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assert, describe, it } from "vitest"
import * as Fair from "../src/http/Fair.ts"

/** The order in which requests of these callers begin, all of which are ready in one turn of the event loop. */
const orderOf = async (owners: ReadonlyArray<string>): Promise<string> => {
  const { enter } = Fair.make(() => 0)
  let order = ""
  const begin = (owner: string) =>
    Effect.map(enter(owner), () => {
      order += owner
    })
  await Effect.runPromise(Effect.forEach(owners, begin, { concurrency: "unbounded" }))
  return order
}

describe("Fair", () => {
  it("lets a few requests begin at once", () => {
    const { enter } = Fair.make(() => 0)
    Effect.runSync(Effect.forEach([..."aaaaaaaa"], enter))
  })

  it("takes the callers one after another once there are more", async () => {
    assert.strictEqual(await orderOf([..."aaaaaaaa", ..."aaaaaa", ..."bbb", "c"]), "aaaaaaaaabcababaaa")
  })

  it("lets all begin, a single caller's in their order", async () => {
    assert.lengthOf(await orderOf(Array.from({ length: 10_000 }, () => "a")), 10_000)
  })

  it("calls functions in the same order, the first ones at once", async () => {
    const { begin } = Fair.make(() => 0)
    let order = ""
    const add = (owner: string) => {
      order += owner
    }
    const all = new Promise<void>((resolve) => {
      for (const owner of [..."aaaaaaaaaab"]) begin(owner, () => add(owner))
      begin("c", resolve)
    })
    assert.strictEqual(order, "aaaaaaaa")
    await all
    assert.strictEqual(order, "aaaaaaaaaba")
  })

  it("starts no other request in a turn that has taken long", async () => {
    let time = 0
    const { begin } = Fair.make(() => time)
    const turns: Array<number> = []
    let turn = 0
    const count = () => void setImmediate(() => ++turn < 9 && count())
    count()
    await new Promise<void>((resolve) => {
      for (let request = 0; request < 4; request++) {
        begin("a", () => {
          turns.push(turn)
          time += 5
          if (request === 3) resolve()
        })
      }
    })
    assert.strictEqual(new Set(turns).size, 4)
  })

  it("calls no function that was removed", async () => {
    const { begin } = Fair.make(() => 0)
    let order = ""
    const removes = [..."abcdefghijkl"].map((name) =>
      begin("a", () => {
        order += name
      })
    )
    removes[9]!()
    removes[0]!()
    await new Promise<void>((resolve) => void begin("a", resolve))
    assert.strictEqual(order, "abcdefghikl")
  })

  it("begins nothing that was interrupted while it waited", async () => {
    const { enter } = Fair.make(() => 0)
    let begun = 0
    const begin = Effect.map(enter("a"), () => void begun++)
    const fibers = Array.from({ length: 20 }, () => Effect.runFork(begin))
    for (const fiber of fibers.slice(8, 18)) await Effect.runPromise(Fiber.interrupt(fiber))
    await Promise.all(fibers.slice(18).map((fiber) => Effect.runPromise(Fiber.join(fiber))))
    assert.strictEqual(begun, 10)
  })
})
