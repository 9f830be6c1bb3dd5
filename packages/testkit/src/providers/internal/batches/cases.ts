/** The cases for `BatchContract`. */
import assert from "node:assert/strict"
import { Baselines, Budget, Journal, Resilience } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { WorkerStream } from "@divisi/core/streams"
import { isRetryable, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { Subject } from "../../BatchContract.ts"
import * as BatchServer from "../../BatchServer.ts"
import type { Sent } from "../../Dialect.ts"
import * as Script from "../../Script.ts"

const key = "sk-test-0123456789abcdef"
const quick = { windowMillis: 30, pollMillis: 3 }

const asked = (content: string): WorkerRequest => ({ messages: [{ role: "user", content }] })

const questionOf = ({ messages }: Sent): string => messages.at(-1)?.content ?? ""

/** Answers every question with the question and an exclamation mark. */
const echo = ({ sent }: BatchServer.Item): BatchServer.Fate => Script.answer(`${questionOf(sent)}!`)

const start = (subject: Subject, options: Partial<BatchServer.Options> = {}) =>
  BatchServer.start({ vendor: subject.vendor, key, fate: echo, ...options })

const workerAt = (subject: Subject, { url }: BatchServer.BatchServer, more: { readonly maxRequests?: number } = {}) =>
  subject.make({ apiKey: key, baseURL: url, batch: { ...quick, ...more } })

const partsOf = (worker: Worker, content: string): Promise<ReadonlyArray<WorkerPart>> =>
  Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, asked(content))))

const textOf = (parts: ReadonlyArray<WorkerPart>): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("")

const failureOf = async (call: Promise<unknown>): Promise<WorkerError> => {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error
  )
  assert.ok(error instanceof WorkerError, `It did not fail as a worker does: ${error}`)
  return error
}

const until = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 2))
}

const isSending = (path: string): boolean => /\/batches$/.test(path)

/** Returns the number of requests to create a batch. */
const sendings = (server: BatchServer.BatchServer): number =>
  server.requests.filter(({ method, path }) => method === "POST" && isSending(path)).length

const reattached = (worker: Worker, handle: string, content: string): Promise<ReadonlyArray<WorkerPart>> => {
  const { recovery } = worker
  assert.ok(typeof recovery === "object", "The worker cannot be asked for an answer again.")
  const again = { ...worker, generate: (request: WorkerRequest) => recovery.reattach(handle, request) }
  return partsOf(again, content)
}

/** Starts a call and collects its handles. */
const begun = (worker: Worker, content: string) => {
  const handles: Array<string> = []
  const stream = WorkerStream.generate(worker, asked(content))
  const run = Stream.runForEach(stream, (part) =>
    Effect.sync(() => {
      if (part.type === "handle") handles.push(part.handle)
    })
  )
  const fiber = Effect.runFork(run)
  return { handles, stop: () => Effect.runPromise(Fiber.interrupt(fiber)) }
}

const conductor = (worker: Worker, more: Partial<Conductor.Options> = {}) =>
  Conductor.make({
    policy: Baselines.single(0),
    pool: WorkerPool.makeUnsafe([worker]),
    retry: Resilience.noRetry,
    ...more
  })

type Case = (subject: Subject) => Promise<void>

