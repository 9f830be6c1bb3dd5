import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import net from "node:net"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Seed } from "@divisi/core"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"
import { fresh, hasPostgres } from "./database.ts"

const fixture = fileURLToPath(new URL("fixtures/payer.ts", import.meta.url))

/** A process that charges calls, and how many it has reported. */
class Payer {
  calls = 0
  charged = 0
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  private readonly waiting = new Set<() => void>()

  constructor(...args: ReadonlyArray<string>) {
    const child = spawn(process.execPath, ["--conditions=@divisi/source", fixture, ...args], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    this.child = child
    this.ended = once(child, "close")
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("charged ")) this.charged = Number(line.slice(8))
      else if (line !== "begun") this.calls = Number(line)
      for (const look of this.waiting) look()
    })
  }

  /** Waits until it has charged so many calls more; false if it has not within the time that a test takes. */
  more(calls: number): Promise<boolean> {
    const wanted = this.calls + calls
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const giveUp = setTimeout(() => resolve(false), 25_000)
    const look = () => {
      if (this.calls >= wanted) resolve(true)
    }
    this.waiting.add(look)
    return promise.finally(() => {
      clearTimeout(giveUp)
      this.waiting.delete(look)
    })
  }
}

describe.skipIf(!hasPostgres)("a process that is frozen", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  it("stops no other process that is charged to the same account", { timeout: 240_000 }, () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const postgres = yield* fresh(() => server)
          const accounts = yield* PostgresAccounts.make(postgres)
          const all = yield* accounts.open({ name: "all" })
          const payers = [new Payer(server.url, postgres.schema), new Payer(server.url, postgres.schema)] as const
          const draw = Seed.draw(1)
          const trials = 12
          let went = 0
          const freeze = async () => {
            await Promise.all(payers.map((payer) => payer.more(100)))
            for (let trial = 0; trial < trials; trial++) {
              const frozen = payers[trial % 2]!
              const other = payers[(trial + 1) % 2]!
              await frozen.more(50)
              for (let turn = Seed.below(draw, 200); turn > 0; turn--)
                await new Promise((resolve) => setImmediate(resolve))
              frozen.child.kill("SIGSTOP")
              if (await other.more(300)) went += 1
              frozen.child.kill("SIGCONT")
            }
            for (const { child } of payers) child.kill("SIGTERM")
            await Promise.all(payers.map(({ ended }) => ended))
          }
          yield* Effect.promise(freeze)
          assert.strictEqual(went, trials)
          const { open, reservedCostUsd, total } = yield* all.standing
          const charged = payers[0].charged + payers[1].charged
          assert.deepStrictEqual([total.calls, total.costUsd, open, reservedCostUsd], [charged, charged, 0, 0])
        })
      )
    )
  )

  /** A way to the server that can fall silent, with its connections and all new ones. */
  const silenced = async () => {
    const sockets = new Set<net.Socket>()
    let isSilent = false
    const { hostname, port } = new URL(server.url)
    const proxy = net.createServer((socket) => {
      sockets.add(socket.on("error", () => {}))
      if (isSilent) return
      const above = net.connect(Number(port), hostname).on("error", () => socket.destroy())
      sockets.add(above)
      socket.pipe(above).pipe(socket)
    })
    await once(proxy.listen(0, "127.0.0.1"), "listening")
    const url = new URL(server.url)
    url.port = `${(proxy.address() as net.AddressInfo).port}`
    const silence = () => {
      isSilent = true
      for (const socket of sockets) socket.unpipe().pause()
    }
    const close = () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    }
    return { url: `${url}`, silence, cut: close, close }
  }

  it.each(["silence", "cut"] as const)(
    "closes a journal and accounts, and ends, where its database is unreachable: %s",
    { timeout: 60_000 },
    async (how) => {
      const way = await silenced()
      const program = fileURLToPath(new URL("fixtures/closer.ts", import.meta.url))
      const child = spawn(process.execPath, ["--conditions=@divisi/source", program, way.url], {
        stdio: ["pipe", "pipe", "inherit"]
      })
      const ended = once(child, "close")
      const lines: Array<string> = []
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line)
        if (line !== "open") continue
        way[how]()
        child.stdin.end()
      }
      assert.deepStrictEqual(lines, ["open", "closed"])
      assert.deepStrictEqual(await ended, [0, null])
      way.close()
    }
  )
})
