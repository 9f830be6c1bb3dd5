/**
 * Distributes rollouts over several machines. The training machine publishes the groups of each iteration together with
 * the version of the weights, and samples all completions. The other machines claim groups, execute their workflows and
 * store the graded rollouts; if a group is stored twice, the first result is used. Groups for outdated weights are
 * dropped before any call is paid for.
 */
import { createHash } from "node:crypto"
import { type Budget, Journal } from "@divisi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Sample, Sampler } from "./Engine.ts"
import type { KeptRollouts } from "./internal/keptRollouts.ts"
import type { Group, Kept, Rollout } from "./Rollout.ts"
import type { Mark } from "./RunLayout.ts"
import type { TrainingConfig } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Shared list of tasks that machines claim and complete. Implemented by `PostgresTasks` in `@divisi/cluster`. */
export interface SharedTasks {
  readonly leaseMillis: number
  readonly claim: (count: number) => Effect.Effect<ReadonlyArray<string>, MachinesError>
  readonly renew: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, MachinesError>
  readonly release: (keys: ReadonlyArray<string>) => Effect.Effect<void, MachinesError>
  readonly answer: (key: string, body: string) => Effect.Effect<void, MachinesError>
  readonly find: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, MachinesError>
  readonly remove: Effect.Effect<void, MachinesError>
}

/** Stores shared by all machines of a training run. */
export interface Machines {
  /** Name of the training run. Machines with the same name work on the same run. */
  readonly name: string
  /** Opens a task list and adds tasks to it. */
  readonly open: (list: string, keys: ReadonlyArray<string>) => Effect.Effect<SharedTasks, MachinesError>
  /** Shared key-value store for strings. */
  readonly notes: {
    readonly get: (name: string) => Effect.Effect<string | undefined, MachinesError>
    readonly set: (name: string, text: string) => Effect.Effect<void, MachinesError>
    readonly remove: (name: string) => Effect.Effect<void, MachinesError>
  }
  readonly journal: Journal.Journal
  /** Returns the shared account of the run. If `maxCostUsd` is given, it also sets the cost limit. */
  readonly account: (maxCostUsd?: number | undefined) => Effect.Effect<Budget.Ledger, MachinesError>
  /** Loads the combined spend of all machines into the account's `spent`. */
  readonly refresh: Effect.Effect<void, MachinesError>
}

