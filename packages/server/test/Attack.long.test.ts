/** No request within the limits, or beyond them, delays the event loop by more than 200 ms. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const budgetMillis = 200

const listed = (count: number, item: string) => `[${Array.from({ length: count }).fill(item).join()}]`

const keyed = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`

/** The value of one field, made when it is needed, and the status of the response. */
const attacks: Readonly<Record<string, readonly [json: () => string, status: number]>> = {
  "99,000 keys": [() => keyed(99_000), 200],
  "2.5 million keys": [() => keyed(2_500_000), 400],
  "180,000 numbers": [() => listed(180_000, "1"), 200],
  "5,000 levels": [() => `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`, 400],
  "an image of 20 MiB": [() => JSON.stringify(`data:image/png;base64,${"A".repeat(20 * 2 ** 20)}`), 200],
  "seven texts of 4 MB": [() => listed(7, JSON.stringify("a b ".repeat(1_000_000))), 200]
}

/** Another thread sends, so that only the server's own delay is measured. */
const sender = `
const { parentPort, workerData: { url, body } } = require("node:worker_threads")
const send = async () => {
  for (let times = 0; times < 6; times++) {
    const response = await fetch(url, { method: "POST", body })
    await response.text()
    parentPort.postMessage(response.status)
  }
}
send()
`

describe("the event loop", () => {
  for (const [name, [json, status]] of Object.entries(attacks)) {
    it(`is delayed by ${budgetMillis} ms at most by ${name}`, () =>
      serving(alone(worker("a", said("here"))), async ({ url }) => {
        const body = `{"model":"divisi","messages":[{"role":"user","content":"Greet"}],"metadata":${json()}}`
        const statuses: Array<number> = []
        const delay = monitorEventLoopDelay({ resolution: 5 })
        await new Promise<void>((resolve) => {
          const sending = new Worker(sender, { eval: true, workerData: { url: `${url}/chat/completions`, body } })
          sending.on("online", () => delay.enable())
          sending.on("message", (got: number) => statuses.push(got))
          sending.on("exit", () => resolve())
        })
        delay.disable()
        assert.deepStrictEqual(statuses, Array.from({ length: 6 }).fill(status))
        assert.isAtMost(delay.max / 1e6, budgetMillis)
      }))
  }
})
