/** `divisi runs`: lists, shows, resumes, forks and deletes the runs in a journal. */
import { randomUUID } from "node:crypto"
import fs from "node:fs"
import { Journal, Nearest, type Tool, Transcript } from "@divisi/core"
import { question } from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import type * as DivisiConfig from "../config.ts"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import { listOf } from "../invocation/flags.ts"
import { stdout } from "../invocation/Output.ts"
import * as TextFile from "../invocation/TextFile.ts"
import * as Run from "../run/Run.ts"
import * as Journals from "../stores/Journals.ts"
import * as RunOptions from "../team/RunOptions.ts"
import * as Format from "../view/Format.ts"
import * as PlainView from "../view/PlainView.ts"
import type { DeleteInput, ForkInput, ListInput, ResumeInput, ShowInput } from "./flags.ts"
import * as RunsText from "./RunsText.ts"

const print = (text: string): void => void stdout.write(`${text}\n`)

/** Whether servers use a database here, which `divisi runs` reads only with `--database`. */
const hasServers = Effect.match(Config.Redacted("DIVISI_DATABASE"), { onFailure: () => false, onSuccess: () => true })

/** Lists runs, most recently changed first. */
export const list = (input: ListInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* Journals.open(input.journal, input.database)
      const now = yield* Clock.currentTimeMillis
      const { minCost, newerThan, state, worker } = input
      const isMeant = (run: Journal.Summary) =>
        Option.match(state, { onNone: () => true, onSome: (state) => Journal.stateOf(run) === state }) &&
        Option.match(worker, { onNone: () => true, onSome: (id) => run.workers.includes(id) }) &&
        Option.match(minCost, { onNone: () => true, onSome: (usd) => run.costUsd >= usd }) &&
        Option.match(newerThan, { onNone: () => true, onSome: (age) => now - run.changedAt <= age })
      const all = yield* Journals.list(journal)
      const runs = all.filter(isMeant).sort((left, right) => right.changedAt - left.changedAt)
      const shown = runs.slice(0, input.limit)
      if (input.json)
        return print(
          JSON.stringify(
            shown.map((run) => ({ ...run, state: Journal.stateOf(run) })),
            null,
            2
          )
        )
      if (all.length === 0) return print(RunsText.none(input, yield* hasServers))
      if (runs.length === 0) return print(`No run matches the filters (${Format.count(all.length, "run")} in total).`)
      print(RunsText.list(shown, now, runs.length))
    })
  )

/** Displays a run like `divisi replay`, or prints its events. */
export const show = (input: ShowInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* Journals.open(input.journal, input.database)
      const summary = yield* Journals.find(journal, input.id, input)
      const events = yield* Journals.events(journal, summary.run)
      if (input.json) return print(events.map((event) => JSON.stringify(event)).join("\n"))
      const transcript = Transcript.fromEvents(events)!
      for (const { lines } of PlainView.entries(transcript)) print(lines.join("\n"))
      print(RunsText.state(summary, input, Transcript.pendingCalls(transcript)))
    })
  )

/** Parses `--approve`, which accepts ids of pending calls (with dots) and tool names (without dots). */
const approved = (flag: ReadonlyArray<string>) => {
  const names = flag.flatMap(listOf)
  const tools = names.filter((name) => !name.includes("."))
  return {
    calls: names.filter((name) => name.includes(".")),
    tools: tools.length === 0 ? Option.none<string>() : Option.some(tools.join(","))
  }
}

/** Returns the results for the run's pending calls. */
const given = ({
  approve,
  decline,
  result
}: ResumeInput): Effect.Effect<Readonly<Record<string, Tool.Given>>, Failure> => {
  const results: Array<readonly [string, Tool.Given]> = [
    ...approved(approve).calls.map((id) => [id, { approved: true }] as const),
    ...decline.map((id) => [id, { approved: false }] as const)
  ]
  for (const text of result) {
    const at = text.indexOf("=")
    if (at < 1) return Effect.fail(usage(`--result ${text}: expected <call id>=<result>, such as 0.0.0.0=42.`))
    results.push([text.slice(0, at), text.slice(at + 1)])
  }
  return Effect.succeed(Object.fromEntries(results))
}

