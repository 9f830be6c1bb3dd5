/** The server that stands for Anthropic's batches, as Anthropic's own SDK sees it. */
import Anthropic from "@anthropic-ai/sdk"
import { BatchServer, Script } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"

const request = (custom_id: string) => ({
  custom_id,
  params: { model: "claude-opus-5-5", max_tokens: 9, messages: [{ role: "user" as const, content: "?" }] }
})

/** Requests to the vendor's own address go to the server. */
const clientOf = ({ url }: BatchServer.BatchServer, apiKey = "sk-1") =>
  new Anthropic({
    apiKey,
    baseURL: url,
    maxRetries: 0,
    fetch: (input, init) => fetch(String(input).replace("https://api.anthropic.com", url), init)
  })

describe("a server of Anthropic's batches", () => {
  it("answers, refuses and lets expire, by custom_id", async () => {
    await using server = await BatchServer.start({
      vendor: "anthropic",
      looks: 1,
      fate: ({ id }) => (id === "a" ? Script.answer("42") : id === "b" ? Script.refusal("context-too-long") : "expired")
    })
    const { batches } = clientOf(server).messages
    const begun = await batches.create({ requests: ["a", "b", "c"].map(request) })
    assert.deepStrictEqual([begun.processing_status, begun.request_counts.processing], ["in_progress", 3])
    assert.strictEqual((await batches.retrieve(begun.id)).processing_status, "ended")
    const results = new Map<string, Anthropic.Messages.MessageBatchResult>()
    for await (const { custom_id, result } of await batches.results(begun.id)) results.set(custom_id, result)
    const [a, b, c] = ["a", "b", "c"].map((id) => results.get(id))
    assert.ok(a?.type === "succeeded" && b?.type === "errored" && c?.type === "expired")
    const texts = a.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
    assert.deepStrictEqual(texts, ["42"])
    assert.strictEqual(b.error.error.type, "invalid_request_error")
    assert.strictEqual(server.paid(), 1)
  })

  it("lists batches from the newest on, page by page, and cancels", async () => {
    await using server = await BatchServer.start({ vendor: "anthropic", looks: Number.POSITIVE_INFINITY })
    const { batches } = clientOf(server).messages
    for (const id of ["a", "b", "c"]) await batches.create({ requests: [request(id)] })
    const listed: Array<string> = []
    for await (const { id } of batches.list({ limit: 1 })) listed.push(id)
    assert.deepStrictEqual(listed, ["msgbatch_3", "msgbatch_2", "msgbatch_1"])
    assert.strictEqual((await batches.cancel("msgbatch_2")).processing_status, "canceling")
    for await (const { result } of await batches.results("msgbatch_2")) assert.strictEqual(result.type, "canceled")
  })

  it("refuses what the vendor refuses: a wrong key, ids that come twice or have other characters", async () => {
    await using server = await BatchServer.start({ vendor: "anthropic", key: "sk-1" })
    const statusOf = (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: { status?: number }) => error.status
      )
    assert.strictEqual(await statusOf(clientOf(server, "sk-2").messages.batches.retrieve("msgbatch_1")), 401)
    const { batches } = clientOf(server).messages
    assert.strictEqual(await statusOf(batches.create({ requests: [request("a"), request("a")] })), 400)
    assert.strictEqual(await statusOf(batches.create({ requests: [request("a/b")] })), 400)
    assert.strictEqual(await statusOf(batches.retrieve("msgbatch_9")), 404)
  })
})
