import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import * as HostileRequests from "./hostileRequests.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const count = Number(process.env.HOSTILE_REQUESTS ?? 2_000)
const first = Number(process.env.HOSTILE_SEED ?? 1_000)

const mebi = 2 ** 20

/** A worker that answers, and remembers nothing of it. */
const forgetful = () => {
  const a = worker("a", said("here"))
  return { ...a, generate: a.generate, calls: a.calls as Array<unknown> }
}

const memory = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().rss
}

describe("a server among those who wish it ill", () => {
  it(`answers ${count} hostile requests without a mistake of its own, in the memory that it had`, () => {
    const a = forgetful()
    return serving({ ...alone(a as never), maxBodyBytes: mebi }, async ({ url }) => {
      const statuses = new Map<number, number>()
      let before = 0
      for (let at = 0; at < count; at += 1) {
        const { body, headers, method, path } = HostileRequests.make(first + at)
        const response = await fetch(new URL(path, url), { method, headers, body: Buffer.from(body) })
        const text = await response.text()
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        assert.isFalse(HostileRequests.isFault(response.status, text), `seed ${first + at}`)
        a.calls.length = 0
        if (at === Math.floor(count / 2)) before = memory()
      }
      const grown = (memory() - before) / mebi
      process.stdout.write(`${JSON.stringify({ ...Object.fromEntries(statuses), grownMiB: Math.round(grown) })}\n`)
      assert.isBelow(grown, 100)
    })
  })

  it("closes connections that send a byte now and then, and answers others meanwhile", () =>
    serving(alone(worker("a", said("here"))), async ({ client, port }) => {
      const sockets = Array.from({ length: 50 }, () => connect(port, "127.0.0.1").on("error", () => {}))
      const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)))
      for (const socket of sockets) socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ")
      const dripping = setInterval(() => {
        for (const socket of sockets) if (socket.writable) socket.write("x")
      }, 500)
      const answer = await client.responses.create({ model: "divisi", input: "Still?" })
      assert.strictEqual(answer.output_text, "here")
      const late = sleep(25_000, "late", { ref: false })
      assert.notStrictEqual(await Promise.race([Promise.all(closed), late]), "late")
      clearInterval(dripping)
    }))

  it("reads no body beyond its limit, however long it is", () =>
    serving({ ...alone(worker("a", said("here"))), maxBodyBytes: mebi }, async ({ client, port }) => {
      const before = memory()
      const piece = Buffer.alloc(mebi, 0x20)
      const one = () =>
        new Promise<string>((resolve) => {
          let said = ""
          const socket = connect(port, "127.0.0.1")
          const head = `POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${100 * mebi}\r\n\r\n`
          socket.on("error", () => {}).on("data", (data) => (said += data))
          socket.on("close", () => resolve(said))
          socket.write(head)
          let sent = 0
          const more = () => {
            while (sent < 100 && socket.writable) {
              sent += 1
              if (!socket.write(piece)) return socket.once("drain", more)
            }
            return socket.end()
          }
          more()
        })
      const answers = await Promise.all(Array.from({ length: 10 }, one))
      for (const answer of answers) assert.match(answer, /^(HTTP\/1\.1 413 |$)/)
      assert.isTrue(answers.some((answer) => answer.includes("413")))
      const grown = (memory() - before) / mebi
      process.stdout.write(`${JSON.stringify({ tenBodiesOf100MiB: true, grownMiB: Math.round(grown) })}\n`)
      assert.isBelow(grown, 150)
      assert.strictEqual((await client.responses.create({ model: "divisi", input: "Still?" })).output_text, "here")
    }))
})
