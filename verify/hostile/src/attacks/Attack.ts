/** Requests with which one client tries to make a server unavailable to others. */
import * as Http from "node:http"
import { connect } from "node:net"
import * as zlib from "node:zlib"

/** The server, and the key of the client that attacks it. */
export interface Target {
  readonly port: number
  readonly key: string
}

/** The endpoints that an attack is sent to. */
export const wires = ["chat", "responses", "messages"] as const

/** One of the endpoints. */
export type Wire = (typeof wires)[number]

/** One kind of request. */
export interface Attack {
  readonly name: string
  /** The wires that it uses. Default: all wires. */
  readonly wires?: ReadonlyArray<Wire>
  /**
   * The correct results (429 if the attacker has too many bytes in flight): a status, the close code of a WebSocket, or
   * `open` for requests that stay unfinished.
   */
  readonly expected: ReadonlyArray<string>
  /** The number of requests in flight. Default: 4. */
  readonly lanes?: number
  /** Prepares the bytes once, and returns a function that sends them and returns the results. */
  readonly prepare: (target: Target, wire: Wire) => () => Promise<ReadonlyArray<string>>
}

type Json = Readonly<Record<string, unknown>>

const host = "127.0.0.1"
const mebi = 2 ** 20
const question = [{ role: "user", content: "Greet" }]
const paths = { chat: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages" }

const plain: Readonly<Record<Wire, Json>> = {
  chat: { model: "divisi", messages: question },
  responses: { model: "divisi", input: "Greet" },
  messages: { model: "divisi", max_tokens: 9, messages: question }
}

const repeated = (count: number, item: string): string => Array.from({ length: count }).fill(item).join()

/** A valid body with one more field, whose value is given as JSON. */
const withField = (wire: Wire, name: string, json: string): string =>
  `${JSON.stringify(plain[wire]).slice(0, -1)},"${name}":${json}}`

const withFields = (wire: Wire, fields: Json): string => JSON.stringify({ ...plain[wire], ...fields })

const agent = new Http.Agent({ keepAlive: true })

/** Sends a request, reads its response and returns the status, or `cut` if the connection ended before it. */
export const post = (
  { key, port }: Target,
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {}
): Promise<string> =>
  new Promise((resolve) => {
    const options = { host, port, path, method: "POST", agent, headers: { authorization: `Bearer ${key}`, ...headers } }
    const request = Http.request(options, (response) => {
      response.on("end", () => resolve(String(response.statusCode))).on("error", () => resolve("cut"))
      response.resume()
    })
    request.on("error", () => resolve("cut")).end(body)
  })

/** An attack by one body for each wire. */
const bodies =
  (bodyOf: (wire: Wire) => string | Buffer, headers: Readonly<Record<string, string>> = {}): Attack["prepare"] =>
  (target, wire) => {
    const body = Buffer.from(bodyOf(wire))
    return async () => [await post(target, paths[wire], body, headers)]
  }

const doubling = (levels: number): Json => {
  const reference = (at: number) => ({ $ref: `#/$defs/d${at}` })
  const defs = Array.from({ length: levels }, (_, at) => [`d${at}`, { anyOf: [reference(at + 1), reference(at + 1)] }])
  return { ...reference(0), $defs: { ...Object.fromEntries(defs), [`d${levels}`]: { type: "number" } } }
}

const shaped = (schema: Json): Readonly<Record<Wire, Json>> => ({
  chat: { response_format: { type: "json_schema", json_schema: { name: "s", schema } } },
  responses: { text: { format: { type: "json_schema", name: "s", schema } } },
  messages: { output_config: { format: { type: "json_schema", schema } } }
})

const tooled = (schema: Json): Readonly<Record<Wire, Json>> => ({
  chat: { tools: [{ type: "function", function: { name: "f", parameters: schema } }] },
  responses: { tools: [{ type: "function", name: "f", parameters: schema }] },
  messages: { tools: [{ name: "f", input_schema: schema }] }
})

/** For each wire: the field of the conversation, a tool call in it, and a result of that call. */
const results: Readonly<Record<Wire, readonly [field: string, call: string, item: string]>> = {
  chat: [
    "messages",
    '{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}',
    '{"role":"tool","tool_call_id":"x","content":"b"}'
  ],
  responses: [
    "input",
    '{"role":"user","content":"a"},{"type":"function_call","call_id":"x","name":"f","arguments":"{}"}',
    '{"type":"function_call_output","call_id":"x","output":"b"}'
  ],
  messages: [
    "messages",
    '{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"f","input":{}}]}',
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"b"}]}'
  ]
}

