/** A local vendor for apps that use `scripts/installation/vendors.mjs`. */
import http from "node:http"
import type { AddressInfo } from "node:net"

const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const answer = (body: string, response: http.ServerResponse) => {
  if (body.includes('"model":"m"')) {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`${chunk({ role: "assistant", content: "Because." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`)
  } else {
    response.writeHead(401, { "content-type": "application/json" })
    response.end(JSON.stringify({ error: { message: "Unknown key.", type: "authentication_error" } }))
  }
}

/** Serves the model "m" through Chat Completions, and rejects the key of every other request. */
export const serveVendor = async (): Promise<{ readonly url: string; readonly stop: () => void }> => {
  const server = http.createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text
    })
    request.on("end", () => answer(body, response))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: () => void server.close()
  }
}

/** Returns a problem unless the output of an app contains the answer and the named refusals. */
export const problemOf = (output: string): string | undefined => {
  const line = /^\{"answered".*\}$/m.exec(output)?.[0]
  if (line === undefined) return `it printed no result:\n${output.slice(-3000)}`
  const { answered, ...refused } = JSON.parse(line)
  const others = Object.values<string>(refused)
  return answered === "Because." && others.length === 3 && others.every((text) => /refused the credentials/.test(text))
    ? undefined
    : `it got ${line}`
}
