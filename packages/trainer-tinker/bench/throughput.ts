/**
 * Measures the cost of the client itself. An iteration of 64 questions with 4 rollouts of 1,000 tokens is tokenised,
 * sampled, packed, sent, read and stepped with. It runs over real HTTP, against a server in another process that
 * answers at once.
 *
 *     pnpm --filter @divisi/trainer-tinker bench
 *
 * Prints JSON: CPU and wall time of the client's process for each part of an iteration, the first not counted.
 */
import { fork } from "node:child_process"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import type { Datum } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as HuggingFaceTokenizer from "../src/HuggingFaceTokenizer.ts"
import * as TinkerEngine from "../src/TinkerEngine.ts"

const questions = 64
const groupSize = 4
const completionTokens = 1_000
const iterations = 6

// -------------------------------------------------------------------------------------------------------------------
// A server that answers at once
// -------------------------------------------------------------------------------------------------------------------

const serve = () => {
  const tensor = (length: number) => ({
    data: Array.from({ length }, (_, at) => -1 / (at + 3)),
    dtype: "float32",
    shape: [length]
  })
  const results = new Map<string, string>()
  const samples = JSON.stringify({
    sequences: Array.from({ length: groupSize }, (_, group) => ({
      tokens: Array.from({ length: completionTokens }, (_, at) => 260 + ((at * 7 + group) % 300)),
      logprobs: tensor(completionTokens).data,
      stop_reason: "length"
    }))
  })
  const passes = new Map<string, string>()
  const passed = (body: {
    forward_backward_input: {
      data: ReadonlyArray<{ loss_fn_inputs: { target_tokens: { data: ReadonlyArray<number> } } }>
    }
  }) => {
    const lengths = body.forward_backward_input.data.map(
      ({ loss_fn_inputs }) => loss_fn_inputs.target_tokens.data.length
    )
    const key = lengths.join()
    const known =
      passes.get(key) ??
      JSON.stringify({ loss_fn_outputs: lengths.map((length) => ({ logprobs: tensor(length) })), metrics: {} })
    passes.set(key, known)
    return known
  }
  const immediate: Readonly<Record<string, unknown>> = {
    "client/config": {},
    create_session: { session_id: "s" },
    session_heartbeat: {},
    get_server_capabilities: { supported_models: [{ model_name: "m", max_context_length: 8192 }] }
  }
  const resultOf = (call: string, text: string): string => {
    if (call === "asample") return samples
    if (call === "forward_backward") return passed(JSON.parse(text))
    if (call === "create_model") return '{"model_id":"m:train:0"}'
    return call === "save_weights_for_sampler" ? '{"sampling_session_id":"x","path":null}' : '{"metrics":{}}'
  }
  const server = http.createServer(async (request, response) => {
    const parts: Array<Buffer> = []
    for await (const part of request) parts.push(part as Buffer)
    const text = Buffer.concat(parts).toString("utf8")
    const call = request.url!.replace("/api/v1/", "")
    response.setHeader("content-type", "application/json")
    if (call in immediate) return void response.end(JSON.stringify(immediate[call]))
    if (call === "retrieve_future") return void response.end(results.get(JSON.parse(text).request_id))
    const id = String(results.size)
    results.set(id, resultOf(call, text))
    response.end(`{"request_id":"${id}"}`)
  })
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))
}

// -------------------------------------------------------------------------------------------------------------------
// The client
// -------------------------------------------------------------------------------------------------------------------

interface Spent {
  readonly part: string
  readonly cpuMillis: number
  readonly wallMillis: number
}

const timed = <A, E, R>(part: string, spent: Array<Spent>, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const cpu = process.cpuUsage()
    const wall = performance.now()
    const result = yield* effect
    const { system, user } = process.cpuUsage(cpu)
    spent.push({ part, cpuMillis: (system + user) / 1000, wallMillis: performance.now() - wall })
    return result
  })

const text =
  "Plan the work, then work the plan: who answers what, in which order, and who checks it in the end? ".repeat(8)

const measure = (url: string) =>
  Effect.gen(function* () {
    const folder = path.join(import.meta.dirname, "../test/fixtures/tokenizer")
    const tokenizer = yield* HuggingFaceTokenizer.load({ folder })
    const engine = yield* TinkerEngine.make({ baseUrl: url, baseModel: "m", tokenizer, dialect: "hosted" })
    const spent: Array<Spent> = []
    let promptTokens = 0
    for (let iteration = 0; iteration < iterations; iteration++) {
      if (iteration === 1) spent.length = 0
      const prompts = yield* timed(
        "tokenise",
        spent,
        Effect.sync(() =>
          Array.from({ length: questions }, (_, index) =>
            tokenizer.render([{ role: "user", content: `${index} ${iteration} ${text}` }])
          )
        )
      )
      promptTokens = prompts[0]!.length
      const sampler = yield* engine.sampler
      const groups = yield* timed(
        "sample",
        spent,
        Effect.forEach(
          prompts,
          (prompt) => sampler.sample({ prompt, maxTokens: completionTokens, count: groupSize, seed: iteration }),
          { concurrency: "unbounded" }
        )
      )
      yield* timed(
        "decode",
        spent,
        Effect.sync(() => groups.flat().map(({ tokens }) => tokenizer.decode(tokens)))
      )
      const data = groups.flatMap((group, index) =>
        group.map(
          ({ logProbs, tokens }, at): Datum => ({
            prompt: prompts[index]!,
            completion: tokens,
            logProbs,
            advantages: tokens.map(() => at - 1.5),
            weights: tokens.map(() => 1 / completionTokens)
          })
        )
      )
      yield* timed("learn", spent, engine.forwardBackward(data, { type: "clippedRatio", low: 0.2, high: 0.2 }))
      yield* timed("step", spent, engine.step({ learningRate: 1e-5 }))
    }
    return { spent, promptTokens }
  }).pipe(Effect.scoped)

const perIteration = (spent: ReadonlyArray<Spent>, part: string, field: "cpuMillis" | "wallMillis") =>
  Math.round(spent.filter((one) => one.part === part).reduce((sum, one) => sum + one[field], 0) / (iterations - 1))

if (process.send !== undefined) serve()
else {
  const child = fork(import.meta.filename, { execArgv: ["--conditions=@divisi/source"] })
  const port = await new Promise<number>((resolve) => child.once("message", (message) => resolve(Number(message))))
  const { promptTokens, spent } = await Effect.runPromise(measure(`http://127.0.0.1:${port}`))
  child.kill()
  const parts = ["tokenise", "sample", "decode", "learn", "step"]
  const cpu = Object.fromEntries(parts.map((part) => [part, perIteration(spent, part, "cpuMillis")]))
  const wall = Object.fromEntries(parts.map((part) => [part, perIteration(spent, part, "wallMillis")]))
  const sum = (values: Readonly<Record<string, number>>) =>
    Object.values(values).reduce((total, value) => total + value, 0)
  const report = {
    node: process.version,
    rollouts: questions * groupSize,
    promptTokens,
    completionTokens,
    cpuMillis: { ...cpu, total: sum(cpu) },
    wallMillis: { ...wall, total: sum(wall) }
  }
  console.log(JSON.stringify(report, undefined, 2))
}
