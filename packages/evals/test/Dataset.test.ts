import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { gzipSync } from "node:zlib"
import { Dataset, Mmlu } from "@divisi/evals"
import * as Benchmark from "@divisi/evals/Benchmark"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { parquetWriteBuffer } from "hyparquet-writer"
import { folder } from "./folder.ts"

interface Hub {
  readonly endpoint: string
  readonly requests: Array<{ readonly url: string; readonly authorization: string | undefined }>
}

/** A hub that serves the given files. A file that is `undefined` breaks off in the middle. */
const hub = (files: Readonly<Record<string, Buffer | undefined>>, token?: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Hub & { readonly server: http.Server }>((resolve) => {
          const requests: Hub["requests"] = []
          const server = http.createServer((request, response) => {
            requests.push({ url: request.url!, authorization: request.headers.authorization })
            const name = decodeURIComponent(request.url!)
            if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
              response.writeHead(401).end()
            else if (!(name in files)) response.writeHead(404).end()
            else if (files[name] === undefined) {
              response.writeHead(200, { "content-length": 1000 }).write("half", () => response.destroy())
            } else response.end(files[name])
          })
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            resolve({ server, requests, endpoint: `http://127.0.0.1:${port}` })
          })
        })
    ),
    ({ server }) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            server.closeAllConnections()
            server.close(() => resolve())
          })
      )
  )

const rows = Buffer.from('{"question":"1 + 1?","answer":"2"}\n\n{"question":"2 + 2?","answer":"4"}\n')
const address = "/datasets/somebody/sums/resolve/main/test.jsonl"
const sums: Dataset.HubFiles = { dataset: "somebody/sums", files: ["test.jsonl"] }

const read = (file: string) => Stream.runCollect(Dataset.records(file))

describe("records", () => {
  it.live("are read from JSON lines, gzipped or not, and from Parquet", () =>
    Effect.gen(function* () {
      const at = folder()
      const [plain, packed, parquet] = ["a.jsonl", "a.jsonl.gz", "a.parquet"].map((name) => path.join(at, name))
      fs.writeFileSync(plain!, rows)
      fs.writeFileSync(packed!, gzipSync(rows))
      assert.deepStrictEqual(yield* read(packed!), yield* read(plain!))
      const buffer = parquetWriteBuffer({
        columnData: [{ name: "question", data: Array.from({ length: 25 }, (_, index) => `${index}?`), type: "STRING" }],
        rowGroupSize: 10
      })
      fs.writeFileSync(parquet!, new Uint8Array(buffer))
      const found = yield* read(parquet!)
      assert.strictEqual(found.length, 25)
      assert.deepStrictEqual(found[24], { question: "24?" })
    })
  )

  it.live("make tasks from Parquet, whose whole numbers are big integers", () =>
    Effect.gen(function* () {
      const file = path.join(folder(), "mmlu.parquet")
      const buffer = parquetWriteBuffer({
        columnData: [
          { name: "question", data: ["2 + 2?"], type: "STRING" },
          { name: "subject", data: ["sums"], type: "STRING" },
          { name: "choices", data: [["1", "2", "3", "4"]], type: "JSON" },
          { name: "answer", data: [3n], type: "INT64" }
        ]
      })
      fs.writeFileSync(file, new Uint8Array(buffer))
      const { tasks } = yield* Benchmark.load(Mmlu.make(), { files: [file] })
      assert.strictEqual(tasks[0]?.reference, "D")
    })
  )

  it.live("end at a line feed alone, whatever a question holds", () =>
    Effect.gen(function* () {
      const file = path.join(folder(), "odd.jsonl")
      const odd = [{ question: "a\u2028b" }, { question: "a\u2029b" }, { question: "a\u0085b" }]
      fs.writeFileSync(file, odd.map((one) => JSON.stringify(one)).join("\r\n"))
      assert.deepStrictEqual<unknown>(yield* read(file), odd)
    })
  )

  it.live("that cannot be read are reported with their line", () =>
    Effect.gen(function* () {
      const file = path.join(folder(), "bad.jsonl")
      fs.writeFileSync(file, '{"question":"1"}\n{"question":\n')
      assert.include((yield* Effect.flip(read(file))).message, "line 2 is not JSON")
      fs.writeFileSync(`${file}.parquet`, "no parquet")
      assert.strictEqual((yield* Effect.flip(read(`${file}.parquet`))).reason, "format")
    })
  )
})