const withResults = (wire: Wire, count: number): string => {
  const [field, call, item] = results[wire]
  return `{"model":"divisi","max_tokens":9,"${field}":[${call},${repeated(count, item)}]}`
}

/** A conversation with calls of a tool, all in one message, and a question. */
const withCalls = (wire: Wire, count: number): string => {
  const [field] = results[wire]
  const all = <A>(one: (id: string) => A) => Array.from({ length: count }, (_, at) => one(`c${at}`))
  const items = {
    chat: () => [
      { role: "assistant", tool_calls: all((id) => ({ id, type: "function", function: { name: "f", arguments: "" } })) }
    ],
    responses: () => all((call_id) => ({ type: "function_call", call_id, name: "f", arguments: "" })),
    messages: () => [{ role: "assistant", content: all((id) => ({ type: "tool_use", id, name: "f", input: 1 })) }]
  }
  return withFields(wire, { [field]: [...question, ...items[wire](), ...question] })
}

/** A body with a message that has one more field, whose value is given as JSON. */
const withOther = (wire: Wire, json: string): string =>
  withParts(wire, textParts(wire, ["Greet"])).replace('"role":"user"', `"role":"user","other":${json}`)

/** Objects with `count` keys in all, none twice. */
const objects = (count: number): string => {
  const key = (at: number) => `"k${at}":1`
  const lists = Array.from({ length: Math.ceil(count / 9_980) }, (_, index) =>
    Array.from({ length: Math.min(9_980, count - index * 9_980) }, (_, at) => key(index * 10_000 + at)).join()
  )
  return `[${lists.map((keys) => `{${keys}}`).join()}]`
}

/** A message with parts, in each wire's form. */
const withParts = (wire: Wire, parts: ReadonlyArray<Json>, fields: Json = {}): string => {
  const messages = [{ role: "user", content: parts }]
  return withFields(wire, { ...fields, ...(wire === "responses" ? { input: messages } : { messages }) })
}

const long = "a b ".repeat((3.5 * mebi) / 4)

const textParts = (wire: Wire, texts: ReadonlyArray<string>): ReadonlyArray<Json> =>
  texts.map((text) => ({ type: wire === "responses" ? "input_text" : "text", text }))

const withTexts = (wire: Wire, count: number, characters: number): string =>
  withParts(
    wire,
    textParts(
      wire,
      Array.from({ length: count }, () => "a".repeat(characters))
    )
  )

const imagePart = (wire: Wire, data: string): Json => {
  const url = `data:image/png;base64,${data}`
  if (wire === "chat") return { type: "image_url", image_url: { url } }
  if (wire === "responses") return { type: "input_image", image_url: url }
  return { type: "image", source: { type: "base64", media_type: "image/png", data } }
}

/** A body of spaces, which a parser of JSON would pass over, far beyond the limit once it is decoded. */
const bomb = (encode: (bytes: Buffer) => Buffer): (() => Buffer) => {
  return () => encode(Buffer.alloc(48 * mebi, " "))
}

