/** A way to a Postgres that stops after a statement of its client, as if the client's process were frozen then. */
import { once } from "node:events"
import net from "node:net"

/** The code of a client's request for an encrypted connection, which is followed by the true start. */
const encryption = 80877103

const sync = "S".charCodeAt(0)

/** Cuts what a client sends into messages; the first one of a connection has no type. */
const messages = () => {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  return (piece: Buffer): ReadonlyArray<Buffer> => {
    rest = Buffer.concat([rest, piece])
    const found: Array<Buffer> = []
    for (;;) {
      const at = isStarted ? 1 : 0
      if (rest.length < at + 4) return found
      const length = at + rest.readUInt32BE(at)
      if (rest.length < length) return found
      if (!isStarted) isStarted = rest.readUInt32BE(4) !== encryption
      found.push(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  }
}

/** The place at which a statement is cut. */
export type Place = "after its end" | "before its end"

/** A way to a database. */
export interface Way {
  readonly url: string
  /**
   * Counts statements from now on, and stops at one of them: after its end, or after it is executed and before its end
   * (`Sync`) is sent. Then nothing passes in any direction.
   */
  readonly stopAt: (statement: number, place: Place) => void
  /** The number of statements since `stopAt`, without those of the connection that holds the lock of the process. */
  readonly passed: () => number
  /** Resolves with the port of the connection whose statement was cut. */
  readonly stopped: Promise<number>
  readonly close: () => void
}

/** Opens a way to a database. */
export const open = async (database: string): Promise<Way> => {
  const sockets = new Set<net.Socket>()
  const stopped = Promise.withResolvers<number>()
  let [last, passed, isStopped] = [Number.POSITIVE_INFINITY, 0, false]
  let place: Place = "after its end"
  const stop = (port: number) => {
    isStopped = true
    for (const socket of sockets) socket.unpipe().pause()
    stopped.resolve(port)
  }
  const { hostname, port } = new URL(database)
  const proxy = net.createServer((socket) => {
    const above = net.connect(Number(port), hostname)
    for (const [one, other] of [
      [socket, above],
      [above, socket]
    ] as const) {
      sockets.add(one)
      one.on("error", () => {}).on("close", () => other.destroy())
    }
    if (isStopped) return void socket.pause()
    const cut = messages()
    let isOwner = false
    socket.on("data", (piece) => {
      if (isStopped) return
      // Sent in one piece, so that the database executes all of it.
      const sent: Array<Buffer> = []
      for (const message of cut(piece as Buffer)) {
        isOwner ||= message.includes("divisi owner")
        const isEnd = !isOwner && message[0] === sync
        if (isEnd) passed += 1
        const isLast = isEnd && passed >= last
        if (!isLast || place === "after its end") sent.push(message)
        if (!isLast) continue
        above.write(Buffer.concat(sent))
        return stop(above.localPort!)
      }
      above.write(Buffer.concat(sent))
    })
    above.pipe(socket)
  })
  await once(proxy.listen(0, "127.0.0.1"), "listening")
  const url = new URL(database)
  url.port = `${(proxy.address() as net.AddressInfo).port}`
  return {
    url: `${url}`,
    stopAt: (statement, where) => {
      last = statement
      passed = 0
      place = where
    },
    passed: () => passed,
    stopped: stopped.promise,
    close: () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    }
  }
}
