/** Cases for failing connections and unresponsive servers. */
import assert from "node:assert/strict"
import * as net from "node:net"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertClosesSoon, assertFails, type Subject } from "../subject.ts"

const answer = Script.answer(["one", "two", "three"])

/** Returns a local address without a listener. */
const deadAddress = async (): Promise<string> => {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

const unreachable = (id: string, name: string, address: (subject: Subject) => Promise<string>): Case => ({
  id: `connection/${id}`,
  name,
  run: async (subject) => {
    const worker = subject.worker(await address(subject))
    assertFails(await subject.call(worker), "Network")
  }
})

const hang = (id: string, name: string, script: Script.Fault): Case => ({
  id: `connection/${id}`,
  name,
  run: async ({ call, serve, worker }) => {
    // On a busy machine, a short time limit may expire before the request arrives, which proves nothing.
    for (const timeoutMillis of [150, 1_500, 6_000]) {
      const server = await serve([script])
      assertFails(await call(worker(server, { timeoutMillis })), "Timeout")
      const [exchange] = server.exchanges
      if (exchange === undefined) continue
      await assertClosesSoon(exchange)
      assert.equal(server.exchanges.length, 1, "A hanging request was sent again.")
      return
    }
    assert.fail("No request has arrived.")
  }
})

export const connections: ReadonlyArray<Case> = [
  unreachable("refused", "fails with Network when nobody listens", deadAddress),
  unreachable("dns", "fails with Network when the host has no address", async () => "http://nowhere.invalid"),
  unreachable("tls", "fails with Network when the server does not speak TLS", async ({ serve }) =>
    (await serve([answer])).url.replace("http:", "https:")
  ),
  {
    id: "connection/reset",
    name: "fails with Network when the connection is reset before an answer, after one request",
    run: async ({ ask }) => {
      const outcome = await ask([{ type: "reset" }])
      assertFails(outcome, "Network")
      assert.equal(outcome.server.exchanges.length, 1, "The request was sent again.")
    }
  },
  hang("hang", "fails with Timeout after its own time limit when no answer comes", { type: "hang" }),
  hang("hang-in-stream", "fails with Timeout after its own time limit when an answer falls silent", {
    type: "hang",
    answer,
    after: 1
  })
]