/** Opens connections that send parts of a body and never its end, and drops them when all are sent or refused. */
const unfinished =
  (count: number, parts: ReadonlyArray<string>): Attack["prepare"] =>
  ({ key, port }, wire) => {
    const head = `POST ${paths[wire]} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-length: 30000000\r\n\r\n`
    // A request that is sent after all parts is answered after the server has read most of them.
    const last = () => post({ key, port }, paths[wire], JSON.stringify(plain[wire]))
    const one = () =>
      new Promise<string>((end) => {
        const socket = connect(port, host)
        const write = (at: number) => {
          if (at === parts.length) void last().then(() => end("open"))
          else if (!socket.destroyed) socket.write(parts[at]!, () => setTimeout(write, 1, at + 1))
        }
        socket.on("error", () => end("cut")).on("close", () => end("cut"))
        socket.on("data", (data) => end(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1] ?? "cut"))
        socket.on("connect", () => socket.write(head, () => write(0)))
        sockets.add(socket)
      })
    const sockets = new Set<ReturnType<typeof connect>>()
    return async () => {
      const ends = await Promise.all(Array.from({ length: count }, one))
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      return ends
    }
  }

interface Last {
  readonly type: string
  readonly status?: number
}

/** Node's WebSocket also accepts headers, which the types of browsers do not have. */
const NodeWebSocket = WebSocket as unknown as new (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>> }
) => WebSocket

/** Sends frames on one WebSocket without waiting, until each is answered or the connection is closed. */
const frames =
  (count: number, frameOf: () => string): Attack["prepare"] =>
  ({ key, port }) => {
    const frame = frameOf()
    return () =>
      new Promise((resolve) => {
        const ends: Array<string> = []
        const options = { headers: { authorization: `Bearer ${key}` } }
        const socket = new NodeWebSocket(`ws://${host}:${port}${paths.responses}`, options)
        socket.addEventListener("open", () => {
          for (let sent = 0; sent < count; sent++) socket.send(frame)
        })
        socket.addEventListener("message", ({ data }) => {
          const { status = 200, type }: Last = JSON.parse(String(data))
          if (!/^(error|response\.(completed|failed|incomplete))$/.test(type)) return
          ends.push(String(status))
          if (ends.length === count) socket.close()
        })
        socket.addEventListener("close", ({ code }) => resolve(ends.length === count ? ends : [...ends, String(code)]))
      })
  }

/** Sends requests on one connection in one piece, without waiting for answers. */
const pipelined =
  (count: number): Attack["prepare"] =>
  ({ key, port }, wire) => {
    const body = JSON.stringify(plain[wire])
    const head = `POST ${paths[wire]} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n\r\n`
    const all = `${head}${body}`.repeat(count)
    return () =>
      new Promise((resolve) => {
        const ends: Array<string> = []
        const socket = connect(port, host, () => socket.write(all))
        socket.on("data", (data) => {
          for (const [, status] of String(data).matchAll(/HTTP\/1\.1 (\d+)/g)) ends.push(status!)
          if (ends.length === count) socket.destroy()
        })
        socket.on("error", () => {}).on("close", () => resolve(ends.length === count ? ends : [...ends, "cut"]))
      })
  }

/**
 * Sends bytes on a new connection and returns the statuses of its responses, and `cut` if it ends before all of them.
 */
const raw =
  (count: number, bytesOf: (target: Target, wire: Wire) => string | Buffer): Attack["prepare"] =>
  (target, wire) => {
    const bytes = bytesOf(target, wire)
    return () =>
      new Promise((resolve) => {
        const ends: Array<string> = []
        const socket = connect(target.port, host, () => socket.write(bytes))
        socket.on("data", (data) => {
          for (const [, status, type] of String(data).matchAll(
            /HTTP\/1\.1 (\d+)|"type":"(response\.completed|error)"/g
          ))
            ends.push(status ?? type!)
          if (ends.length >= count) socket.destroy()
        })
        socket.on("error", () => {}).on("close", () => resolve(ends.length >= count ? ends : [...ends, "cut"]))
      })
  }

const requestHead = (key: string, line: string, headers: ReadonlyArray<string> = []): string =>
  [`${line} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${key}`, ...headers, "", ""].join("\r\n")

const upgrading = ["connection: Upgrade", "upgrade: websocket", "sec-websocket-version: 13"]

