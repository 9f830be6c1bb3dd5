import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { config, divisi, inFolder } from "./process.ts"

interface Span {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceId: string
}

/** A collector of traces: the bodies that were sent to it. */
const collecting = async <A>(use: (endpoint: string, bodies: ReadonlyArray<string>) => Promise<A>): Promise<A> => {
  const bodies: Array<string> = []
  const server = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (piece) => {
      text += piece
    })
    request.on("end", () => {
      bodies.push(text)
      response.end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

describe("divisi serve with a collector", () => {
  it("sends the spans of requests, runs and calls, and nothing of what was asked, said or let in", () =>
    inFolder((folder) =>
      collecting(async (endpoint, bodies) => {
        const secret = "divisi_12345678_secret-of-nobody"
        let using: Promise<unknown> | undefined
        const ask = async (url: string) => {
          const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "Whose secret?" }] })
          const headers = { authorization: `Bearer ${secret}`, "x-api-key": secret }
          return (await fetch(`${url}/chat/completions`, { method: "POST", body, headers })).json()
        }
        await divisi(
          ["serve", "--port", "0", "--config", config("quick"), "--journal", path.join(folder, "runs.sqlite")],
          {
            environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, DIVISI_KEYS: path.join(folder, "keys.json") },
            onOutput: (output, child) => {
              const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
              if (url !== undefined) using ??= ask(url).finally(() => child.kill("SIGTERM"))
            }
          }
        )
        await using
        const spans = bodies.flatMap((body) =>
          JSON.parse(body).resourceSpans.flatMap(
            ({ scopeSpans }: { scopeSpans: ReadonlyArray<{ spans: Array<Span> }> }) =>
              scopeSpans.flatMap((scope) => scope.spans)
          )
        ) as ReadonlyArray<Span>
        const parentOf = ({ parentSpanId, traceId }: Span) =>
          spans.find((span) => span.spanId === parentSpanId && span.traceId === traceId)
        const call = spans.find(({ name }) => name.startsWith("chat"))!
        const names: Array<string> = []
        for (let at: Span | undefined = call; at !== undefined; at = parentOf(at)) names.push(at.name)
        assert.match(names.join(" < "), /^chat first < .*invoke_workflow.* < POST/, names.join(" < "))
        const sent = bodies.join("\n")
        for (const text of [secret, "Whose secret?"]) assert.notInclude(sent, text)
      })
    ))
})
