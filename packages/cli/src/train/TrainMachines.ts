/** The stores for `divisi train --on`, through which several machines generate the rollouts of one training run. */
import { Machines } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Failure, failed } from "../invocation/Failure.ts"
import type { Database } from "../stores/Database.ts"

/** Creates the shared stores for a training run. */
export const make = Effect.fnUntraced(function* (
  { modules, postgres }: Database["cluster"],
  training: string
): Effect.fn.Return<Machines.Machines, Failure, Scope.Scope> {
  const { PostgresAccounts, PostgresJournal, PostgresRecords, PostgresTasks } = modules
  const name = `training/${training}`
  const orFail = <A>(effect: Effect.Effect<A, { readonly message: string }>) =>
    Effect.mapError(effect, ({ message }) => new Machines.MachinesError({ detail: message }))
  const accounts = yield* Effect.mapError(PostgresAccounts.make(postgres), ({ message }) => failed(message))
  const account = (costUsd?: number) => accounts.open({ name, ...(costUsd !== undefined && { limits: { costUsd } }) })
  const notes = yield* PostgresRecords.make(postgres, { kind: name })
  return {
    name,
    open: (list, keys) =>
      Effect.map(orFail(PostgresTasks.open(postgres, { id: `${name}/${list}`, plan: "{}", keys })), (tasks) => ({
        leaseMillis: tasks.leaseMillis,
        claim: (count) => orFail(tasks.claim(count)),
        renew: (keys) => orFail(tasks.renew(keys)),
        release: (keys) => orFail(tasks.release(keys)),
        answer: (key, body) => orFail(tasks.answer(key, body)),
        find: (keys) => orFail(tasks.find(keys)),
        remove: orFail(tasks.remove)
      })),
    notes: {
      get: (note) => orFail(notes.get(note)),
      set: (note, text) => orFail(notes.set(note, text)),
      remove: (note) => orFail(notes.remove(note))
    },
    journal: yield* PostgresJournal.make(postgres),
    account: (maxCostUsd) => orFail(account(maxCostUsd)),
    refresh: orFail(Effect.flatMap(account(), ({ standing }) => standing))
  }
})

const recipeNote = "recipe"

/** Stores the recipe of a training run for the machines that join it. */
export const announce = ({ notes }: Machines.Machines, recipe: object): Effect.Effect<void, Failure> =>
  Effect.mapError(notes.set(recipeNote, JSON.stringify(recipe)), ({ message }) => failed(message))

/** Interval for checking whether a training run has started, in milliseconds. */
const lookMillis = 500

/** Waits until a training run has started, and returns its recipe. */
export const announced = (machines: Machines.Machines): Effect.Effect<unknown, Failure> =>
  Effect.flatMap(
    Effect.mapError(machines.notes.get(recipeNote), ({ message }) => failed(message)),
    (text) =>
      text === undefined
        ? Effect.andThen(Effect.sleep(lookMillis), announced(machines))
        : Effect.succeed(JSON.parse(text))
  )
