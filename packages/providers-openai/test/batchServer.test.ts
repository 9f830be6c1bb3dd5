/** The server that stands for OpenAI's batches, as OpenAI's own SDK sees it. */
import { BatchServer, Script } from "@divisi/testkit/providers"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"

const line = (id: string, content: string, more: object = {}) =>
  JSON.stringify({
    custom_id: id,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "gpt-5", messages: [{ role: "user", content }], ...more }
  })

const clientOf = ({ url }: BatchServer.BatchServer, apiKey = "sk-1") =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })

const made = async (client: OpenAI, ...lines: ReadonlyArray<string>) => {
  const input = await client.files.create({ file: new File([lines.join("\n")], "batch.jsonl"), purpose: "batch" })
  return client.batches.create({
    input_file_id: input.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata: { name: "mine" }
  })
}

const linesOf = async (client: OpenAI, file: string | undefined) => {
  assert.isString(file)
  const text = await (await client.files.content(file!)).text()
  return text
    .trim()
    .split("\n")
    .map((one) => JSON.parse(one))
}

describe("a server of OpenAI's batches", () => {
  it("answers, refuses and lets expire, in two files by custom_id", async () => {
    await using server = await BatchServer.start({
      vendor: "openai",
      looks: 2,
      fate: ({ id }) => (id === "a" ? Script.answer("42") : id === "b" ? Script.refusal("context-too-long") : "expired")
    })
    const client = clientOf(server)
    const { id, metadata } = await made(client, line("a", "?"), line("b", "?"), line("c", "?"))
    assert.deepStrictEqual(metadata, { name: "mine" })
    assert.strictEqual((await client.batches.retrieve(id)).status, "in_progress")
    const batch = await client.batches.retrieve(id)
    assert.strictEqual(batch.status, "expired")
    const [answer] = await linesOf(client, batch.output_file_id)
    assert.strictEqual(answer.custom_id, "a")
    assert.strictEqual(answer.response.body.choices[0].message.content, "42")
    const errors = await linesOf(client, batch.error_file_id)
    assert.deepStrictEqual(
      errors.map(({ custom_id, error, response }) => [custom_id, response?.status_code, error?.code]),
      [
        ["b", 400, undefined],
        ["c", undefined, "batch_expired"]
      ]
    )
    assert.strictEqual(server.paid(), 1)
  })

  it("lists batches from the newest on, page by page, and cancels", async () => {
    await using server = await BatchServer.start({ vendor: "openai", looks: Number.POSITIVE_INFINITY })
    const client = clientOf(server)
    for (const id of ["a", "b", "c"]) await made(client, line(id, "?"))
    const listed: Array<string> = []
    for await (const batch of client.batches.list({ limit: 1 })) listed.push(batch.id)
    assert.deepStrictEqual(listed, ["batch_3", "batch_2", "batch_1"])
    assert.strictEqual((await client.batches.cancel("batch_2")).status, "cancelling")
    const cancelled = await client.batches.retrieve("batch_2")
    assert.strictEqual(cancelled.status, "cancelled")
    assert.strictEqual((await linesOf(client, cancelled.error_file_id))[0].error.code, "batch_cancelled")
  })

  it("refuses what the vendor refuses: a wrong key, streams, ids that come twice, several models", async () => {
    await using server = await BatchServer.start({ vendor: "openai", key: "sk-1" })
    const wrong = await clientOf(server, "sk-2")
      .batches.retrieve("batch_1")
      .catch((error: unknown) => error)
    assert.strictEqual((wrong as { status?: number }).status, 401)
    const client = clientOf(server)
    const failures = [
      [line("a", "?", { stream: true })],
      [line("a", "?"), line("a", "?")],
      [line("a", "?"), line("b", "?", { model: "gpt-4o" })]
    ]
    for (const lines of failures) {
      const batch = await made(client, ...lines)
      assert.strictEqual(batch.status, "failed")
      assert.isString(batch.errors?.data?.[0]?.message)
    }
  })
})