export const cases: Readonly<Record<string, Case>> = {
  "sends calls that are made at once together, and gives each its own answer": async (subject) => {
    await using server = await start(subject)
    const worker = workerAt(subject, server)
    const answers = await Promise.all(["a", "b", "c"].map((content) => partsOf(worker, content)))
    assert.deepEqual(answers.map(textOf), ["a!", "b!", "c!"])
    assert.deepEqual([server.batches.length, server.paid()], [1, 3])
    const [finish] = answers[0]!.filter((part) => part.type === "finish")
    assert.equal(finish?.usage.outputTokens, 5)
  },

  "reads a whole answer as it reads a streamed one: reasoning, text, calls of tools, usage": async (subject) => {
    const call = Script.call("call_1", "add", '{"left":1}')
    const whole = Script.answer([Script.reasoning("hm"), "I add.", ...call], {
      ending: "tool-calls",
      signature: "signed",
      usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 30 }
    })
    const request: WorkerRequest = { ...asked("1 + 1?"), tools: [{ name: "add", input: { type: "object" } }] }
    await using server = await start(subject, { fate: () => whole })
    const parts = await Effect.runPromise(Stream.runCollect(WorkerStream.generate(workerAt(subject, server), request)))
    const kinds = parts.filter(({ type }) => type !== "handle").map(({ type }) => type)
    assert.equal(textOf(parts), "I add.")
    assert.ok(kinds.includes("tool-call"))
    assert.deepEqual(
      parts.find((part) => part.type === "tool-call"),
      { type: "tool-call", id: "call_1", name: "add", arguments: '{"left":1}' }
    )
    const finish = parts.at(-1)
    assert.ok(finish?.type === "finish")
    assert.equal(finish.reason, "tool-calls")
    assert.equal(finish.usage.inputTokens, 100)
    assert.equal(finish.usage.cachedInputTokens, 40)
  },

  "says by what a call will be known before it is sent, and in which batch it is once that is taken": async (
    subject
  ) => {
    await using server = await start(subject, { looks: Number.POSITIVE_INFINITY })
    const { handles, stop } = begun(workerAt(subject, server), "a")
    assert.equal(server.batches.length, 0)
    await until(() => handles.length === 2)
    const [before, after] = handles.map((handle) => JSON.parse(handle))
    assert.deepEqual([before.id, before.batch], [server.batches[0]?.items[0]?.id, undefined])
    assert.deepEqual([after.id, after.batch], [before.id, server.batches[0]?.id])
    await stop()
  },

  "gives what was answered of a batch that has expired, and fails the rest as a time-out that costs nothing": async (
    subject
  ) => {
    await using server = await start(subject, {
      fate: (item) => (questionOf(item.sent) === "late" ? "expired" : echo(item))
    })
    const worker = workerAt(subject, server)
    const [answered, error] = await Promise.all([partsOf(worker, "a"), failureOf(partsOf(worker, "late"))])
    assert.equal(textOf(answered), "a!")
    assert.equal(error.reason._tag, "Timeout")
    assert.match(error.message, /batch expired/)
    assert.deepEqual([error.usage?.inputTokens, error.usage?.outputTokens], [0, 0])
  },

  "fails one request as its vendor refused it, and none of the others": async (subject) => {
    await using server = await start(subject, {
      fate: (item) => (questionOf(item.sent) === "long" ? Script.refusal("context-too-long") : echo(item))
    })
    const worker = workerAt(subject, server)
    const [answered, error] = await Promise.all([partsOf(worker, "a"), failureOf(partsOf(worker, "long"))])
    assert.equal(textOf(answered), "a!")
    assert.equal(error.reason._tag, "ContextTooLong")
  },

  "makes a call again without a preference that is refused, says so, and remembers it": async (subject) => {
    const words = "Unsupported parameters: 'reasoning', 'reasoning_effort', 'thinking', 'output_config.effort'"
    await using server = await start(subject, {
      fate: (item) => (item.sent.reasoning === undefined ? echo(item) : Script.refusal("invalid-request", { words }))
    })
    const worker = workerAt(subject, server)
    const ask = async (preferences: WorkerRequest["preferences"]) => {
      const reasoning = { type: "effort", effort: "high" } as const
      const request = { ...asked("a"), reasoning, preferences }
      const parts = await Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, request)))
      assert.equal(textOf(parts), "a!")
      return parts.flatMap((part) => (part.type === "notice" ? [part.notice] : []))
    }
    // A worker that must not omit the setting fails, and remembers nothing.
    assert.equal((await failureOf(ask(undefined))).reason._tag, "InvalidRequest")
    const first = await ask("omit")
    assert.ok(first.length > 0 && new Set(first).size === first.length, `Its notices are ${first.join("; ")}.`)
    const made = sendings(server)
    assert.deepEqual(await ask("omit"), first)
    assert.equal(sendings(server), made + 1, "The refusal was not remembered.")
    assert.equal(server.paid(), 2)
  },

  "fails what a batch ends without": async (subject) => {
    await using server = await start(subject, {
      fate: (item) => (questionOf(item.sent) === "lost" ? "forgotten" : echo(item))
    })
    const worker = workerAt(subject, server)
    const [answered, error] = await Promise.all([partsOf(worker, "a"), failureOf(partsOf(worker, "lost"))])
    assert.equal(textOf(answered), "a!")
    assert.equal(error.reason._tag, "Malformed")
    assert.match(error.message, /without an answer/)
  },

  "fails all calls of a batch that somebody cancels at the vendor, and does not try again": async (subject) => {
    await using server = await start(subject, { looks: Number.POSITIVE_INFINITY })
    const call = failureOf(partsOf(workerAt(subject, server), "a"))
    await until(() => server.batches.length === 1)
    server.batches[0]!.state = "cancelled"
    const error = await call
    assert.deepEqual([error.reason._tag, isRetryable(error.reason)], ["InvalidRequest", false])
    assert.match(error.message, /cancelled/)
  },

  "reads on after a look that fails, and takes nonsense for no answer": async (subject) => {
    let looks = 0
    await using server = await start(subject, {
      instead: ({ method, path }) => {
        if (method !== "GET" || !/batch_\d+$/.test(path)) return undefined
        looks += 1
        const replies = [
          { status: 503, body: "{}" },
          { status: 200, contentType: "text/html", body: "<h1>Hello</h1>" },
          { type: "reset", isTaken: false } as const
        ]
        return replies[looks - 1]
      }
    })
    assert.equal(textOf(await partsOf(workerAt(subject, server), "a")), "a!")
    assert.ok(looks > 3)
  },

  "fails where neither a batch nor its results can be read": async (subject) => {
    const page = { status: 200, contentType: "text/html", body: "<h1>Hello</h1>" }
    await using sending = await start(subject, { instead: ({ method }) => (method === "POST" ? page : undefined) })
    const refused = await failureOf(partsOf(workerAt(subject, sending), "a"))
    assert.equal(refused.reason._tag, "Malformed")
    const nonsense = { status: 200, contentType: "application/octet-stream", body: '{"custom_id": "a"\nnonsense\n' }
    await using reading = await start(subject, {
      looks: 1,
      instead: ({ path }) => (/content$|results$/.test(path) ? nonsense : undefined)
    })
    const unread = await failureOf(partsOf(workerAt(subject, reading), "a"))
    assert.equal(unread.reason._tag, "Malformed")
    assert.equal(reading.batches.length, 1)
  },

  "tells a wrong key once, and shows it nowhere": async (subject) => {
    await using server = await start(subject, { key: "another" })
    const error = await failureOf(partsOf(workerAt(subject, server), "a"))
    assert.equal(error.reason._tag, "Authentication")
    assert.ok(!JSON.stringify([error, error.message]).includes(key), "The error shows the key.")
    assert.equal(server.requests.length, 1)
  },

  "makes a new batch of what does not fit": async (subject) => {
    await using server = await start(subject)
    const worker = workerAt(subject, server, { maxRequests: 2 })
    const answers = await Promise.all(["a", "b", "c"].map((content) => partsOf(worker, content)))
    assert.deepEqual(answers.map(textOf), ["a!", "b!", "c!"])
    // Both are sent concurrently, so either can arrive first.
    const sizes = server.batches.map(({ items }) => items.length)
    assert.deepEqual(new Set(sizes), new Set([1, 2]))
  },

  "cancels a batch when nobody waits for any of it, and not before": async (subject) => {
    await using server = await start(subject, { looks: Number.POSITIVE_INFINITY })
    const worker = workerAt(subject, server)
    const [first, second] = [begun(worker, "a"), begun(worker, "b")]
    await until(() => first.handles.length === 2 && second.handles.length === 2)
    await first.stop()
    assert.equal(server.batches[0]?.state, "under way")
    await second.stop()
    assert.equal(server.batches[0]?.state, "cancelled")
  },

  "does not send a call that has gone before its batch does": async (subject) => {
    await using server = await start(subject)
    const worker = workerAt(subject, server)
    const gone = begun(worker, "gone")
    await until(() => gone.handles.length === 1)
    const answer = partsOf(worker, "a")
    await gone.stop()
    assert.equal(textOf(await answer), "a!")
    assert.deepEqual(
      server.batches.map(({ items }) => items.map(({ sent }) => questionOf(sent))),
      [["a"]]
    )
  },

  "is asked for an answer again by either handle, in another process, and cancels nothing there": async (subject) => {
    await using server = await start(subject, { looks: Number.POSITIVE_INFINITY })
    const { handles } = begun(workerAt(subject, server), "a")
    await until(() => handles.length === 2)
    const other = workerAt(subject, server)
    const { recovery } = other
    assert.ok(typeof recovery === "object")
    const again = { ...other, generate: (request: WorkerRequest) => recovery.reattach(handles[1]!, request) }
    const waiting = begun(again, "a")
    await until(() => waiting.handles.length > 0 && (server.batches[0]?.looks ?? 0) > 4)
    await waiting.stop()
    assert.equal(server.batches[0]?.state, "under way")
    server.end()
    for (const handle of handles) assert.equal(textOf(await reattached(workerAt(subject, server), handle, "a")), "a!")
    assert.deepEqual([server.batches.length, server.paid()], [1, 1])
  },

  "says that a call was never sent, or is not known, so that it is asked anew": async (subject) => {
    await using server = await start(subject)
    await partsOf(workerAt(subject, server), "another")
    const handle = JSON.stringify({ id: "0123456789abcdef-0", at: Date.now() })
    const unsent = await failureOf(reattached(workerAt(subject, server), handle, "a"))
    assert.match(unsent.message, /before the batch was sent/)
    const unknown = JSON.stringify({ id: "0123456789abcdef-0", batch: "msgbatch_99", at: Date.now() })
    assert.equal((await failureOf(reattached(workerAt(subject, server), unknown, "a"))).reason._tag, "InvalidRequest")
    assert.match((await failureOf(reattached(workerAt(subject, server), "resp_1", "a"))).message, /no batch/)
  },

  "does not pay again for a batch of which nobody knows whether it was taken, where its name tells": async (
    subject
  ) => {
    let isFirst = true
    await using server = await start(subject, {
      instead: ({ method, path }) => {
        if (!isFirst || method !== "POST" || !isSending(path)) return undefined
        isFirst = false
        return { type: "reset", isTaken: true }
      }
    })
    const call = partsOf(workerAt(subject, server), "a")
    if (subject.findsByName) assert.equal(textOf(await call), "a!")
    else assert.equal((await failureOf(call)).reason._tag, "Network")
    assert.equal(sendings(server), 1)
  },

  "goes on with the same batch in a run that is resumed, and pays it once": async (subject) => {
    await using server = await start(subject, { looks: Number.POSITIVE_INFINITY })
    const memory = Journal.memory()
    const killed = Journal.makeMemory(memory)
    const options = { runId: "a/run of mine" }
    Effect.runFork(conductor(workerAt(subject, server)).run("a", { ...options, journal: killed }))
    const handles = async () =>
      (await Effect.runPromise(killed.read(options.runId))).filter(({ type }) => type === "handle").length
    await until(async () => (await handles()) === 2)
    killed.end()
    server.end()
    const journal = Journal.makeMemory(memory)
    const worker = workerAt(subject, server)
    const { answer, spend } = await Effect.runPromise(conductor(worker).run("a", { ...options, journal }))
    assert.deepEqual([answer, spend.calls, server.batches.length], ["a!", 1, 1])
    // The id of a request identifies the run and the call.
    assert.match(server.batches[0]?.items[0]?.id ?? "", /^[0-9a-f]{16}-0-a_run_of_mine_0_0_0_0$/)
  },

  "sends nothing that a budget has no room for": async (subject) => {
    await using server = await start(subject)
    const worker = { ...workerAt(subject, server), pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 } }
    const account = Budget.make({ costUsd: 3 })
    const runs = Array.from({ length: 8 }, (_, number) => conductor(worker).run(`${number}`, { ledger: account }))
    const results = await Effect.runPromise(Effect.all(runs, { concurrency: "unbounded" }))
    assert.equal(results.filter(({ ending }) => ending === "answered").length, 3)
    assert.equal(server.batches.flatMap(({ items }) => items).length, 3)
    assert.equal(account.spent().costUsd, 3)
  },

  "sends a thousand calls at once as one batch": async (subject) => {
    await using server = await start(subject)
    const worker = workerAt(subject, server)
    const numbers = Array.from({ length: 1000 }, (_, number) => `${number}`)
    const answers = await Promise.all(numbers.map((content) => partsOf(worker, content)))
    assert.deepEqual(
      answers.map(textOf),
      numbers.map((content) => `${content}!`)
    )
    assert.deepEqual(
      server.batches.map(({ items }) => items.length),
      [1000]
    )
    assert.ok(server.requests.length < 10, `${server.requests.length} requests were made.`)
  }
}
