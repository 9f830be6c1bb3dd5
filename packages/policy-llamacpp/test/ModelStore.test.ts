import { createHash } from "node:crypto"
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterAll, beforeEach } from "vitest"
import { knownModels } from "../src/knownModels.ts"
import * as ModelStore from "../src/ModelStore.ts"
import { folder } from "./model.ts"

/** The server's behaviour for a request. */
interface Behaviour {
  /** Sends so many bytes, and cuts the connection. */
  readonly cutAfter?: number | undefined
  /** The number of bytes that it announces before it sends the file. */
  readonly claim?: number | undefined
  readonly ignoresRanges?: boolean | undefined
  readonly status?: number | undefined
  readonly hash?: string | undefined
  readonly etag?: string | undefined
  /** Stops sending after these bytes. */
  readonly hangAfter?: number | undefined
}

const content = Buffer.concat([Buffer.from("GGUF"), Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))])
const hash = createHash("sha256").update(content).digest("hex")

let script: Array<Behaviour> = []
let seen: Array<{
  readonly url: string
  readonly range?: string | undefined
  readonly authorization?: string | undefined
}> = []

/** The connection that is to be cut when so many bytes have come. */
let cut: { readonly at: number; readonly connection: { destroy: () => void } } | undefined

const onProgress = ({ received }: ModelStore.Progress) => {
  if (received === cut?.at) cut.connection.destroy()
}

/** A server that answers as Hugging Face does: it says what a file is, and redirects to where its bytes are. */
const server = http.createServer((request, response) => {
  const { authorization, range } = request.headers
  const url = request.url ?? ""
  seen.push({
    url,
    range,
    authorization
  })
  const behaviour = script[0] ?? {}
  if (url.includes("/resolve/")) {
    const { claim = content.length, etag = hash } = { ...behaviour, etag: behaviour.hash ?? hash }
    if (behaviour.status !== undefined) return void response.writeHead(behaviour.status).end()
    response.writeHead(302, { location: "/bytes/file.gguf", "x-linked-size": claim, "x-linked-etag": `"${etag}"` })
    return void response.end()
  }
  script.shift()
  const from = behaviour.ignoresRanges ? 0 : Number(/^bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0)
  const total = content.length
  if (behaviour.status !== undefined) return void response.writeHead(behaviour.status).end()
  response.writeHead(from > 0 ? 206 : 200, {
    "content-length": total - from,
    etag: behaviour.etag ?? '"one"',
    ...(from > 0 && { "content-range": `bytes ${from}-${total - 1}/${total}` })
  })
  const end = behaviour.cutAfter ?? behaviour.hangAfter
  if (end === undefined) return void response.end(content.subarray(from))
  response.write(content.subarray(from, from + end))
  if (behaviour.cutAfter === undefined) return
  // A client loses the data that it has not read when a connection breaks.
  if (end === 0) request.socket.end()
  else cut = { at: from + end, connection: request.socket }
})
await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => void server.close())

let count = 0
let options: ModelStore.Options = {}
beforeEach(() => {
  script = []
  seen = []
  cut = undefined
  options = {
    onProgress,
    folder: path.join(folder, `store ${count++}`)
  }
})

const source = "hf:owner/repository/file.gguf"
const withHub = (endpoint: string) =>
  Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ HF_ENDPOINT: endpoint, HF_TOKEN: "secret" })))
const resolve = (from = source) => withHub(origin)(ModelStore.resolve(from, options))
const message = <A, E extends Error>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => error.message)