describe("a hub", () => {
  it.live("is asked once for a file, which is then in the cache", () =>
    Effect.gen(function* () {
      const { endpoint, requests } = yield* hub({ [address]: rows })
      const options = { endpoint, cacheFolder: folder() }
      const first = yield* Dataset.fetchFiles(sums, options)
      const second = yield* Dataset.fetchFiles(sums, options)
      assert.deepStrictEqual(second, first)
      assert.deepStrictEqual(
        requests.map(({ url }) => url),
        [address]
      )
      assert.deepStrictEqual(yield* read(first[0]!.path), [
        { question: "1 + 1?", answer: "2" },
        { question: "2 + 2?", answer: "4" }
      ])
    })
  )

  it.live("gets a token, and is not believed when a checksum differs", () =>
    Effect.gen(function* () {
      const { endpoint, requests } = yield* hub({ [address]: rows }, "secret")
      const options = { endpoint, cacheFolder: folder() }
      const refused = yield* Effect.flip(Dataset.fetchFiles(sums, { ...options, token: "wrong" }))
      assert.strictEqual(refused.reason, "gated")
      assert.notInclude(refused.message, "wrong")
      const [file] = yield* Dataset.fetchFiles(sums, { ...options, token: "secret" })
      assert.strictEqual(requests.at(-1)?.authorization, "Bearer secret")
      fs.appendFileSync(file!.path, "{}\n")
      assert.strictEqual((yield* Effect.flip(Dataset.fetchFiles(sums, options))).reason, "checksum")
      const pinned = { ...sums, sha256: { "test.jsonl": "00" } }
      const other = { endpoint, cacheFolder: folder(), token: "secret" }
      assert.strictEqual((yield* Effect.flip(Dataset.fetchFiles(pinned, other))).reason, "checksum")
    })
  )

  it.live("that breaks off leaves nothing that looks like the file", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* hub({ [address]: undefined })
      const cacheFolder = folder()
      assert.strictEqual((yield* Effect.flip(Dataset.fetchFiles(sums, { endpoint, cacheFolder }))).reason, "network")
      const left = fs.readdirSync(cacheFolder, { recursive: true, encoding: "utf8" })
      assert.deepStrictEqual(
        left.filter((file) => /jsonl/.test(file)),
        []
      )
      const absent = { ...sums, files: ["other.jsonl"] }
      assert.strictEqual(
        (yield* Effect.flip(Dataset.fetchFiles(absent, { endpoint, cacheFolder }))).reason,
        "not-found"
      )
    })
  )

  it("is addressed by data set, revision and file", () => {
    const files = { dataset: "a/b", revision: "refs/convert/parquet", files: [] }
    const expected = "https://hub.test/datasets/a/b/resolve/refs%2Fconvert%2Fparquet/all/test/0000.parquet"
    assert.strictEqual(Dataset.url(files, "all/test/0000.parquet", "https://hub.test/"), expected)
  })
})

describe("the revision of a hub's data set", () => {
  const commit = "0123456789abcdef0123456789abcdef01234567"

  /** A hub that redirects to a storage of another origin, as hubs do. */
  const redirecting = Effect.gen(function* () {
    const storage = yield* hub({ "/blob": rows })
    const front = http.createServer((request, response) => {
      response.writeHead(302, { location: `${storage.endpoint}/blob`, "x-repo-commit": commit })
      response.end(request.url)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve))),
      () => Effect.promise(() => new Promise<void>((resolve) => front.close(() => resolve())))
    )
    return { storage, endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}` }
  })

  it.live("is reported as the commit that was served, and no other host is sent the token", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { endpoint, storage } = yield* redirecting
        const options = { endpoint, token: "secret", cacheFolder: folder() }
        const benchmark: Benchmark.Benchmark = {
          id: "sums",
          title: "Sums",
          source: { ...sums, revision: "stable", sha256: { "test.jsonl": "that of another revision" } },
          licence: "MIT",
          prompt: "sums/1",
          toTask: (row) => ({ id: String(row.question), messages: [{ role: "user", content: String(row.question) }] })
        }
        const pinned = yield* Benchmark.load(benchmark, { ...options, revision: "refs/pr/1" })
        assert.strictEqual(pinned.provenance.revision, "refs/pr/1")
        assert.strictEqual(pinned.provenance.commit, commit)
        assert.deepStrictEqual(
          storage.requests.map(({ authorization }) => authorization),
          [undefined]
        )
        const again = yield* Benchmark.load(benchmark, { ...options, revision: "refs/pr/1" })
        assert.deepStrictEqual(again.provenance, pinned.provenance)
        const error = yield* Effect.flip(Benchmark.load(benchmark, options))
        assert.include(error.message, "another revision")
      })
    )
  )
})