/** Raised when the shared stores cannot be used. */
export class MachinesError extends Data.TaggedError("MachinesError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/**
 * Task list whose groups can be claimed.
 *
 * @internal
 */
export interface OpenList {
  readonly list: string
  readonly phase: number
  /** Version of the weights to sample from. */
  readonly version: number
}

/**
 * State of a training run that its machines share.
 *
 * @internal
 */
export interface State {
  readonly config: TrainingConfig
  readonly isOver: boolean
  readonly open: ReadonlyArray<OpenList>
}

/**
 * Polling interval for the database, in milliseconds.
 *
 * @internal
 */
export const lookMillis = 100

const stateName = "state"

/**
 * Returns the shared state of a run, or `undefined` if it has not started.
 *
 * @internal
 */
export const stateOf = ({ notes }: Machines): Effect.Effect<State | undefined, MachinesError> =>
  Effect.map(notes.get(stateName), (text) => (text === undefined ? undefined : JSON.parse(text)))

// -------------------------------------------------------------------------------------------------------------------
// Rollouts
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the journal for the Conductor runs of rollouts. Existing runs are always taken over, because the claim on a
 * group decides which machine executes them.
 *
 * @internal
 */
export const keptIn = ({ journal, name }: Machines, phase: number) => {
  const names = new Map<string, Set<string>>()
  const kept: Kept = {
    journalOf: (id) => {
      const run = `${name}/${phase}.${id}`
      const [position = ""] = id.split(".")
      names.set(position, (names.get(position) ?? new Set()).add(run))
      // Runs that have finished are executed again as well, because the group's result is stored elsewhere.
      return Journal.storedAs(journal, run, id)
    },
    pay: () => {},
    lose: () => {}
  }
  /** Removes the stored runs of a group once its rollouts are saved. */
  const sweep = (position: string) =>
    Effect.suspend(() => {
      const runs = [...(names.get(position) ?? [])]
      names.delete(position)
      return Effect.ignore(journal.remove(runs))
    })
  return { kept, sweep }
}

const plain = ({ sample, ...round }: Rollout["rounds"][number]) => ({
  ...round,
  prompt: Array.from(round.prompt),
  sample: { ...sample, tokens: Array.from(sample.tokens), logProbs: Array.from(sample.logProbs) }
})

/**
 * Serializes the rollouts of a group.
 *
 * @internal
 */
export const encode = ({ rollouts }: Group): string =>
  JSON.stringify(rollouts.map((rollout) => ({ ...rollout, rounds: rollout.rounds.map(plain) })))

/**
 * Parses the rollouts of a group. Equal prompts share one array, as they did when sampled.
 *
 * @internal
 */
export const decode = (text: string): ReadonlyArray<Rollout> => {
  const rollouts: ReadonlyArray<Rollout> = JSON.parse(text)
  const prompts = new Map<string, ReadonlyArray<number>>()
  return rollouts.map((rollout) => ({
    ...rollout,
    rounds: rollout.rounds.map((round) => {
      const key = round.prompt.join()
      const prompt = prompts.get(key) ?? round.prompt
      prompts.set(key, prompt)
      return { ...round, prompt }
    })
  }))
}

// -------------------------------------------------------------------------------------------------------------------
// Claims
// -------------------------------------------------------------------------------------------------------------------

/**
 * Claims groups from a list and executes them concurrently until `isDone`. If a claim is lost, work on its group is
 * stopped.
 *
 * @internal
 */
export const makeGroups = <E>(
  tasks: SharedTasks,
  concurrency: number,
  isDone: Effect.Effect<boolean, MachinesError>,
  make: (key: string) => Effect.Effect<string, E>
): Effect.Effect<void, E | MachinesError> => {
  const renewing = (key: string): Effect.Effect<void, MachinesError> =>
    Effect.flatMap(Effect.delay(tasks.renew([key]), tasks.leaseMillis / 3), (left) =>
      left.length === 0 ? Effect.void : renewing(key)
    )
  const one = (key: string): Effect.Effect<void, E | MachinesError> => {
    const made = Effect.flatMap(make(key), (body) => tasks.answer(key, body))
    return Effect.onError(Effect.raceFirst(made, renewing(key)), () => Effect.ignore(tasks.release([key])))
  }
  const worker: Effect.Effect<void, E | MachinesError> = Effect.gen(function* () {
    while (!(yield* isDone)) {
      const [key] = yield* tasks.claim(1)
      yield* key === undefined ? Effect.sleep(lookMillis) : one(key)
    }
  })
  return Effect.all(
    Array.from({ length: concurrency }, () => worker),
    { concurrency: "unbounded", discard: true }
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Sampling
// -------------------------------------------------------------------------------------------------------------------

const samplesOf = (version: number): string => `samples@${version}`

/** Maximum number of sampling requests claimed at a time. */
const sampledAtOnce = 8

/** Number of polls without an answer after which a sampling request is sent again. */
const requestLooks = 100

/** Serves sampling requests from other machines for these weights. Failed requests are retried. */
const serve = (machines: Machines, sampler: Sampler): Effect.Effect<void> => {
  const { notes, open } = machines
  const answer = Effect.fnUntraced(function* (tasks: SharedTasks, key: string) {
    const text = yield* notes.get(key)
    if (text === undefined) return yield* tasks.release([key])
    const samples = yield* sampler.sample(JSON.parse(text))
    const body = samples.map(({ logProbs, reason, tokens }) => ({
      tokens: Array.from(tokens),
      logProbs: Array.from(logProbs),
      reason
    }))
    yield* tasks.answer(key, JSON.stringify(body))
    yield* notes.remove(key)
  })
  const serving = Effect.gen(function* () {
    const tasks = yield* open(samplesOf(sampler.version), [])
    for (;;) {
      const keys = yield* tasks.claim(sampledAtOnce)
      yield* Effect.forEach(keys, (key) => Effect.tapError(answer(tasks, key), () => tasks.release([key])), {
        concurrency: "unbounded",
        discard: true
      })
      if (keys.length < sampledAtOnce) yield* Effect.sleep(lookMillis)
    }
  })
  return Effect.asVoid(Effect.retry(serving, Schedule.spaced("1 second"))) as Effect.Effect<void>
}

/**
 * Creates a sampler that delegates to the training machine. If the database is unreachable, it waits.
 *
 * @internal
 */
export const remote = ({ notes, open }: Machines, version: number): Sampler => ({
  version,
  sample: (request) => {
    const text = JSON.stringify({ ...request, prompt: Array.from(request.prompt) })
    const key = createHash("sha256").update(`${version} ${text}`).digest("hex")
    const asked = Effect.gen(function* () {
      for (;;) {
        // Send the request again after a while, because the training machine removes old requests.
        yield* notes.set(key, text)
        const tasks = yield* open(samplesOf(version), [key])
        for (let looks = 0; looks < requestLooks; looks++) {
          const body = (yield* tasks.find([key])).get(key)
          if (body !== undefined) return JSON.parse(body) as ReadonlyArray<Sample>
          yield* Effect.sleep(lookMillis)
        }
      }
    })
    return Effect.orDie(Effect.retry(asked, Schedule.spaced("1 second")))
  }
})

// -------------------------------------------------------------------------------------------------------------------
// The machine that trains
// -------------------------------------------------------------------------------------------------------------------

/** Groups to collect. */
interface CollectOptions<E> {
  readonly phase: number
  readonly phaseIteration: number
  readonly sampler: Sampler
  readonly positions: ReadonlyArray<number>
  readonly concurrency: number
  /** Executes a group of rollouts on this machine. */
  readonly make: (position: number) => Effect.Effect<Group, E>
  /** Runs after each completed group. */
  readonly onGroup: Effect.Effect<void, E>
}

/**
 * Handle that the training machine uses to distribute work.
 */
export interface Lead {
  readonly ledger: Budget.Ledger
  readonly kept: KeptRollouts
  /** Collects the rollouts for the given positions, executed on any of the machines. */
  readonly groups: <E>(
    wanted: CollectOptions<E>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<Rollout>>, E | MachinesError>
}

/**
 * Opens the shared stores on the training machine.
 *
 * @internal
 */
export const lead = Effect.fnUntraced(function* (
  machines: Machines,
  config: TrainingConfig,
  marked: Mark
): Effect.fn.Return<Lead, MachinesError, Scope.Scope> {
  const ledger = yield* machines.account(config.maxCostUsd)
  yield* machines.refresh
  let open: ReadonlyArray<OpenList> = []
  const say = (isOver: boolean) => {
    const state: State = { config, isOver, open }
    return machines.notes.set(stateName, JSON.stringify(state))
  }
  yield* say(false)
  yield* Effect.addFinalizer(() => {
    open = []
    return Effect.ignore(say(true))
  })
  let mark = marked
  /** Task lists whose groups are already stored. */
  let made: ReadonlyArray<{ readonly tasks: SharedTasks; readonly version: number } & Mark> = []
  const runs = new Map<number, ReturnType<typeof keptIn>>()
  const runsOf = (phase: number) => {
    const known = runs.get(phase) ?? keptIn(machines, phase)
    runs.set(phase, known)
    return known
  }
  const isCovered = (one: Mark) => one.phase < mark.phase || (one.phase === mark.phase && one.position < mark.position)
  return {
    ledger,
    kept: {
      inDoubt: { calls: 0, costUsd: 0 },
      // The account already contains all payments.
      paidUsd: () => 0,
      mark: () => mark,
      ofPhase: (phase) => runsOf(phase).kept,
      setMark: (next) => {
        mark = next
      },
      prune: Effect.suspend(() => {
        const gone = made.filter(isCovered)
        made = made.filter((one) => !isCovered(one))
        const samples = ({ version }: { readonly version: number }) =>
          Effect.flatMap(machines.open(samplesOf(version), []), ({ remove }) => remove)
        return Effect.forEach(gone, (one) => Effect.ignore(Effect.andThen(one.tasks.remove, samples(one))), {
          discard: true
        })
      }),
      forgetLost: () => Effect.void
    },
    groups: Effect.fnUntraced(function* (wanted) {
      const { concurrency, make, onGroup, phase, phaseIteration, positions, sampler } = wanted
      const list = `${phase}.${phaseIteration}@${sampler.version}`
      const keys = positions.map(String)
      const tasks = yield* machines.open(list, keys)
      const position = Math.max(...positions)
      const { version } = sampler
      made = [...made, { tasks, phase, position, version }]
      const own = { list, phase, version }
      open = [...open, own]
      yield* say(false)
      const found = new Map<string, string>()
      const look = Effect.gen(function* () {
        for (const [key, body] of yield* tasks.find(keys.filter((key) => !found.has(key)))) {
          if (found.has(key)) continue
          found.set(key, body)
          yield* onGroup
        }
        return found.size === keys.length
      })
      const { sweep } = runsOf(phase)
      const here = (key: string) => Effect.tap(Effect.map(make(Number(key)), encode), () => sweep(key))
      const working = makeGroups(
        tasks,
        concurrency,
        Effect.sync(() => found.size === keys.length),
        here
      )
      const waiting: Effect.Effect<void, MachinesError | Effect.Error<typeof onGroup>> = Effect.flatMap(
        look,
        (isDone) => (isDone ? Effect.void : Effect.andThen(Effect.sleep(lookMillis), waiting))
      )
      const all = Effect.all([waiting, working], { concurrency: "unbounded", discard: true })
      yield* Effect.raceFirst(all, Effect.andThen(serve(machines, sampler), Effect.never))
      open = open.filter((one) => one !== own)
      yield* say(false)
      yield* machines.refresh
      return keys.map((key) => decode(found.get(key)!))
    })
  }
})