describe("ModelStore", () => {
  it.live("downloads once, verifies the file, and makes no request for a file it has", () =>
    Effect.gen(function* () {
      const received: Array<number> = []
      options = {
        ...options,
        onProgress: (progress) => {
          assert.strictEqual(progress.total, content.length)
          received.push(progress.received)
        }
      }
      const file = yield* resolve()
      assert.isTrue(fs.readFileSync(file).equals(content))
      assert.strictEqual(received.at(-1), content.length)
      assert.strictEqual(file, path.join(options.folder!, "owner", "repository", "file.gguf"))
      assert.deepStrictEqual(fs.readdirSync(path.dirname(file)), ["file.gguf"])
      assert.strictEqual(seen[0]?.url, "/owner/repository/resolve/main/file.gguf")
      assert.strictEqual(seen[0]?.authorization, "Bearer secret")
      yield* resolve()
      assert.strictEqual(seen.length, 2)
    })
  )

  it.live("resumes after a cut connection, and after a process that stopped", () =>
    Effect.gen(function* () {
      script = [{ cutAfter: 100_000 }, { cutAfter: 50_000 }]
      const file = yield* resolve()
      assert.isTrue(fs.readFileSync(file).equals(content))
      assert.deepStrictEqual(
        seen.filter(({ url }) => url.startsWith("/bytes")).map(({ range }) => range),
        [undefined, "bytes=100000-", "bytes=150000-"]
      )
    })
  )

  it.live("keeps what has come when it is interrupted", () =>
    Effect.gen(function* () {
      script = [{ hangAfter: 70_000 }]
      let received = 0
      const fiber = yield* Effect.forkChild(
        withHub(origin)(
          ModelStore.resolve(source, { ...options, onProgress: (progress) => (received = progress.received) })
        )
      )
      while (received < 70_000) yield* Effect.promise(() => new Promise((resume) => setImmediate(resume)))
      yield* Fiber.interrupt(fiber)
      const [partial] = yield* ModelStore.list(options)
      assert.deepStrictEqual([partial?.isComplete, partial?.size], [false, 70_000])
      yield* resolve()
      assert.strictEqual(seen.at(-1)?.range, "bytes=70000-")
      const [whole] = yield* ModelStore.list(options)
      assert.deepStrictEqual([whole?.isComplete, whole?.size], [true, content.length])
    })
  )

  it.live("restarts if the server has no ranges, or another file", () =>
    Effect.gen(function* () {
      script = [{ cutAfter: 100_000 }, { ignoresRanges: true }]
      assert.isTrue(fs.readFileSync(yield* resolve()).equals(content))
      const url = `${origin}/other/file.gguf`
      script = [{ cutAfter: 100_000, etag: '"one"' }, { etag: '"two"' }, { etag: '"two"' }]
      assert.isTrue(fs.readFileSync(yield* resolve(url)).equals(content))
      assert.deepStrictEqual(
        seen.slice(-3).map(({ range }) => range),
        [undefined, "bytes=100000-", undefined]
      )
      assert.isUndefined(seen.at(-1)?.authorization)
    })
  )

  it.live("refuses a wrong length and a wrong checksum, and leaves nothing of them", () =>
    Effect.gen(function* () {
      script = [{ hash: "0".repeat(64) }]
      assert.match(yield* message(resolve()), /its SHA-256 is [0-9a-f]{64} instead of 0{64}/)
      script = [{ claim: 200_000 }]
      assert.match(yield* message(resolve()), /300004 bytes instead of 200000/)
      const stored = yield* ModelStore.list(options)
      assert.deepStrictEqual(
        stored.filter(({ isComplete }) => isComplete),
        []
      )
    })
  )

  it.live("gives up when connections bring nothing", () =>
    Effect.gen(function* () {
      script = [{ cutAfter: 1000 }, { cutAfter: 0 }, { cutAfter: 0 }, { cutAfter: 0 }]
      assert.match(
        yield* message(resolve()),
        /cannot be reached \(the connection was lost after 1000 of 300004 bytes\)/
      )
    })
  )

  it.live("reports what to do if a server refuses, or is unreachable", () =>
    Effect.gen(function* () {
      script = [{ status: 401 }]
      assert.match(yield* message(resolve()), /returned status 401: a token is required\. Set HF_TOKEN/)
      script = [{ status: 404 }]
      assert.match(yield* message(resolve()), /returned status 404: the file does not exist/)
      const error = yield* message(withHub("http://127.0.0.1:1")(ModelStore.resolve(source, options)))
      assert.match(error, /cannot be reached \(.+\). Check the connection, or pass the path of a local file/)
    })
  )

  it.live("downloads once for all that want the same file", () =>
    Effect.gen(function* () {
      const files = yield* Effect.all([resolve(), resolve(), resolve()], { concurrency: "unbounded" })
      assert.strictEqual(new Set(files).size, 1)
      assert.strictEqual(seen.length, 2)
    })
  )

  it.live("takes over from a process that has died", () =>
    Effect.gen(function* () {
      const file = yield* ModelStore.locate(source, options)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      // The lock file left by a process that was killed while it had the lock.
      fs.writeFileSync(`${file}.lock`, "")
      fs.writeFileSync(`${file}.lock.holder`, JSON.stringify({ pid: process.pid, host: "here", since: "now" }))
      assert.isTrue(fs.readFileSync(yield* resolve()).equals(content))
    })
  )

  it.live("downloads all parts of a model", () =>
    Effect.gen(function* () {
      script = []
      const file = yield* resolve(`${origin}/split/m-00001-of-00003.gguf`)
      assert.strictEqual(path.basename(file), "m-00001-of-00003.gguf")
      const [model] = yield* ModelStore.list(options)
      assert.deepStrictEqual([model?.size, model?.isComplete], [3 * content.length, true])
      assert.strictEqual(yield* ModelStore.remove(file, options), 3 * content.length)
      assert.deepStrictEqual(yield* ModelStore.list(options), [])
    })
  )

  it.live("lists models behind a link, and does not go through links to folders", () =>
    Effect.gen(function* () {
      const top = fs.mkdtempSync(path.join(folder, "linked-"))
      const [own, other] = [path.join(top, "own"), path.join(top, "other")]
      for (const made of [own, other]) fs.mkdirSync(made)
      fs.writeFileSync(path.join(other, "a.gguf"), content)
      fs.symlinkSync(path.join(other, "a.gguf"), path.join(own, "linked.gguf"))
      fs.symlinkSync(other, path.join(own, "folder"))
      fs.symlinkSync(own, path.join(own, "circle"))
      const stored = yield* ModelStore.list({ folder: own })
      assert.deepStrictEqual(
        stored.map(({ name, size }) => [name, size]),
        [["linked.gguf", content.length]]
      )
    })
  )

  it.effect("tells names that mean nothing, and never leaves its folder", () =>
    Effect.gen(function* () {
      assert.match(yield* message(resolve("llama")), /is not a known model\. Use the path of a \.gguf file/)
      assert.match(yield* message(resolve("hf:owner/repository")), /does not name a file in a repository/)
      assert.match(yield* message(resolve("hf:owner/../x/y.gguf")), /an empty or invalid part/)
      assert.match(yield* message(resolve("https://example.org/%zz.gguf")), /a path that is not valid UTF-8/)
      assert.match(yield* message(resolve("https://example.org/a%00b.gguf")), /is not a \.gguf/)
      assert.match(yield* message(resolve("http://example.com/m.gguf")), /only over https/)
      assert.match(yield* message(resolve("https://example.com/m.bin")), /is not a \.gguf/)
      assert.strictEqual(yield* resolve("models/x.gguf"), path.resolve("models/x.gguf"))
      for (const { name } of knownModels) {
        assert.isTrue((yield* ModelStore.locate(name, options)).startsWith(options.folder!))
      }
    })
  )
})
