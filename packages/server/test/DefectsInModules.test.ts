/** Functions of the server are made to fail one by one: each defect is logged once, and no client waits for ever. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"

const chat = { path: "chat/completions", body: { model: "divisi", messages: [{ role: "user", content: "Greet" }] } }
const messages = { path: "messages", body: { ...chat.body, max_tokens: 9 } }
const response = { path: "responses", body: { model: "divisi", input: "Greet" } }

interface Request {
  readonly path: string
  readonly body?: object
}

const streamed = ({ body, path }: { readonly path: string; readonly body: object }): Request => ({
  path,
  body: { ...body, stream: true }
})

/** The functions that fail, with the requests that call them. */
const faults: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<Request | "socket">>>>> = {
  "chat/ChatReader": { read: [chat, streamed(chat)] },
  "chat/ChatWriter": { begin: [streamed(chat)], write: [streamed(chat)], whole: [chat] },
  "messages/MessagesReader": {
    read: [messages, streamed(messages), { path: "messages/count_tokens", body: messages.body }]
  },
  "messages/MessagesWriter": { begin: [streamed(messages)], write: [streamed(messages)], whole: [messages] },
  "messages/CountTokens": { tokensOf: [{ path: "messages/count_tokens", body: messages.body }] },
  "responses/ResponsesReader": { read: [response, streamed(response), "socket"] },
  "responses/ResponsesWriter": { write: [streamed(response), "socket"], whole: [response] },
  "responses/ResponseStore": { make: ["socket"] },
  "responses/Injected": { desk: ["socket"] },
  "http/Turns": { pace: ["socket"] },
  "http/Body": { ofBytes: ["socket"], receive: [chat, streamed(messages), response] },
  "http/Endpoint": { inLane: ["socket"], open: [chat, streamed(messages), response, "socket"] },
  "responses/ResponseObject": { make: [response, streamed(response), "socket"] },
  "wire/Tools": { read: [chat, streamed(messages), response, "socket"] },
  "wire/Shape": { read: [chat, streamed(messages), response, "socket"] },
  "turns/Turns": { read: [chat, streamed(messages), response, "socket"] },
  "http/RequestKey": { make: [chat, messages, response] },
  "http/Spent": { refuse: [chat, messages, response] },
  "segment/Turn": { prepare: [chat, streamed(messages), "socket"] },
  "segment/SegmentParts": { make: [chat, streamed(chat), messages, streamed(response), "socket"] },
  "segment/Metering": { make: [chat, streamed(messages), "socket"] },
  "segment/Idempotent": { runOf: [chat, messages] },
  "http/Respond": { whole: [chat, messages] },
  Models: { team: [chat, streamed(messages), "socket"], chosen: [chat, response] }
}

const child = spawn(
  process.execPath,
  [
    "--conditions=@divisi/source",
    fileURLToPath(new URL("planted/server.ts", import.meta.url)),
    JSON.stringify(Object.fromEntries(Object.entries(faults).map(([module, names]) => [module, Object.keys(names)])))
  ],
  { stdio: ["pipe", "pipe", "inherit"] }
)

/** Output of the server that no test has read yet. */
const printed: Array<string> = []
let rest = ""
child.stdout.setEncoding("utf8").on("data", (text: string) => {
  const parts = (rest + text).split("\u0000")
  rest = parts.pop()!
  printed.push(...parts)
})

const next = async (isIt: (text: string) => boolean): Promise<string> => {
  for (;;) {
    const at = printed.findIndex(isIt)
    if (at >= 0) return printed.splice(at, 1)[0]!
    await once(child.stdout, "data")
  }
}

const plant = async (name: string) => {
  child.stdin.write(`${name}\n`)
  await next((text) => text === "set")
}

let url = ""
beforeAll(async () => {
  url = await next((text) => text.startsWith("http"))
})
afterAll(() => child.kill("SIGKILL"))

/** Each request is another one: an equal one would get the response of the one before. */
let sent = 0

const send = ({ body, path }: Request) =>
  fetch(new URL(path, `${url}/`), {
    method: body === undefined ? "GET" : "POST",
    body: body === undefined ? null : JSON.stringify({ ...body, temperature: 1 / ++sent })
  })

/** The frames of one request until the last one, or until the connection is closed. */
const overSocket = async (): Promise<string> => {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/responses`)
  const frames: Array<string> = []
  await new Promise<void>((resolve) => {
    socket.addEventListener("open", () =>
      socket.send(JSON.stringify({ type: "response.create", ...response.body, temperature: 1 / ++sent }))
    )
    socket.addEventListener("message", ({ data }) => {
      frames.push(String(data))
      if (/"type":"(error|response\.(completed|failed|incomplete))"/.test(String(data))) resolve()
    })
    socket.addEventListener("close", () => resolve())
    socket.addEventListener("error", () => resolve())
  })
  socket.close()
  return frames.join("\n")
}

const defects = async (): Promise<number> => {
  const text = await (await fetch(new URL("/metrics", url))).text()
  return [...text.matchAll(/^divisi_defects_total\{[^}]*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
}

const cases = Object.entries(faults).flatMap(([module, names]) =>
  Object.entries(names).flatMap(([name, requests]) =>
    requests.map((request) => {
      const isStreamed = typeof request === "object" && "stream" in (request.body ?? {})
      const where = request === "socket" ? "a socket" : `${request.path}${isStreamed ? ", streamed" : ""}`
      return [`${module}.${name}`, where, request, isStreamed] as const
    })
  )
)

describe("a defect", () => {
  it.each(cases)("in %s is logged once, at %s", async (name, _, request, isStreamed) => {
    printed.length = 0
    const before = await defects()
    await plant(name)
    try {
      if (request === "socket") {
        const frames = await overSocket()
        assert.notInclude(frames, "response.completed")
      } else {
        // A stream that has begun has its status; it ends with an error or is cut, and never as a whole one does.
        const answer = await send(request).catch(() => undefined)
        const text = (await answer?.text().catch(() => undefined)) ?? "cut"
        if (answer?.status === 500) assert.notInclude(text, "planted")
        else {
          assert.isTrue(isStreamed, `${answer?.status} ${text}`)
          assert.notMatch(text, /\[DONE\]|message_stop|response\.completed/)
        }
      }
    } finally {
      await plant("")
    }
    const line = await next((text) => text.includes("planted"))
    expect(line).toMatch(/^Defect in [a-z]+ \(.+\): Error: planted[\s\S]*\n\s+at /)
    assert.strictEqual((await defects()) - before, 1, "counted once")
    assert.deepStrictEqual(
      printed.filter((text) => text.includes("planted")),
      []
    )
    // The server answers the next request.
    const after = await send(chat)
    assert.strictEqual(after.status, 200)
    await after.text()
  })
})
