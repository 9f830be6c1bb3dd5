/** `divisi pool record`: sends every question to every worker in a pool, and stores the graded answers. */
import { existsSync } from "node:fs"
import path from "node:path"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { ReportFile } from "@divisi/evals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Evaluate from "../eval/Evaluate.ts"
import type { EvalInput } from "../eval/flags.ts"
import * as ReportText from "../eval/ReportText.ts"
import * as Suites from "../eval/Suites.ts"
import { exitCodes, Failure, usage } from "../invocation/Failure.ts"
import { quoted } from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as Format from "../view/Format.ts"
import { evaluationFlags } from "./evaluationFlags.ts"
import type { RecordInput } from "./flags.ts"
import * as HeldOut from "./HeldOut.ts"
import * as RecordPrice from "./RecordPrice.ts"

const say = (text: string): void => void process.stderr.write(`${text}\n`)

const questionsOf = (input: RecordInput) =>
  Effect.gen(function* () {
    const sandbox = yield* Suites.sandbox(input.sandbox)
    const { tasks } = yield* Suites.one(path.resolve(input.questions), {
      seed: 0,
      grader: Option.getOrUndefined(input.grader),
      sandbox
    })
    const heldOut = tasks.filter(HeldOut.isHeldOut).length
    const { least } = HeldOut
    if (heldOut < least || tasks.length - heldOut < least) {
      return yield* usage(
        `${input.questions} has ${Format.count(tasks.length, "question")}: ${tasks.length - heldOut} for training, and ${heldOut} held out for evaluation. Each part needs at least ${least}. For reliable results, use 200 or more questions.`
      )
    }
    return tasks
  })

const poolOf = Effect.fnUntraced(function* (input: RecordInput) {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  if (RunOptions.isGym(config, { pool: input.pool })) {
    const [why, remedy] = Option.isNone(input.pool)
      ? ["No workers are set", "Set --pool"]
      : ["The gym's workers only answer the gym's own questions", "Choose other workers with --pool"]
    return yield* usage(`${why}. ${remedy}, e.g. openai:gpt-6.1-terra,ollama:qwen3:8b, or set a pool in the config.`)
  }
  const limitUsd = Option.getOrUndefined(input.maxCost)
  const resolved = RunOptions.resolvePool(config, input, limitUsd)
  if (!input.dryRun) return yield* resolved
  const { NeedsKeys } = yield* Effect.promise(() => import("../vendors/WorkerName.ts"))
  return yield* Effect.provideService(resolved, NeedsKeys, false)
})

const evaluationOf = (input: RecordInput, pool: WorkerPool.WorkerPool): EvalInput => {
  const alone = WorkerPool.ids(pool).map((id) => `single:${id}`)
  const others = Option.toArray(input.policy)
  return evaluationFlags({
    benchmark: path.resolve(input.questions),
    policy: Option.some([...alone, ...others].join(",")),
    out: input.out,
    pool: input.pool,
    config: input.config,
    price: input.price,
    threads: input.threads,
    grader: input.grader,
    sandbox: input.sandbox,
    epochs: input.samples,
    maxCost: input.maxCost,
    maxOutputTokens: input.maxOutputTokens,
    temperature: input.temperature,
    concurrency: input.concurrency,
    retryMissing: true
  })
}

/** Stops the recording at its time limit. Recorded answers remain in the folder. */
const within = <A>(millis: Option.Option<number>, effect: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
  Option.match(millis, {
    onNone: () => effect,
    onSome: (duration) =>
      Effect.timeoutOrElse(effect, {
        duration,
        orElse: () =>
          Effect.fail(
            new Failure({
              exitCode: exitCodes.budget,
              message: "The recording was stopped by --max-time. Run the same command again to continue."
            })
          )
      })
  })

/** Shows the estimated price, records the answers, and shows the workers' scores. */
export const record = (input: RecordInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const tasks = yield* questionsOf(input)
    const pool = yield* poolOf(input)
    const maxOutputTokens = Option.getOrUndefined(input.maxOutputTokens)
    const price = RecordPrice.of({ pool, tasks, samples: input.samples, maxOutputTokens })
    const total = RecordPrice.total(price)
    if (input.dryRun) {
      stdout.write(
        input.json ? `${JSON.stringify({ questions: tasks.length, price, total })}\n` : `${RecordPrice.text(price)}\n`
      )
      return
    }
    say(RecordPrice.text(price))
    if (existsSync(path.join(input.out, ReportFile.names.journal))) {
      say(`Answers to the same questions in ${input.out} are reused at no cost.`)
    }
    if (Option.isNone(input.maxCost) && total.mostUsd !== 0) {
      const unpriced = price.filter(({ mostUsd }) => mostUsd === undefined).map(({ worker }) => worker)
      return yield* usage(
        unpriced.length === 0
          ? "Set a cost limit with --max-cost, in USD. No worker was called."
          : `The price of ${unpriced.join(", ")} is unknown. Set it with --price, e.g. --price ${unpriced[0]}=0.5/1.5 (USD per million input and output tokens; 0 if it is free), and a limit with --max-cost. No worker was called.`
      )
    }
    const evaluation = evaluationOf(input, pool)
    const measured = yield* within(input.maxTime, Evaluate.measure(evaluation))
    const { report } = measured
    stdout.write(
      input.json
        ? `${JSON.stringify(report)}\n`
        : `${ReportText.text(report, stdout.columns, "; run the same command again to measure them")}\n`
    )
    yield* Evaluate.ending(evaluation, measured)
    say(`Recorded in ${input.out}. Next: divisi pool train ${quoted(input.out)}`)
  }).pipe(Effect.scoped)
