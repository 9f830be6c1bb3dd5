/**
 * Rollouts on several machines. One machine trains: it lists the groups of each iteration with the version of the
 * weights, and does the sampling for all. The others claim groups, execute their workflows and store the graded
 * rollouts; the first stored result is used. A group for outdated weights is dropped before it is paid for.
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

/** A shared list of tasks that machines claim and complete. `PostgresTasks` of `@divisi/cluster` implements it. */
export interface SharedTasks {
  readonly leaseMillis: number
  readonly claim: (count: number) => Effect.Effect<ReadonlyArray<string>, MachinesError>
  readonly renew: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, MachinesError>
  readonly release: (keys: ReadonlyArray<string>) => Effect.Effect<void, MachinesError>
  readonly answer: (key: string, body: string) => Effect.Effect<void, MachinesError>
  readonly find: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, MachinesError>
  readonly remove: Effect.Effect<void, MachinesError>
}

/** The stores shared by the machines. */
export interface Machines {
  /** The name of the training: machines with the same name share it. */
  readonly name: string
  /** Opens a list of tasks and adds tasks to it. */
  readonly open: (list: string, keys: ReadonlyArray<string>) => Effect.Effect<SharedTasks, MachinesError>
  /** Shared texts by name. */
  readonly notes: {
    readonly get: (name: string) => Effect.Effect<string | undefined, MachinesError>
    readonly set: (name: string, text: string) => Effect.Effect<void, MachinesError>
    readonly remove: (name: string) => Effect.Effect<void, MachinesError>
  }
  readonly journal: Journal.Journal
  /** The account of the training. If `maxCostUsd` is given, sets its cost limit. */
  readonly account: (maxCostUsd?: number | undefined) => Effect.Effect<Budget.Ledger, MachinesError>
  /** Reads the spend of all machines, for `spent` of the account. */
  readonly refresh: Effect.Effect<void, MachinesError>
}

/** The error for shared stores that cannot be used. */
export class MachinesError extends Data.TaggedError("MachinesError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** A list of groups. */
export interface OpenList {
  readonly list: string
  readonly phase: number
  /** The version of the weights. */
  readonly version: number
}

/** The state of a training that its machines share. */
export interface State {
  readonly config: TrainingConfig
  readonly isOver: boolean
  readonly open: ReadonlyArray<OpenList>
}

/** The polling interval of the database, in milliseconds. */
export const lookMillis = 100

const stateName = "state"

/** Returns the state of a training; `undefined` if it has not started. */
export const stateOf = ({ notes }: Machines): Effect.Effect<State | undefined, MachinesError> =>
  Effect.map(notes.get(stateName), (text) => (text === undefined ? undefined : JSON.parse(text)))

// -------------------------------------------------------------------------------------------------------------------
// Rollouts
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the journal for the runs of rollouts. Runs are always taken over, because the claim of a group decides which
 * machine executes them.
 */
export const keptIn = ({ journal, name }: Machines, phase: number) => {
  const names = new Map<string, Set<string>>()
  const kept: Kept = {
    journalOf: (id) => {
      const run = `${name}/${phase}.${id}`
      const [position = ""] = id.split(".")
      names.set(position, (names.get(position) ?? new Set()).add(run))
      // A rollout is executed again to its end, since its group is stored elsewhere.
      return Journal.storedAs(journal, run, id)
    },
    pay: () => {},
    lose: () => {}
  }
  /** Removes the runs of a group, whose rollouts are stored. */
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

/** Encodes the rollouts of a group as text. */
export const encode = ({ rollouts }: Group): string =>
  JSON.stringify(rollouts.map((rollout) => ({ ...rollout, rounds: rollout.rounds.map(plain) })))

/** Decodes the rollouts of a group. Equal prompts share one array, as when they were sampled. */
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

/** Claims groups of a list and makes them concurrently until `isDone`. If a claim is lost, its group is stopped. */
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

/** Samples that are requested at a time. */
const sampledAtOnce = 8

/** The number of looks after which a sample is requested again. */
const requestLooks = 100

/** Answers the requests of other machines for samples of these weights. Repeats what fails. */
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

/** A sampler that delegates to another machine. If the database is unreachable, it waits. */
export const remote = ({ notes, open }: Machines, version: number): Sampler => ({
  version,
  sample: (request) => {
    const text = JSON.stringify({ ...request, prompt: Array.from(request.prompt) })
    const key = createHash("sha256").update(`${version} ${text}`).digest("hex")
    const asked = Effect.gen(function* () {
      for (;;) {
        // Requested again after a while, since the machine that trains removes old requests.
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

/** Groups to make. */
export interface Wanted<E> {
  readonly phase: number
  readonly phaseIteration: number
  readonly sampler: Sampler
  readonly positions: ReadonlyArray<number>
  readonly concurrency: number
  /** Makes a group of rollouts on this machine. */
  readonly make: (position: number) => Effect.Effect<Group, E>
  /** Called for each completed group. */
  readonly onGroup: Effect.Effect<void, E>
}

/** The machines of a training, as seen by the training machine. */
export interface Lead {
  readonly ledger: Budget.Ledger
  readonly kept: KeptRollouts
  /** Returns the rollouts of some positions, made on any machine. */
  readonly groups: <E>(wanted: Wanted<E>) => Effect.Effect<ReadonlyArray<ReadonlyArray<Rollout>>, E | MachinesError>
}

/** Opens the shared stores of a training for the training machine. */
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
  /** The lists whose groups are stored. */
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
      // All of it is in the account.
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
