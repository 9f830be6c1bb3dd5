/**
 * A vendor that implements Chat Completions over real HTTP and records all calls. It fails at times, and can be made
 * slow or unavailable.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { Seed } from "@divisi/core"

/** One call as recorded by the vendor. */
export interface Call {
  /** The number of the question, and the step that made the call. */
  readonly question: number
  readonly step: string
  /** The server process that called. */
  readonly instance: string
  /** `open` until it ends; `cut` if the caller closed the connection before it had the whole answer. */
  state: "open" | "answered" | "refused" | "cut"
  readonly text: string
}

/** The current behaviour of the vendor. */
export interface Mood {
  isDown: boolean
  extraMillis: number
}

export interface Vendor {
  readonly url: string
  readonly book: ReadonlyArray<Call>
  readonly mood: Mood
  readonly close: () => void
}

/** The longest time of an answer in milliseconds, without what slowness adds. */
const maxMillis = 60

const stepOf = (text: string): string => /part (?:one|two)/.exec(text)?.[0] ?? "answer"

/** The question is in the first message, the subtask in the last one. */
const askedIn = (messages: ReadonlyArray<{ readonly content?: unknown }>) => {
  const texts = messages.map(({ content }) => JSON.stringify(content ?? ""))
  const question = Number(/Question (\d+)\./.exec(texts.join("\n"))?.[1] ?? -1)
  const hasParts = texts.some((text) => text.includes("written for part"))
  return { question, step: hasParts ? "answer" : stepOf(texts.join("\n")) }
}

const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }

const head = (id: number, model: string) => ({ id: `call-${id}`, created: 0, model })

const whole = (id: number, model: string, content: string) => ({
  ...head(id, model),
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  usage
})

const chunks = (id: number, model: string, content: string): ReadonlyArray<string> => {
  const chunk = (delta: object, finish: string | null) => ({
    ...head(id, model),
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }]
  })
  const half = Math.ceil(content.length / 2)
  const all = [
    chunk({ role: "assistant", content: content.slice(0, half) }, null),
    chunk({ content: content.slice(half) }, null),
    chunk({}, "stop"),
    { ...head(id, model), object: "chat.completion.chunk", choices: [], usage }
  ]
  return [...all.map((one) => `data: ${JSON.stringify(one)}\n\n`), "data: [DONE]\n\n"]
}

/** Starts the vendor on a free port. */
export const start = async (seed: number): Promise<Vendor> => {
  const draw = Seed.draw(Seed.derive(seed, "vendor"))
  const book: Array<Call> = []
  const mood: Mood = { isDown: false, extraMillis: 0 }

  const refuse = (response: ServerResponse, status: number) => {
    response.writeHead(status, { "content-type": "application/json", "retry-after-ms": "50" })
    response.end(JSON.stringify({ error: { message: "Try again.", type: "server_error", code: null } }))
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const instance = String(request.headers.authorization ?? "").replace("Bearer ", "")
    const body = (await json(request)) as {
      readonly model: string
      readonly stream?: boolean
      readonly messages: ReadonlyArray<{ readonly content?: unknown }>
    }
    const { question, step } = askedIn(body.messages)
    const call: Call = { question, step, instance, state: "open", text: `written for ${step} by call ${book.length}` }
    const id = book.push(call)
    response.on("close", () => {
      if (call.state === "open") call.state = response.writableFinished ? "answered" : "cut"
    })
    const [fails, resets, millis] = [Seed.chance(draw, 0.03), Seed.chance(draw, 0.01), Seed.below(draw, maxMillis)]
    if (mood.isDown || fails) {
      call.state = "refused"
      return mood.isDown && resets ? void response.destroy() : refuse(response, mood.isDown ? 503 : 429)
    }
    await sleep(millis + mood.extraMillis)
    if (resets) {
      call.state = "refused"
      return void response.destroy()
    }
    if (body.stream !== true) {
      response.writeHead(200, { "content-type": "application/json" })
      return void response.end(JSON.stringify(whole(id, body.model, call.text)))
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const chunk of chunks(id, body.model, call.text)) response.write(chunk)
    response.end()
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  // A process that is killed cuts its connections.
  server.on("clientError", (_, socket) => socket.destroy())
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/v1`, book, mood, close }
}