const upgrade = (key: string): string =>
  requestHead(key, `GET ${paths.responses}`, [...upgrading, "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="])

/** A message of a WebSocket in fragments of one byte each. */
const fragmented = (text: string): Buffer => {
  const bytes = [...Buffer.from(text)]
  return Buffer.from(
    bytes.flatMap((byte, at) => [(at === 0 ? 1 : 0) + (at === bytes.length - 1 ? 128 : 0), 129, 0, 0, 0, 0, byte])
  )
}

/** Starts requests, and disconnects at once or after the first byte of each answer. */
const leaving =
  (count: number, waits: boolean): Attack["prepare"] =>
  ({ key, port }, wire) => {
    const body = withFields(wire, { stream: true })
    const bytes = `${requestHead(key, `POST ${paths[wire]}`, [`content-length: ${body.length}`])}${body}`
    const one = () =>
      new Promise<string>((resolve) => {
        const socket = connect(port, host, () => {
          socket.write(bytes, () => !waits && socket.destroy())
        })
        socket.on("data", () => socket.destroy())
        socket.on("error", () => {}).on("close", () => resolve("left"))
      })
    return () => Promise.all(Array.from({ length: count }, one))
  }

/** Follows the events of a suspended run on many connections, and leaves when all have begun. */
const followed =
  (count: number): Attack["prepare"] =>
  ({ key, port }) => {
    const headers = { authorization: `Bearer ${key}` }
    const begin = (method: string, path: string, body = "") =>
      new Promise<Http.IncomingMessage>((resolve, reject) => {
        const request = Http.request({ host, port, path, method, headers }, resolve)
        request.on("error", reject).end(body)
      })
    const suspended = begin("POST", paths.chat, withFields("chat", tooled({ type: "object" }).chat)).then(
      (response) => {
        response.resume()
        return String(response.headers["x-divisi-run"])
      }
    )
    return async () => {
      const path = `/v1/runs/${await suspended}/events`
      const responses = await Promise.all(Array.from({ length: count }, () => begin("GET", path)))
      for (const response of responses) response.on("error", () => {}).destroy()
      return responses.map(({ statusCode }) => String(statusCode))
    }
  }

/** Opens WebSockets, and closes them when all are open. */
const opened =
  (count: number): Attack["prepare"] =>
  ({ key, port }) =>
  async () => {
    const options = { headers: { authorization: `Bearer ${key}` } }
    const sockets = Array.from(
      { length: count },
      () => new NodeWebSocket(`ws://${host}:${port}${paths.responses}`, options)
    )
    const ends = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.addEventListener("open", () => resolve("open"))
          socket.addEventListener("close", ({ code }) => resolve(String(code)))
        })
    )
    const results = await Promise.all(ends)
    for (const socket of sockets) socket.close()
    return results
  }

const small = '{"type":"response.create","model":"divisi","input":"Greet"}'

