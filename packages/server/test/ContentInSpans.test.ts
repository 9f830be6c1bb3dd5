import { Baselines } from "@divisi/core"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { assert, describe, it } from "vitest"
import * as NodeServer from "../src/NodeServer.ts"
import { said, worker } from "./teams.ts"

/** Requests a path with a query, and returns the attributes of the server's spans. */
const attributesOf = (content: "full" | "none", path: string) => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const requested = Effect.gen(function* () {
    const pool = WorkerPool.makeUnsafe([worker("a", said("here"))])
    const { port } = yield* NodeServer.make({ port: 0, pool, policy: Baselines.single(0), content })
    yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`, { headers: { "user-agent": "test" } }))
    return spans.map(({ attributes }) => Object.fromEntries(attributes))
  })
  return Effect.runPromise(Effect.scoped(Effect.withTracer(requested, tracer)))
}

describe("spans of a server", () => {
  it("have the query of a request", async () => {
    const [attributes] = await attributesOf("full", "/v1/runs?after=alice")
    assert.include(attributes!["url.query"], "alice")
  })

  it("have no values of a query without content", async () => {
    const all = await attributesOf("none", "/v1/runs?after=alice&limit=1&X=alice&after=alice")
    assert.isNotEmpty(all)
    assert.notInclude(JSON.stringify(all), "alice")
    assert.include(JSON.stringify(all), "/v1/runs")
  })
})
