/** `divisi pool check`: checks whether each worker responds, how fast it is, and what it costs. */

import { Elapsed } from "@divisi/core"
import { WorkerStream } from "@divisi/core/streams"
import { checked, cost, estimateUsage, type Pricing, type Usage } from "@divisi/core/Usage"
import { type Worker, WorkerError } from "@divisi/core/Worker"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, messageOf, silent } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as CheckText from "./CheckText.ts"
import * as Cooldowns from "./Cooldowns.ts"
import type { CheckInput } from "./flags.ts"

/** The result of sending a tiny request to a worker. */
export interface Checked {
  readonly worker: string
  readonly reachable: boolean
  /** Time until the first chunk of output, including reasoning, in milliseconds. */
  readonly latencyMillis?: number | undefined
  readonly durationMillis?: number | undefined
  /** Output tokens per second over the whole call, including hidden reasoning. */
  readonly tokensPerSecond?: number | undefined
  readonly usage?: Usage | undefined
  /** Cost of the check, in USD. Omitted if the price is unknown. */
  readonly costUsd?: number | undefined
  readonly pricing?: Pricing | undefined
  /** The error message, on one line. */
  readonly error?: string | undefined
  /** The cooldown of the provider. Omitted if calls are currently sent. */
  readonly cooldown?: Cooldowns.Cooldown | undefined
}

const messages = [{ role: "user", content: "Write the numbers from 1 to 20, separated by spaces." }] as const

/** Output limit in tokens, sufficient for the answer and for the reasoning that some models produce. */
const maxOutputTokens = 512

const failed = (worker: Worker, error: string): Checked => ({
  worker: worker.id,
  reachable: false,
  pricing: worker.pricing,
  error: error.replaceAll(/\s+/g, " ").trim()
})

/** Creates the failure for a worker whose code threw an exception. */
const defective = (worker: Worker, detail: string) =>
  new WorkerError({ worker: worker.id, reason: { _tag: "Defect", detail } })

/** Sends one request to a worker. The worker counts as reachable if the response completes, whatever its content. */
const checkWorker = (worker: Worker, timeoutMillis: number): Effect.Effect<Checked> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const started = Elapsed.ticks(clock)
    const elapsedMillis = () => Elapsed.millisSince(clock, started)
    let latencyMillis: number | undefined
    let text = ""
    let usage: Usage | undefined
    const answer = WorkerStream.generate(worker, { messages, maxOutputTokens })
    if (!Stream.isStream(answer))
      return yield* defective(worker, "its generate function returned neither a Stream nor an Effect")
    yield* Stream.runForEach(answer, (part) =>
      Effect.sync(() => {
        if (part.type === "allowance") return
        latencyMillis ??= elapsedMillis()
        if (part.type === "finish") usage = part.usage
        else if (part.type === "text" || part.type === "reasoning") text += part.text
      })
    )
    const durationMillis = elapsedMillis()
    const estimate = () => estimateUsage(messages, text)
    const counted = usage === undefined ? estimate() : checked(usage, estimate)
    const costUsd = cost(worker.pricing, counted)
    return {
      worker: worker.id,
      reachable: true,
      latencyMillis: latencyMillis ?? 0,
      durationMillis,
      tokensPerSecond: durationMillis > 0 ? (1_000 * counted.outputTokens) / durationMillis : undefined,
      usage: counted,
      costUsd,
      pricing: worker.pricing
    } satisfies Checked
  }).pipe(
    Effect.catchDefect((defect) => defective(worker, messageOf(defect))),
    Effect.timeoutOrElse({
      duration: timeoutMillis,
      orElse: () =>
        Effect.succeed(failed(worker, `${worker.id} did not answer within ${Elapsed.inSeconds(timeoutMillis)}.`))
    }),
    Effect.catch((error: WorkerError) =>
      Effect.map(Clock.currentTimeMillis, (now) => ({
        ...failed(worker, error.message),
        cooldown: Cooldowns.asked(worker, error.reason, now)
      }))
    )
  )

/** Adds a cooldown reported by a server to a result. It takes precedence over a cooldown requested by the vendor. */
const withCooldown =
  (workers: ReadonlyArray<Worker>, cooldowns: ReadonlyArray<Cooldowns.Cooldown>) =>
  (result: Checked, at: number): Checked => {
    const provider = Cooldowns.providerOf(workers[at]!)
    return { ...result, cooldown: cooldowns.find((one) => one.provider === provider) ?? result.cooldown }
  }

/** Checks all workers in the pool concurrently and prints the results. Fails if any worker does not respond. */
export const check = Effect.fnUntraced(function* (input: CheckInput): Effect.fn.Return<void, Failure> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const pool = yield* RunOptions.resolvePool(config, input)
  const timeoutMillis = Option.getOrElse(input.timeout, () => 60_000)
  const server = Option.getOrElse(input.server, () => process.env.DIVISI_SERVER ?? "")
  const cooldowns = server === "" ? [] : yield* Cooldowns.ofServer(server)
  const checked = yield* Effect.forEach(pool.workers, (worker) => checkWorker(worker, timeoutMillis), {
    concurrency: "unbounded"
  })
  const results = checked.map(withCooldown(pool.workers, cooldowns))
  const known = new Set(pool.workers.map(Cooldowns.providerOf))
  const others = cooldowns.filter(({ provider }) => !known.has(provider))
  const lines = [...results, ...others.map((cooldown) => ({ provider: cooldown.provider, cooldown }))]
  const text = input.json ? lines.map((line) => JSON.stringify(line)).join("\n") : CheckText.text(results, others)
  stdout.write(`${text}\n`)
  if (results.some(({ reachable }) => !reachable)) return yield* silent(1)
})
