/** Serves the routes; without `--serve` it asks them, prints what a page gets, and ends. */
import type { AddressInfo } from "node:net"
import type { TeamMessage } from "@divisi/providers-ai-sdk"
import { serve } from "@hono/node-server"
import { DefaultChatTransport, readUIMessageStream } from "ai"
import { app } from "./server.ts"

const started = Promise.withResolvers<AddressInfo>()
const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, started.resolve)
const { port } = await started.promise
const url = `http://127.0.0.1:${port}`
console.log(`Listening at ${url}`)

if (!process.argv.includes("--serve")) {
  const events = await (await fetch(`${url}/ask?question=Why`)).text()
  console.log(`Events: ${[...events.matchAll(/^event: (.*)$/gm)].map(([, name]) => name).join(", ")}`)

  const stream = await new DefaultChatTransport<TeamMessage>({ api: `${url}/api/chat` }).sendMessages({
    trigger: "submit-message",
    chatId: "chat",
    messageId: undefined,
    messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "Write about the sea." }] }],
    abortSignal: undefined
  })
  let last: TeamMessage | undefined
  for await (const message of readUIMessageStream<TeamMessage>({ stream })) last = message
  const shown = last?.parts.flatMap((part) => {
    if (part.type === "data-step") return [`${part.data.worker} ${part.data.state}`]
    return part.type === "text" ? [part.text] : []
  })
  console.log(`useChat shows: ${shown?.join(" | ")}`)
  server.close()
}
