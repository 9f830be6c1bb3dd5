/**
 * Load generator of the bench, a separate process: a number of requests over a number of keep-alive connections, one
 * request at a time on each. It parses only as much HTTP as needed, so that the bench does not measure the generator.
 * Prints JSON.
 */
import * as Net from "node:net"

/** The load to send. */
export interface Load {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  readonly requests: number
  /** No request is begun later than this. */
  readonly seconds: number
}

/** Results of a load; times in milliseconds. */
export interface Loaded {
  readonly requests: number
  readonly failed: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly firstByteP50: number
}

const load: Load = JSON.parse(process.argv[2] ?? "{}")

const message = Buffer.from(
  [
    `POST ${load.path} HTTP/1.1`,
    `host: 127.0.0.1:${load.port}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(load.body)}`,
    ...Object.entries(load.headers).map(([name, value]) => `${name}: ${value}`),
    "",
    load.body
  ].join("\r\n")
)

const times: Array<number> = []
const firsts: Array<number> = []
const startedAt = performance.now()
const until = startedAt + load.seconds * 1000
let begun = 0
let failed = 0

/** Whether a response is whole. */
const isWhole = (text: string): boolean => {
  const head = text.indexOf("\r\n\r\n")
  if (head < 0) return false
  const length = /content-length: *(\d+)/i.exec(text.slice(0, head))?.[1]
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= head + 4 + Number(length)
}

/** One connection: a request after another. */
const lane = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = Net.connect(load.port, "127.0.0.1")
    socket.setNoDelay(true)
    let text = ""
    let sentAt = 0
    const next = () => {
      if (begun >= load.requests || performance.now() > until) return void socket.end(resolve)
      begun += 1
      text = ""
      sentAt = performance.now()
      socket.write(message)
    }
    socket.on("connect", next)
    socket.on("error", reject)
    socket.on("close", () => resolve())
    socket.on("data", (bytes) => {
      if (text === "") firsts.push(performance.now() - sentAt)
      text += bytes.toString("latin1")
      if (!isWhole(text)) return
      times.push(performance.now() - sentAt)
      if (!text.startsWith("HTTP/1.1 200 ")) failed += 1
      next()
    })
  })

const quantile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length * share)] ?? Number.NaN

await Promise.all(Array.from({ length: load.connections }, lane))
const loaded: Loaded = {
  requests: times.length,
  failed,
  seconds: (performance.now() - startedAt) / 1000,
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
  firstByteP50: quantile(firsts, 0.5)
}
console.log(JSON.stringify(loaded))
