/** Clients that send requests through all servers and wires, and retry unanswered requests as SDKs do. */
import { setTimeout as sleep } from "node:timers/promises"
import { Seed } from "@divisi/core"

/** A question, and how the client sends it. */
export interface Question {
  readonly number: number
  readonly wire: "chat" | "responses" | "messages"
  readonly mode: "whole" | "streamed" | "background"
  /** The `Idempotency-Key`. If absent, a repeated request is marked only by its retry count. */
  readonly key: string | undefined
  /** How often the client repeats the request after its answer. */
  readonly repeats: number
}

/** What a client received for a question. */
export interface Answered {
  readonly question: Question
  /** The answer, and the answers to the repeated requests. */
  readonly texts: ReadonlyArray<string>
  /** The number of requests until the first answer. */
  readonly requests: number
}

export interface Options {
  readonly urls: ReadonlyArray<string>
  readonly secrets: ReadonlyArray<string>
  readonly seed: number
  /**
   * The number of processes that were killed, or lost their runs while frozen. A response may fail only in these cases.
   */
  readonly losses: () => number
}

/**
 * How long a client waits for one request, in milliseconds. A frozen server may still read a request after its client
 * has disconnected, so only a client with a key may give up and ask another server without paying for two runs.
 */
const requestMillis = { keyed: 8_000, others: 60_000 }

/** How long a client repeats a question, in milliseconds. */
const questionMillis = 180_000

export const make = (number: number, seed: number): Question => {
  const draw = Seed.draw(Seed.derive(seed, "question", number))
  const wire = Seed.pick(draw, ["chat", "responses", "messages"] as const)
  const modes = wire === "responses" ? (["whole", "streamed", "background"] as const) : (["whole", "streamed"] as const)
  const mode = Seed.pick(draw, modes)
  const isKeyed = Seed.chance(draw, 0.5)
  return {
    number,
    wire,
    mode,
    key: isKeyed ? `key-${seed}-${number}` : undefined,
    repeats: isKeyed ? Seed.below(draw, 3) : 0
  }
}