/** Fails if a worker of the run is provided neither by the config nor by a known vendor. */
const checkWorkers = Effect.fnUntraced(function* (
  config: DivisiConfig.Config,
  workers: ReadonlyArray<string>,
  question: string
): Effect.fn.Return<void, Failure> {
  const equipped = yield* Run.equipped({}, question)
  const own = WorkerPool.ids(yield* RunOptions.basePool(config.pool === undefined ? equipped : config))
  const others = workers.filter((id) => !own.includes(id))
  if (others.length === 0) return
  const WorkerName = yield* Effect.promise(() => import("../vendors/WorkerName.ts"))
  const missing = yield* Effect.filter(others, (id) => Effect.map(WorkerName.hasVendor(id), (has) => !has))
  if (missing.length === 0) return
  const [used, are] = missing.length === 1 ? ["the worker", "is"] : ["the workers", "are"]
  const offline = WorkerPool.ids(yield* RunOptions.basePool(equipped))
  const remedy = missing.every((id) => offline.includes(id))
    ? "They belong to the offline gym. To use it, pass --config none."
    : "Pass the run's config with --config, or choose other workers with --pool."
  return yield* usage(`The run used ${used} ${missing.join(", ")}, which ${are} not in the current config. ${remedy}`)
})

/** Fails if the worker of `--worker` is provided neither by the config nor by a known vendor. */
const checkWorker = Effect.fnUntraced(function* (
  config: DivisiConfig.Config,
  worker: string
): Effect.fn.Return<void, Failure> {
  const own = WorkerPool.ids(yield* RunOptions.basePool(config))
  if (own.includes(worker)) return
  const WorkerName = yield* Effect.promise(() => import("../vendors/WorkerName.ts"))
  if (yield* WorkerName.hasVendor(worker)) return
  const otherwise = `Use one of ${own.join(", ")}, or a model such as openai:gpt-6.1-sol.`
  const KnownModels = yield* Effect.promise(() => import("../vendors/KnownModels.ts"))
  const hint = Nearest.didYouMean(Nearest.nearest(worker, own) ?? KnownModels.fullName(worker), otherwise)
  return yield* usage(`--worker: unknown worker "${worker}".${hint}`)
})

/** Resumes a run. Defaults to the run's original workers if `--pool` is omitted. */
export const resume = (input: ResumeInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* (): Effect.fn.Return<void, Failure, Scope.Scope> {
      const results = yield* given(input)
      const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
      const journal = yield* Journals.open(input.journal, input.database)
      const { ending, run, workers } = yield* Journals.find(journal, input.id, input)
      const [begun] = yield* Journals.events(journal, run)
      const asked = begun?.type === "run-started" ? question(begun.task) : ""
      if (Option.isNone(input.pool)) yield* checkWorkers(config, workers, asked)
      const pool = Option.orElse(input.pool, () => Option.some(workers.join(",")))
      const team = { ...input, pool, seed: Option.none<number>(), approve: approved(input.approve).tools }
      const kept = { journal, runId: run, hasEnded: ending !== undefined && Journal.isFinal(ending), place: input }
      yield* Run.perform(config, team, asked, kept, (conductor, options) =>
        conductor.resume({ runId: run, results }, options)
      )
    })
  )

/** Parses `--at`: the round and the step, optionally followed by an item in brackets. */
const placeIn = ({ at }: ForkInput) => {
  const place = Option.isNone(at) ? undefined : Transcript.readPlace(at.value)
  const form =
    "round.step, such as 0.2, 0.2[1] for item 1 of a step that runs once per item, or 0.2/0.1 for step 0.1 of the run nested in step 0.2."
  if (place !== undefined) return Effect.succeed(place)
  return Effect.fail(
    usage(Option.isNone(at) ? `Pass --at with the step to fork at: ${form}` : `--at: expected ${form}`)
  )
}

