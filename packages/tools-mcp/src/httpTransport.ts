/**
 * Connects to a server over streamable HTTP. Every request gets an answer, or an error as soon as no answer can arrive:
 * its stream has ended, the body contains no answer, or the answer is invalid.
 */
import { type JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { type HttpServer, revealed } from "./McpServer.ts"
import { errorFor, maxBytes, messagesIn, tooLarge } from "./messages.ts"

type Id = string | number

type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1]

/** Returns the id of the request in a body; `undefined` for a notification. */
const requestIn = (body: unknown): Id | undefined => {
  if (typeof body !== "string") return undefined
  const { id, method } = JSON.parse(body) as { readonly id?: Id; readonly method?: string }
  return method === undefined ? undefined : id
}

/**
 * Returns a stream that fails once it exceeds the size limit. The limit does not apply to the stream for
 * server-initiated messages, which can stay open for days.
 */
const bounded = (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
  let left = maxBytes
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        left -= chunk.byteLength
        if (left < 0) controller.error(tooLarge())
        else controller.enqueue(chunk)
      }
    })
  )
}

const json = (messages: ReadonlyArray<JSONRPCMessage>): Response =>
  Response.json(messages.length === 1 ? messages[0] : messages)

const ignore = () => {}

/** Parses the answer in a JSON body. */
const whole = (text: string, id: Id): Response => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return json([errorFor(id, `it sent a response that is not JSON: ${text.slice(0, 100)}`)])
  }
  const messages = messagesIn(value, ignore)
  const isAnswered = messages.some(
    (message) => "id" in message && !("method" in message) && `${message.id}` === `${id}`
  )
  if (isAnswered) return json(messages)
  let why = "it sent no response to this request"
  // An error without an id can only belong to this request.
  messagesIn(value, ({ message }) => {
    why = message
  })
  return json([...messages, errorFor(id, why)])
}

/** Returns the data of an event. An invalid message is converted to one that the SDK can read. */
const event = (text: string): string => {
  const lines = text.split(/\r\n|\n|\r/)
  const data = lines.flatMap((line) => (/^data(?::|$)/.test(line) ? [line.replace(/^data:? ?/, "")] : [])).join("\n")
  if (data === "") return text
  let messages: ReadonlyArray<JSONRPCMessage>
  try {
    messages = messagesIn(JSON.parse(data), ignore)
  } catch {
    return text
  }
  const rest = lines.filter((line) => !/^data(?::|$)/.test(line))
  return messages.map((message) => [...rest, `data: ${JSON.stringify(message)}`].join("\n")).join("\n\n")
}

/** Parses the events of a stream individually. */
const events = (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
  let rest = ""
  const end = /\r\n\r\n|\n\n|\r\r/
  return body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(
      new TransformStream<string, string>({
        transform: (chunk, controller) => {
          // Searches only the new text, plus any preceding characters that may be part of a separator.
          const from = Math.max(0, rest.length - 3)
          rest += chunk
          if (!end.test(rest.slice(from))) return
          const parts = rest.split(end)
          rest = parts.pop()!
          for (const part of parts) controller.enqueue(`${event(part)}\n\n`)
        },
        flush: (controller) => {
          if (rest !== "") controller.enqueue(rest)
        }
      })
    )
    .pipeThrough(new TextEncoderStream())
}

/** A `fetch` implementation for the SDK. */
const reading: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const id = init?.method === "POST" ? requestIn(init.body) : undefined
  const { body, status } = response
  if (init?.method !== "POST") return response
  if (id !== undefined && response.ok && (body === null || status === 202 || status === 204)) {
    await body?.cancel()
    return json([errorFor(id, `it sent no response to this request (HTTP ${status})`)])
  }
  if (body === null) return response
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  const limited = bounded(body)
  if (id === undefined || !response.ok) return new Response(limited, response)
  if (type === "text/event-stream") return new Response(events(limited), response)
  if (type !== "application/json") return new Response(limited, response)
  const answer = whole(await new Response(limited).text(), id)
  return new Response(answer.body, {
    status,
    headers: [...response.headers].filter(([name]) => !/^content-(?:length|encoding)$/i.test(name))
  })
}

/** Transport for a server at a URL. */
export class HttpTransport extends StreamableHTTPClientTransport {
  constructor({ headers, url }: HttpServer) {
    super(new URL(url), { requestInit: { headers: revealed(headers) }, fetch: reading })
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!("method" in message) || !("id" in message)) return super.send(message, options)
    const { id } = message
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.()
      // If the answer has already arrived, the SDK ignores the id.
      this.onmessage?.(errorFor(id, "it ended the stream without a response"))
    }
    return super.send(message, { ...options, onRequestStreamEnd })
  }
}
