/** A process that opens its database while that is still starting. */
import { connect, createServer, type Socket } from "node:net"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { assert, describe, it } from "vitest"
import * as Postgres from "../src/Postgres.ts"
import { ClusterRuns } from "../src/runs.ts"
import { hasPostgres } from "./database.ts"

/** An error of the wire protocol. */
const errorResponse = (code: string, message: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write("E")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** Runs a test against a server that answers each connection with the next of some faults, and the last one again. */
const answering = async <A>(
  faults: ReadonlyArray<(socket: Socket) => void>,
  test: (url: string, connections: () => number) => Promise<A>
): Promise<A> => {
  let count = 0
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => faults[Math.min(count++, faults.length - 1)]!(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  try {
    return await test(`postgres://divisi:a-secret@127.0.0.1:${port}/divisi?sslmode=disable`, () => count)
  } finally {
    server.close()
  }
}

const refusing = (code: string, message: string) => (socket: Socket) => void socket.end(errorResponse(code, message))

const open = (url: string, options: Partial<Postgres.Options> = {}) =>
  Effect.scoped(Postgres.open({ url: Redacted.make(url), ...options }))

describe("a database that is starting", () => {
  it("is tried again until it answers, and each wait is reported", () =>
    answering(
      [
        refusing("57P03", "the database system is starting up"),
        refusing("57P03", "the database system is not yet accepting connections"),
        refusing("57P03", "the database system is in recovery mode"),
        (socket) => void socket.end(),
        (socket) => void socket.resetAndDestroy(),
        refusing("3D000", 'database "divisi" does not exist')
      ],
      async (url, connections) => {
        const reported: Array<string> = []
        const onWait = (error: Postgres.PostgresError) => Effect.sync(() => void reported.push(error.message))
        const error = await Effect.runPromise(Effect.flip(open(url, { onWait })))
        assert.strictEqual(error.reason._tag, "Failed")
        assert.include(error.message, "does not exist")
        assert.strictEqual(connections(), 6)
        assert.lengthOf(reported, 5)
        assert.include(reported[0], "starting up")
        assert.include(reported[2], "recovery mode")
        assert.notInclude(reported.join(), "a-secret")
      }
    ))

  for (const [name, code, tag] of [
    ["a wrong password", "28P01", "Denied"],
    ["a user without access", "28000", "Denied"],
    ["an unknown database", "3D000", "Failed"]
  ] as const) {
    it(`is not assumed after ${name}`, () =>
      answering([refusing(code, "no")], async (url, connections) => {
        const error = await Effect.runPromise(Effect.flip(open(url)))
        assert.deepStrictEqual([error.reason._tag, connections()], [tag, 1])
      }))
  }

  it("is not assumed of a URL that is wrong in its form, nor of a server without TLS", async () => {
    for (const host of ["a..b", ".a", "-a", "a,b", "a%20b", `${"a".repeat(64)}.b`]) {
      const error = await Effect.runPromise(Effect.flip(open(`postgres://divisi:a-secret@${host}/divisi`)))
      assert.strictEqual(error.reason._tag, "Invalid", host)
      assert.notInclude(error.message, "a-secret")
    }
    const waits: Array<unknown> = []
    const onWait = (error: unknown) => Effect.sync(() => void waits.push(error))
    await answering([(socket) => void socket.end("N")], async (url, connections) => {
      await Effect.runPromise(Effect.flip(open(url.replace("disable", "require"), { onWait })))
      await Effect.runPromise(Effect.flip(open(url.replace("disable", "unheard-of"), { onWait })))
      assert.deepStrictEqual([connections(), waits.length], [1, 0])
    })
  })

  it("is tried once without a waiting time, and is waited for under a name that DNS does not know yet", async () => {
    const url = "postgres://divisi@no-such-host.invalid/divisi"
    const waits: Array<unknown> = []
    const onWait = (error: unknown) => Effect.sync(() => void waits.push(error))
    const error = await Effect.runPromise(Effect.flip(open(url, { onWait, startMillis: 0 })))
    assert.deepStrictEqual([error.reason._tag, waits.length], ["Unreachable", 0])
    const waiting = Effect.runFork(open(url, { onWait: (error) => Effect.andThen(onWait(error), Effect.yieldNow) }))
    while (waits.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await Effect.runPromise(Fiber.interrupt(waiting))
  })
})

describe.skipIf(!hasPostgres)("a Postgres that is started after its client", () => {
  it("is opened once it is there, by one owner alone", async () => {
    const server = await PostgresServer.start()
    try {
      server.halt()
      let isBegun = false
      const onWait = () =>
        Effect.sync(() => {
          if (!isBegun) server.begin()
          isBegun = true
        })
      const owners = await Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const postgres = yield* Postgres.open({ url: Redacted.make(server.url), onWait })
            return yield* postgres.run((session) =>
              session.query("SELECT count(*)::integer FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2")
            )
          })
        )
      )
      assert.isTrue(isBegun)
      assert.deepStrictEqual(owners, [[1]])
    } finally {
      server.stop()
    }
  })
})

describe.skipIf(!hasPostgres)("a Postgres that restarts while a server joins its cluster", () => {
  it("is waited for", async () => {
    const server = await PostgresServer.start()
    let cut = 0
    // The cluster's own connections end early, once before their first statement and once after.
    const proxy = createServer((socket) => {
      const { hostname, port } = new URL(server.url)
      const upstream = connect(Number(port), hostname)
      let statements = -1
      for (const one of [socket, upstream])
        one.on("error", () => {}).on("close", () => [socket, upstream].map((end) => end.destroy()))
      socket.on("data", (data) => {
        if (data.includes("divisi cluster")) statements = 0
        else if (statements >= 0) statements += 1
        if (cut < 2 && statements > cut * 2) {
          cut += 1
          socket.destroy()
        } else upstream.write(data)
      })
      upstream.on("data", (data) => socket.write(data))
    })
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
    try {
      const { port } = proxy.address() as { readonly port: number }
      const url = new URL(server.url)
      url.port = `${port}`
      const poll = Effect.flatMap(ClusterRuns.make({ url: Redacted.make(url.href), schema: "joined" }), (runs) =>
        runs.poll("none")
      )
      const polled = await Effect.runPromise(Effect.scoped(poll))
      assert.isTrue(Option.isNone(polled))
      assert.strictEqual(cut, 2)
    } finally {
      proxy.close()
      server.stop()
    }
  })
})