/** Maximum size of a file with an answer or a plan, in bytes. */
const mostText = 10_000_000

const textIn = (flag: string, file: string): Effect.Effect<string, Failure> =>
  Effect.try({
    try: () => {
      if (fs.statSync(file).size > mostText) throw new Error("it is larger than 10 MB")
      return TextFile.read(file).trimEnd()
    },
    catch: (error) => usage(`${flag}: cannot read ${file}: ${messageOf(error, file)}.`)
  })

const answerIn = ({ answer, answerFile }: ForkInput): Effect.Effect<string | undefined, Failure> => {
  if (Option.isNone(answerFile)) return Effect.succeed(Option.getOrUndefined(answer))
  if (Option.isSome(answer)) return Effect.fail(usage("Use either --answer or --answer-file."))
  return textIn("--answer-file", answerFile.value)
}

/** Continues a run from one of its steps, as a new run in the same journal. */
export const fork = (input: ForkInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* (): Effect.fn.Return<void, Failure, Scope.Scope> {
      const at = yield* placeIn(input)
      const answer = yield* answerIn(input)
      const plan = Option.isNone(input.plan) ? undefined : yield* textIn("--plan", input.plan.value)
      const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
      const journal = yield* Journals.open(input.journal, input.database)
      const { run, workers } = yield* Journals.find(journal, input.id, input)
      const worker = Option.getOrUndefined(input.worker)
      const members = worker === undefined || workers.includes(worker) ? workers : [...workers, worker]
      const [begun] = yield* Journals.events(journal, run)
      const asked = begun?.type === "run-started" ? question(begun.task) : ""
      if (Option.isNone(input.pool)) {
        yield* checkWorkers(config, workers, asked)
        if (worker !== undefined) yield* checkWorker(config, worker)
      }
      const pool = Option.orElse(input.pool, () => Option.some(members.join(",")))
      const team = { ...input, pool, seed: Option.none<number>() }
      const kept = { journal, runId: randomUUID(), hasEnded: false, place: input }
      const subtask = Option.getOrUndefined(input.subtask)
      const change = { ...(worker !== undefined && { worker }), ...(subtask !== undefined && { subtask }) }
      yield* Run.perform(config, team, asked, kept, (conductor, options) =>
        conductor.fork({ runId: run, at, answer, change, plan }, options)
      )
    })
  )

const deleted = (runs: ReadonlyArray<string>, json: boolean): void =>
  print(json ? JSON.stringify(runs) : runs.length === 0 ? "No runs were deleted." : `Deleted: ${runs.join(", ")}`)

/** Deletes runs by id or by age, or the oldest runs until a size limit holds. */
export const remove = (input: DeleteInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { ids, json, maxMegabytes, olderThan } = input
      const isPruned = Option.isSome(olderThan) || Option.isSome(maxMegabytes)
      if (ids.length > 0 === isPruned)
        return yield* usage("Pass run ids, or select runs with --older-than or --max-megabytes.")
      const journal = yield* Journals.open(input.journal, input.database)
      const told = Effect.mapError(({ message }: Journal.JournalError) => failed(message))
      if (isPruned) {
        const bounds = {
          olderThanMillis: Option.getOrUndefined(olderThan),
          maxBytes: Option.getOrUndefined(Option.map(maxMegabytes, (mega) => mega * 1_000_000))
        }
        return deleted(yield* told(Journal.prune(journal, bounds)), json)
      }
      const found = yield* Effect.forEach(ids, (id) => Journals.find(journal, id, input))
      const gone = yield* told(journal.remove(found.map(({ run }) => run)))
      deleted(gone, json)
      const kept = found.filter(({ run }) => !gone.includes(run))
      if (kept.length > 0) {
        const why = kept.map(({ owner, run }) => `${run} (in progress: ${owner ?? "unknown process"})`)
        return yield* failed(`Not deleted: ${why.join(", ")}.`)
      }
    })
  )
