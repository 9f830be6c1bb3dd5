/** The commands for runs on a cluster: work, submit, follow and cancel. */
import { randomUUID } from "node:crypto"
import { type Budget, Options } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Config } from "../config.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Database from "../stores/Database.ts"
import * as Retention from "../stores/Retention.ts"
import * as Services from "../stores/Services.ts"
import * as Profiles from "../team/Profiles.ts"
import * as RunOptions from "../team/RunOptions.ts"
import { cut, oneLine } from "../view/Line.ts"
import type { RunInput, SubmitInput, WorkInput } from "./flags.ts"
import * as HealthPort from "./HealthPort.ts"
import * as Place from "./Place.ts"

const print = (text: string) => Effect.sync(() => void stdout.write(`${text}\n`))

/** Deletes data older than the retention period at regular intervals while the worker is running. */
const retaining = Effect.fnUntraced(function* (
  input: WorkInput,
  config: Config,
  database: Database.Database | undefined
): Effect.fn.Return<void, Failure, Scope.Scope> {
  const keepMillis = Retention.periodOf(input.keep, config)
  if (keepMillis === undefined) return
  const stores = yield* Retention.storesOf({ database, cache: Services.of(config, input).cache })
  const keeping = Retention.keeping(stores, keepMillis, {
    onPurged: (stores) => void stdout.write(`Deleted data older than --keep: ${Retention.textOf(stores)}\n`),
    onFailed: (message) =>
      void process.stderr.write(`divisi: ${message} Expired data could not be deleted. Retrying in an hour.\n`),
    vacuum: database?.vacuum
  })
  yield* Effect.forkScoped(keeping)
})

/** Returns the id of a run, or fails if no run can have it. */
const checkedId = (id: string): Effect.Effect<string, Failure> => {
  const rule = Options.runId(id)
  return rule === undefined ? Effect.succeed(id) : Effect.fail(usage(`The id of a run must be ${rule}.`))
}

/** Opens the account that the runs of all servers share. */
const totalOf = (limitUsd: number, { accounts }: Database.Database): Effect.Effect<Budget.Ledger, Failure> =>
  Effect.flatMap(accounts, (accounts) =>
    Database.orFail(accounts.open({ name: "cluster", limits: { costUsd: limitUsd } }))
  )

const works = Effect.fnUntraced(function* (input: WorkInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const { ClusterRuns, ...place } = yield* Place.runs(input)
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const profiles = Option.isNone(input.profiles) ? undefined : yield* Profiles.read(input.profiles.value)
  const conductor = Conductor.make(yield* RunOptions.resolve(config, input, { profiles }))
  const address = { ...input.address, listenHost: Option.getOrUndefined(input.listen) }
  const kubernetes = Option.getOrUndefined(Option.map(input.kubernetes, (namespace) => ({ namespace })))
  const isGym = RunOptions.isGym(config, input)
  const limitUsd = Option.getOrUndefined(input.maxTotalCost)
  const usesDatabase =
    config.limits !== undefined || limitUsd !== undefined || Retention.periodOf(input.keep, config) !== undefined
  const database = usesDatabase
    ? yield* Database.open(input.database, Effect.succeed(config), Database.waiting())
    : undefined
  const ledger = limitUsd === undefined || database === undefined ? undefined : yield* totalOf(limitUsd, database)
  const working = Effect.scoped(
    Effect.gen(function* () {
      const runs = yield* Database.orFail(
        ClusterRuns.make({
          ...place,
          ...Database.waiting(),
          worker: { address, conductor, concurrency: input.concurrency, kubernetes, optionsOf: () => ({ ledger }) }
        })
      )
      if (Option.isSome(input.healthPort)) {
        yield* HealthPort.listen(runs, address.listenHost ?? address.host, input.healthPort.value)
      }
      yield* retaining(input, config, database)
      yield* print(`Executing runs at ${address.host}:${address.port}`)
      yield* Database.orFail(runs.drained)
      yield* print(`${address.host}:${address.port} drains: its runs continue on other servers.`)
    })
  )
  yield* Services.provide(working, { ...Services.of(config, input), isGym, database })
})

/** Executes runs from the cluster until the process is stopped. */
export const work = (input: WorkInput): Effect.Effect<void, Failure> => Effect.scoped(works(input))

/** Connects to the cluster as a client. */
const joined = Effect.fnUntraced(function* (input: Place.Input) {
  const { ClusterRuns, ...place } = yield* Place.runs(input)
  return yield* Database.orFail(ClusterRuns.make({ ...place, ...Database.waiting() }))
})

/** Submits a run to the cluster. */
export const submit = (input: SubmitInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const id = yield* checkedId(Option.getOrElse(input.runId, () => randomUUID()))
      const runs = yield* joined(input)
      const known = Option.isNone(input.runId) ? undefined : yield* Database.orFail(runs.journal.find(id))
      if (known !== undefined && known.question !== input.question) {
        return yield* usage(
          `Run "${id}" already exists and has a different question: "${cut(oneLine(known.question), 60)}". Choose another --run-id.`
        )
      }
      yield* runs.submit(id, input.question, { startAt: Option.getOrUndefined(input.at) })
      if (!input.follow) return yield* print(id)
      const { answer, detail, ending } = yield* runs.result(id)
      if (answer !== undefined) yield* print(answer)
      if (ending !== "answered") return yield* failed(`Run ${id} ended with status ${ending}. ${detail ?? ""}`.trim())
    })
  )

/** Prints the entries of a run as they are written. */
export const follow = (input: RunInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* checkedId(input.run)
      const runs = yield* joined(input)
      if ((yield* Database.orFail(runs.journal.find(input.run))) === undefined) {
        process.stderr.write(`divisi: run ${input.run} has not started; waiting for it. Press Ctrl-C to stop.\n`)
      }
      yield* Stream.runForEach(runs.follow(input.run), ({ body }) => print(body))
    })
  )

/** Cancels a run, and says what that means for it. */
export const cancel = (input: RunInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* checkedId(input.run)
      const runs = yield* joined(input)
      const before = yield* runs.poll(input.run)
      if (Option.isSome(before)) return yield* print(`Run ${input.run} has already ended: ${before.value.ending}.`)
      yield* Database.orFail(runs.cancel(input.run))
      const known = yield* Database.orFail(runs.journal.find(input.run))
      yield* print(
        known === undefined
          ? `Run ${input.run} has not started. It will be cancelled as soon as a server picks it up.`
          : `Cancelled run ${input.run}.`
      )
    })
  )