/** All attacks. */
export const all: ReadonlyArray<Attack> = [
  {
    name: "a shape that doubles 40 times",
    expected: ["400"],
    prepare: bodies((wire) => withFields(wire, shaped(doubling(40))[wire]))
  },
  {
    name: "a tool whose parameters double 40 times",
    expected: ["200"],
    prepare: bodies((wire) => withFields(wire, tooled(doubling(40))[wire]))
  },
  {
    name: "a field with 2.5 million keys",
    expected: ["400"],
    prepare: bodies((wire) =>
      withField(wire, "other", `{${Array.from({ length: 2_500_000 }, (_, at) => `"k${at}":1`).join()}}`)
    )
  },
  {
    name: "20 bodies of 28 MB at once",
    expected: ["413", "429", "503"],
    lanes: 20,
    prepare: bodies((wire) => withField(wire, "other", `[${repeated(7, JSON.stringify("a b ".repeat(1_000_000)))}]`))
  },
  {
    name: "60 unfinished bodies",
    expected: ["open", "429", "503"],
    lanes: 1,
    prepare: unfinished(60, ['{"other":"', ...Array.from({ length: 4 }, () => "A".repeat(mebi))])
  },
  {
    name: "200 slow bodies",
    expected: ["open"],
    lanes: 1,
    prepare: unfinished(
      200,
      Array.from({ length: 50 }, () => " ")
    )
  },
  {
    name: "WebSocket frames of 7 MiB",
    wires: ["responses"],
    // 1013 is the code for too many bytes in flight before a frame is whole.
    expected: ["413", "429", "503", "1013"],
    lanes: 1,
    prepare: frames(16, () => JSON.stringify({ type: "response.create", input: "a b ".repeat((7 * mebi) / 4) }))
  },
  {
    name: "WebSocket frames of 7 MiB that are answered",
    wires: ["responses"],
    expected: ["200", "429", "503", "1013"],
    lanes: 8,
    prepare: frames(2, () => withParts("responses", textParts("responses", [long, long]), { type: "response.create" }))
  },
  {
    name: "WebSocket frames of 31 MiB",
    wires: ["responses"],
    expected: ["1009"],
    lanes: 1,
    prepare: frames(1, () => JSON.stringify({ type: "response.create", input: "a b ".repeat((31 * mebi) / 4) }))
  },
  { name: "200 small WebSocket frames", wires: ["responses"], expected: ["200"], prepare: frames(200, () => small) },
  { name: "1,000 wrong WebSocket frames", wires: ["responses"], expected: ["400"], prepare: frames(1_000, () => "{") },
  { name: "200 WebSockets opened", wires: ["responses"], expected: ["open"], lanes: 1, prepare: opened(200) },
  { name: "20 pipelined requests", expected: ["200"], prepare: pipelined(20) },
  // A connection may have 20 unanswered requests.
  { name: "2,000 pipelined requests", expected: ["200", "cut"], prepare: pipelined(2_000) },
  {
    // As many as fit into what Node reads at once.
    name: "2,500 pipelined requests without a key",
    wires: ["chat"],
    expected: ["404", "cut"],
    prepare: raw(2_500, () => "GET / HTTP/1.1\r\nHost:a\r\n\r\n".repeat(2_500))
  },
  {
    name: "100 event streams of a suspended run",
    wires: ["chat"],
    // 429 until the server has noticed that the streams of the previous round are closed.
    expected: ["200", "429"],
    lanes: 1,
    prepare: followed(100)
  },
  {
    name: "90 pipelined upgrades",
    wires: ["responses"],
    // The bytes after the first upgrade are not frames.
    expected: ["101", "cut"],
    prepare: raw(90, ({ key }) => upgrade(key).repeat(90))
  },
  {
    name: "requests that ask for h2c",
    expected: ["200"],
    prepare: raw(1, ({ key }, wire) => {
      const body = JSON.stringify(plain[wire])
      const headers = ["connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__"]
      return `${requestHead(key, `POST ${paths[wire]}`, [...headers, `content-length: ${body.length}`])}${body}`
    })
  },
  {
    name: "beginnings of HTTP/2",
    wires: ["chat"],
    expected: ["400", "505", "cut"],
    prepare: raw(1, () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${"\0".repeat(9)}`)
  },
  {
    name: "headers of 100 KB",
    expected: ["431"],
    prepare: raw(1, ({ key }, wire) => requestHead(key, `POST ${paths[wire]}`, [`x-a: ${"a".repeat(100_000)}`]))
  },
  {
    name: "5,000 headers",
    expected: ["400", "431"],
    prepare: raw(1, ({ key }, wire) => {
      const headers = Array.from({ length: 5_000 }, (_, at) => `h${at}: 1`)
      return requestHead(key, `POST ${paths[wire]}`, headers)
    })
  },
  {
    name: "WebSocket messages in fragments of one byte",
    wires: ["responses"],
    expected: ["101", "response.completed"],
    prepare: raw(51, ({ key }) =>
      Buffer.concat([Buffer.from(upgrade(key)), ...Array.from({ length: 50 }, () => fragmented(small))])
    )
  },
  { name: "50 clients that leave at once", expected: ["left"], lanes: 1, prepare: leaving(50, false) },
  { name: "50 clients that leave streams", expected: ["left"], lanes: 1, prepare: leaving(50, true) },
  {
    name: "metadata 5,000 levels deep",
    expected: ["400"],
    prepare: bodies((wire) => withField(wire, "metadata", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`))
  },
  {
    name: "200,000 results of tools",
    expected: ["400"],
    prepare: bodies((wire) => withResults(wire, 200_000))
  },
  {
    name: "as many results of tools as a body may have",
    expected: ["200"],
    prepare: bodies((wire) => withResults(wire, wire === "messages" ? 14_000 : 28_000))
  },
  {
    name: "as many keys as a body may have",
    expected: ["200"],
    prepare: bodies((wire) => withOther(wire, objects(99_800)))
  },
  {
    name: "as many numbers as a body may have",
    expected: ["200"],
    prepare: bodies((wire) => withOther(wire, `[${repeated(199_000, "1.5e300")}]`))
  },
  {
    name: "as many keys as the metadata may have",
    expected: ["200"],
    prepare: bodies((wire) => withField(wire, "metadata", objects(24_900)))
  },
  {
    name: "as many calls of tools as a message may have",
    expected: ["200"],
    prepare: bodies((wire) => withCalls(wire, wire === "responses" ? 15_000 : 2_000))
  },
  {
    name: "as many tools in texts as a body may have",
    wires: ["chat"],
    expected: ["400"],
    prepare: bodies((wire) => {
      const tool = JSON.stringify({ name: "f", parameters: { type: "object", other: Array(48_000).fill(0) } })
      return withFields(wire, { tools: Array(80).fill(tool) })
    })
  },
  {
    name: "as long texts as a body may have",
    expected: ["200"],
    prepare: bodies((wire) =>
      withParts(
        wire,
        textParts(
          wire,
          Array.from({ length: 2 }, () => "a 日 ".repeat(650_000))
        )
      )
    )
  },
  {
    name: "as many texts as a message may have",
    expected: ["200"],
    prepare: bodies((wire) => withTexts(wire, 2_000, 3_750))
  },
  {
    name: "more texts than a message may have",
    expected: ["400"],
    prepare: bodies((wire) => withTexts(wire, 39_000, 150))
  },
  {
    name: "as many escapes as a body may have",
    expected: ["200"],
    prepare: bodies((wire) =>
      withParts(wire, textParts(wire, ["@", "@"])).replaceAll('"@"', `"${"\\u65e5".repeat(690_000)}"`)
    )
  },
  {
    name: "a picture of 23 MB",
    expected: ["200", "429", "503"],
    prepare: bodies((wire) => withParts(wire, [imagePart(wire, "A".repeat(23_000_000))]))
  },
  {
    name: "a picture of 23 MB among other alphabets",
    expected: ["200", "429", "503"],
    prepare: bodies((wire) =>
      withParts(wire, [...textParts(wire, ["日本語"]), imagePart(wire, "A/".repeat(11_500_000))])
    )
  },
  {
    name: "a model's name of 30 MB",
    expected: ["413"],
    prepare: bodies((wire) => withFields(wire, { model: "m x ".repeat(7_500_000) }))
  },
  {
    name: "a gzip bomb",
    expected: ["413", "429"],
    prepare: bodies(bomb(zlib.gzipSync), { "content-encoding": "gzip" })
  },
  {
    name: "a gzip bomb in gzip",
    expected: ["413", "429"],
    prepare: bodies(
      bomb((bytes) => zlib.gzipSync(zlib.gzipSync(bytes))),
      { "content-encoding": "gzip, gzip" }
    )
  },
  {
    name: "a zstd bomb",
    expected: ["413", "429"],
    prepare: bodies(bomb(zlib.zstdCompressSync), { "content-encoding": "zstd" })
  }
]
