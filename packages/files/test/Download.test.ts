import { createHash } from "node:crypto"
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { afterAll, beforeEach, describe, expect, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Download from "../src/Download.ts"
import * as Hub from "../src/Hub.ts"
import { folder } from "./folder.ts"
import { mountSmall } from "./fullDisk.ts"
import { start } from "./processes.ts"

const root = folder()
const content = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251))
const sha256 = createHash("sha256").update(content).digest("hex")
const commit = "0123456789abcdef0123456789abcdef01234567"

interface Seen {
  readonly at: "hub" | "storage"
  readonly range: string | undefined
  readonly authorization: string | undefined
}

/** The next behavior of the servers; reset before each test. */
let behaviour: {
  status?: number
  location?: string
  /** Cuts so many answers of the storage in the middle. */
  cuts?: number
  /** Gives no length, as servers do that compress or compute. */
  isChunked?: boolean
  hasEtag?: boolean
  sent?: Buffer
} = {}
let seen: Array<Seen> = []

/** The connection that is to be cut when so many bytes have come. */
let cut: { readonly at: number; readonly connection: { readonly destroy: () => void } } | undefined
const cutInTime = ({ received }: Download.Progress) => {
  if (received === cut?.at) cut.connection.destroy()
}

beforeEach(() => {
  behaviour = {}
  seen = []
  cut = undefined
})

