/** The commands for operating a cluster: status, drain, migrate and purge. */
import type { Operations } from "@divisi/cluster"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Database from "../stores/Database.ts"
import type { DrainInput, PlaceInput, PurgeInput, StatusInput } from "./flags.ts"
import * as Place from "./Place.ts"

const print = (text: string) => Effect.sync(() => void stdout.write(`${text}\n`))

const seconds = (millis: number) => `${Math.max(0, Math.round(millis / 1_000))} s ago`

const lines = ({
  owners,
  pendingMessages,
  scheduledRuns,
  servers,
  trainings,
  works
}: Operations.Status): ReadonlyArray<string> => [
  servers.length === 0 ? "No servers are running." : "Servers:",
  ...servers.map(({ address, isDraining, isHealthy, seenMillis, versionGroup }) => {
    const health = isHealthy ? "healthy" : "unhealthy"
    const group = versionGroup === undefined ? "" : `, version group ${versionGroup}`
    return `  ${address}  ${isDraining ? `${health}, draining` : health}, seen ${seconds(seenMillis)}${group}`
  }),
  `Pending messages: ${pendingMessages}`,
  ...(scheduledRuns === 0 ? [] : [`Scheduled runs: ${scheduledRuns}`]),
  ...(owners.length === 0 ? [] : ["Runs in progress:"]),
  ...owners.map(({ process, runs }) => `  ${process}  ${runs}`),
  ...shared("evaluations", "samples", works),
  ...shared("trainings", "groups", trainings)
]

/** Formats one kind of shared work list, such as evaluations. */
const shared = (kind: string, unit: string, works: Operations.Status["works"]): ReadonlyArray<string> => [
  ...(works.length === 0 ? [] : [`Shared ${kind}:`]),
  ...works.map(({ answered, claimed, id, tasks }) => `  ${id}  ${answered} of ${tasks} ${unit}, ${claimed} in progress`)
]

/** Prints the cluster's status. */
export const status = (input: StatusInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { modules, postgres } = yield* Place.open(input)
      const state = yield* Database.orFail(
        modules.Operations.status(postgres, Option.getOrUndefined(input.versionGroup))
      )
      yield* print(input.json ? JSON.stringify(state) : lines(state).join("\n"))
    })
  )

/** Asks a server to drain: it finishes its current runs and accepts no new ones. */
export const drain = (input: DrainInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { modules, postgres } = yield* Place.open(input)
      const { servers } = yield* Database.orFail(
        modules.Operations.status(postgres, Option.getOrUndefined(input.versionGroup))
      )
      const server = servers.find(({ address }) => address === input.address)
      if (server === undefined) {
        const names = servers.map(({ address }) => address).join(", ") || "none"
        return yield* usage(`Server ${input.address} not found. Known servers: ${names}.`)
      }
      yield* Database.orFail(modules.Operations.drain(postgres, input.address))
      yield* print(
        server.isHealthy
          ? `${input.address} drains.`
          : `${input.address} was last seen ${seconds(server.seenMillis)}. If its process is still running, it starts to drain as soon as it responds.`
      )
    })
  )

/** Creates or migrates the database tables of this package and of Effect's cluster. */
export const migrate = (input: PlaceInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { ClusterRuns, ...place } = yield* Place.runs(input)
      yield* Database.orFail(ClusterRuns.make({ ...place, ...Database.waiting() }))
      yield* print("The tables are up to date.")
    })
  )

const defaultAge = 90 * 86_400_000

/** Deletes old evaluations and old run messages. */
export const purge = (input: PurgeInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { modules, postgres } = yield* Place.open(input)
      const age = Option.getOrElse(input.olderThan, () => defaultAge)
      const count = yield* Database.orFail(modules.Operations.purge(postgres, age))
      const { entries: runs } = yield* Database.orFail(modules.Operations.purgeMessages(postgres, age))
      yield* print(
        `Removed ${count} shared ${count === 1 ? "evaluation" : "evaluations"}, and the messages of ${runs} ${runs === 1 ? "run" : "runs"}.`
      )
    })
  )