const paths = { chat: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages" }

const bodyOf = ({ mode, number, wire }: Question): object => {
  const content = `Question ${number}. What is it?`
  const stream = mode === "streamed"
  if (wire === "responses") return { model: "divisi", input: content, stream, background: mode === "background" }
  return { model: "divisi", max_tokens: 200, stream, messages: [{ role: "user", content }] }
}

/** A request that is to be repeated. */
class Unanswered extends Error {}

/** A background response whose server was killed. */
class Stopped extends Unanswered {}

/** A request that must not have been refused so. */
export class Wrong extends Error {}

type Json = Readonly<Record<string, unknown>>

const outputOf = ({ output }: Json): string =>
  (output as ReadonlyArray<{ readonly type: string; readonly content?: ReadonlyArray<{ readonly text: string }> }>)
    .filter(({ type }) => type === "message")
    .flatMap(({ content = [] }) => content.map(({ text }) => text))
    .join("")

const wholeOf = (wire: Question["wire"], body: Json): string => {
  if (wire === "responses") return outputOf(body)
  if (wire === "messages") {
    const content = body.content as ReadonlyArray<{ readonly type: string; readonly text?: string }>
    return content.map(({ text = "", type }) => (type === "text" ? text : "")).join("")
  }
  return (body.choices as ReadonlyArray<{ readonly message: { readonly content: string } }>)[0]!.message.content
}

/** The text of a stream. One that has no end is no answer. */
const streamedOf = (wire: Question["wire"], text: string): string => {
  const data = text.split("\n").filter((line) => line.startsWith("data: "))
  const events = data.filter((line) => line !== "data: [DONE]").map((line) => JSON.parse(line.slice(6)) as Json)
  const failure = events.find(
    ({ error, type }) => (error !== undefined && error !== null) || type === "response.failed"
  )
  if (failure !== undefined) throw new Unanswered(JSON.stringify(failure).slice(0, 300))
  if (wire === "responses") {
    const end = events.find(({ type }) => type === "response.completed")
    if (end === undefined) throw new Unanswered("a stream without its end")
    return outputOf(end.response as Json)
  }
  if (wire === "messages") {
    if (!events.some(({ type }) => type === "message_stop")) throw new Unanswered("a stream without its end")
    const deltas = events.map(({ delta }) => delta as { readonly type?: string; readonly text?: string } | undefined)
    return deltas.map((delta) => (delta?.type === "text_delta" ? delta.text : "")).join("")
  }
  if (!data.includes("data: [DONE]")) throw new Unanswered("a stream without its end")
  const choices = events.flatMap(({ choices }) => choices as ReadonlyArray<{ readonly delta: { content?: string } }>)
  return choices.map(({ delta }) => delta.content ?? "").join("")
}

/** Statuses after which an SDK repeats its request. */
const isRepeatable = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

export class Client {
  readonly #options: Options
  constructor(options: Options) {
    this.#options = options
  }

  async #send(url: string, init: RequestInit, millis: number): Promise<string> {
    let response: Response
    let text: string
    try {
      response = await fetch(url, { ...init, signal: AbortSignal.timeout(millis) })
      text = await response.text()
    } catch (error) {
      throw new Unanswered(String((error as Error).cause ?? error))
    }
    if (response.ok) return text
    const message = `${init.method} ${url}: ${response.status} ${text.slice(0, 300)}`
    throw isRepeatable(response.status) ? new Unanswered(message) : new Wrong(message)
  }

  /** Waits for a response in the background, through any server. */
  async #poll(id: string, headers: Record<string, string>, draw: Seed.Draw, until: number, before: number) {
    const { losses } = this.#options
    while (performance.now() < until) {
      await sleep(50 + Seed.below(draw, 200))
      try {
        const url = `${Seed.pick(draw, this.#options.urls)}/v1/responses/${id}`
        const body = JSON.parse(await this.#send(url, { method: "GET", headers }, requestMillis.keyed)) as Json
        if (body.status === "completed") return outputOf(body)
        if (body.status !== "queued" && body.status !== "in_progress") {
          const message = `background response ${id} is ${body.status}: ${JSON.stringify(body.error)}`
          throw losses() > before ? new Stopped(message) : new Wrong(message)
        }
      } catch (error) {
        if (!(error instanceof Unanswered) || error instanceof Stopped) throw error
      }
    }
    throw new Unanswered(`background response ${id} did not end`)
  }

  async #ask(question: Question, draw: Seed.Draw, until: number): Promise<{ text: string; requests: number }> {
    const { secrets, urls } = this.#options
    let last = ""
    for (let retry = 0; performance.now() < until; retry++) {
      const headers: Record<string, string> = {
        "content-type": "application/json",
        "x-api-key": secrets[question.number % secrets.length]!
      }
      if (question.key !== undefined) headers["idempotency-key"] = question.key
      if (retry > 0) headers["x-stainless-retry-count"] = `${retry}`
      const before = this.#options.losses()
      try {
        const url = `${Seed.pick(draw, urls)}${paths[question.wire]}`
        const millis = question.key === undefined ? requestMillis.others : requestMillis.keyed
        const init = { method: "POST", headers, body: JSON.stringify(bodyOf(question)) }
        const text = await this.#send(url, init, millis)
        const requests = retry + 1
        if (question.mode === "streamed") return { text: streamedOf(question.wire, text), requests }
        const body = JSON.parse(text) as Json
        if (question.mode !== "background") return { text: wholeOf(question.wire, body), requests }
        return { text: await this.#poll(String(body.id), headers, draw, until, before), requests }
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error
        last = error.message
        await sleep(Math.min(50 * 2 ** retry, 1_000) * (0.5 + draw()))
      }
    }
    throw new Wrong(`question ${question.number} was not answered: ${last}`)
  }

  /** Sends a question until it is answered, then repeats the request as often as the question requires. */
  async ask(question: Question): Promise<Answered> {
    const draw = Seed.draw(Seed.derive(this.#options.seed, "client", question.number))
    const texts: Array<string> = []
    let requests = 0
    for (let turn = 0; turn <= question.repeats; turn++) {
      const answer = await this.#ask(question, draw, performance.now() + questionMillis)
      texts.push(answer.text)
      if (turn === 0) requests = answer.requests
    }
    return { question, texts, requests }
  }
}