const serve = async (at: Seen["at"], answer: http.RequestListener) => {
  const server = http.createServer((request, response) => {
    const { authorization, range } = request.headers
    seen.push({ at, range, authorization })
    answer(request, response)
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const storage = await serve("storage", (request, response) => {
  const { cuts = 0, hasEtag = true, isChunked = false, sent = content } = behaviour
  const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0)
  response.writeHead(from > 0 ? 206 : 200, {
    ...(!isChunked && { "content-length": sent.length - from }),
    ...(hasEtag && { etag: '"one"' }),
    ...(from > 0 && { "content-range": `bytes ${from}-${sent.length - 1}/${sent.length}` })
  })
  if (cuts === 0) return void response.end(sent.subarray(from))
  behaviour.cuts = cuts - 1
  const piece = sent.subarray(from, from + 50_000)
  // Data that a client has not read when a connection breaks is lost to it.
  cut = { at: from + piece.length, connection: response }
  response.write(piece)
})

/** As Hugging Face answers: what the file is, and where its bytes are. */
const hub = await serve("hub", (_, response) => {
  const { location = `${storage}/bytes`, status } = behaviour
  if (status !== undefined) return void response.writeHead(status).end()
  response.writeHead(302, {
    location,
    "x-linked-size": content.length,
    "x-linked-etag": `"${sha256}"`,
    "x-repo-commit": commit
  })
  response.end("Found")
})

let files = 0
const fresh = () => path.join(root, String(files++), "below", "file.bin")
const request = (file: string, more: Partial<Download.Request> = {}): Download.Request => ({
  url: `${hub}/owner/name/resolve/main/file.bin`,
  file,
  token: Redacted.make("secret"),
  onProgress: cutInTime,
  ...more
})
const refused = (more: Partial<Download.Request> = {}) => {
  const file = fresh()
  return Effect.map(Effect.flip(Download.file(request(file, more))), (error) => ({ error, file }))
}
const beside = (file: string) => fs.readdirSync(path.dirname(file))

describe("a download", () => {
  it.live("brings the file once, tells the commit, and takes the token to no other host", () =>
    Effect.gen(function* () {
      const file = fresh()
      const received: Array<number> = []
      const onProgress = ({ received: now, total }: Download.Progress) => {
        expect(total).toBe(content.length)
        received.push(now)
      }
      expect(yield* Download.file(request(file, { onProgress }))).toEqual({ commit })
      expect([content.equals(fs.readFileSync(file)), beside(file), received.at(-1)]).toEqual([
        true,
        ["file.bin"],
        content.length
      ])
      expect(seen).toEqual([
        { at: "hub", range: undefined, authorization: "Bearer secret" },
        { at: "storage", range: undefined, authorization: undefined }
      ])
      expect(yield* Download.file(request(file))).toBeUndefined()
      expect(seen).toHaveLength(2)
    })
  )

  it.live("resumes where it was cut, with the checksum of the whole", () =>
    Effect.gen(function* () {
      behaviour = { cuts: 2 }
      const file = fresh()
      yield* Download.file(request(file))
      expect(content.equals(fs.readFileSync(file))).toBe(true)
      expect(seen.filter(({ at }) => at === "storage").map(({ range }) => range)).toEqual([
        undefined,
        "bytes=50000-",
        "bytes=100000-"
      ])
    })
  )

  it.live("puts away what has another checksum, length or beginning", () =>
    Effect.gen(function* () {
      behaviour = { sent: Buffer.alloc(content.length, 1) }
      const server = yield* refused()
      expect(server.error.reason).toMatchObject({ _tag: "Mismatch", what: "checksum" })
      expect(server.error.message).toContain(`instead of ${sha256}`)
      behaviour = {}
      const caller = yield* refused({ sha256: "00" })
      expect(caller.error.reason).toMatchObject({ what: "checksum" })
      behaviour = { sent: Buffer.concat([content, content]) }
      const long = yield* refused()
      expect(long.error.reason).toMatchObject({ what: "length", detail: "400000 bytes instead of 200000" })
      behaviour = {}
      const kind = yield* refused({ magic: "GGUF" })
      expect(kind.error.reason).toMatchObject({ what: "kind", detail: "not a GGUF file" })
      for (const { file } of [server, caller, long, kind]) expect(beside(file)).toEqual([])
    })
  )

  it.live("without a length is not taken for whole when it is cut", () =>
    Effect.gen(function* () {
      behaviour = { cuts: 100, isChunked: true, hasEtag: false }
      const { error, file } = yield* refused({ url: `${storage}/bytes` })
      expect(error.reason).toMatchObject({ _tag: "Offline" })
      // It could not be resumed.
      expect(beside(file)).toEqual([])
      behaviour = { cuts: 1, isChunked: true, hasEtag: false }
      yield* Download.file(request(file, { url: `${storage}/bytes` }))
      expect(content.equals(fs.readFileSync(file))).toBe(true)
    })
  )

  it.live("says what a server refuses, without the token", () =>
    Effect.gen(function* () {
      for (const [status, text] of [
        [401, "it needs a token"],
        [403, "the token has no access"],
        [404, "the file does not exist"],
        [500, "try again later"]
      ] as const) {
        behaviour = { status }
        const { error, file } = yield* refused()
        expect(error.reason).toEqual({ _tag: "Refused", status })
        expect(error.message).toContain(text)
        expect(JSON.stringify(error)).not.toContain("secret")
        expect(beside(file)).toEqual([])
      }
      behaviour = { location: "/again" }
      const { error } = yield* refused()
      expect(error.reason).toMatchObject({ _tag: "Mismatch", what: "address" })
      expect((yield* refused({ url: "http://127.0.0.1:1/file" })).error.reason._tag).toBe("Offline")
    })
  )

  it.live("is made once for all processes, and taken over from one that is killed", () =>
    Effect.gen(function* () {
      behaviour = { cuts: 0 }
      const file = fresh()
      const url = request(file).url
      const children = [0, 1, 2].map(() => start("downloader.ts", url, file))
      for (const { ended } of children)
        expect(yield* Effect.promise(() => ended)).toMatchObject({ code: 0, errors: "" })
      expect(seen.filter(({ at }) => at === "storage")).toHaveLength(1)
      expect(content.equals(fs.readFileSync(file))).toBe(true)

      const other = fresh()
      const killed = start("downloader.ts", url, other, "stop")
      yield* Effect.promise(() => killed.says("received"))
      yield* Effect.promise(() => killed.kill())
      yield* Download.file(request(other))
      expect([content.equals(fs.readFileSync(other)), beside(other)]).toEqual([true, ["file.bin"]])
    })
  )
})

const disk = mountSmall()

describe.skipIf(disk === undefined)("a full disk", () => {
  it.live("is reported, and the download resumes when there is room", () =>
    Effect.gen(function* () {
      const file = path.join(disk!, "file.bin")
      const ballast = path.join(disk!, "ballast")
      fs.writeFileSync(ballast, Buffer.alloc(900_000))
      const error = yield* Effect.flip(Download.file(request(file)))
      expect(error.reason._tag).toBe("Folder")
      expect(error.message).toContain("is full. Free some space")
      fs.rmSync(ballast)
      yield* Download.file(request(file))
      expect(content.equals(fs.readFileSync(file))).toBe(true)
    })
  )
})

describe("a hub", () => {
  it.effect("is the one of the environment, and its key is redacted", () =>
    Effect.gen(function* () {
      const here = ConfigProvider.layer(ConfigProvider.fromUnknown({ HF_ENDPOINT: "http://here", HF_TOKEN: "secret" }))
      const [endpoint, token] = yield* Effect.provide(Effect.all([Hub.endpoint, Hub.token]), here)
      expect([endpoint, String(token), Redacted.value(token!)]).toEqual(["http://here", "<redacted>", "secret"])
      const nowhere = ConfigProvider.layer(ConfigProvider.fromUnknown({ HF_TOKEN: "" }))
      expect(yield* Effect.provide(Effect.all([Hub.endpoint, Hub.token]), nowhere)).toEqual([
        "https://huggingface.co",
        undefined
      ])
    })
  )

  it("has addresses of models and data sets", () => {
    const file = "a b/c.gguf"
    expect(Hub.url({ kind: "model", repository: "o/n", revision: "refs/pr/1", file }, "http://here/")).toBe(
      "http://here/o/n/resolve/refs%2Fpr%2F1/a%20b/c.gguf"
    )
    expect(Hub.url({ kind: "dataset", repository: "o/n", file })).toBe(
      "https://huggingface.co/datasets/o/n/resolve/main/a%20b/c.gguf"
    )
  })
})
