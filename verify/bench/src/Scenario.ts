/**
 * The stress check: many concurrent runs with one ledger and one provider gate, with workers that sometimes fail and
 * runs that are interrupted. Every call is counted independently by the workers, the events, the results and the
 * ledger, and all four must agree to the last call and token.
 */
import { Budget, type RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import type { Usage } from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Hash from "effect/Hash"
import * as Stream from "effect/Stream"
import { fiveSteps } from "./Workload.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The parameters of the stress check. */
export interface Scenario {
  readonly name: string
  readonly runs: number
  /** Limits of the ledger shared by all runs. */
  readonly budget: Budget.Limits
  /** Limits for each of the two providers. */
  readonly limits: Readonly<Record<keyof ProviderGate.Limits, number>>
  /** Share of calls that fail once and are retried. */
  readonly failing: number
  /** Share of runs that are interrupted at some point. */
  readonly interrupted: number
}

/** A condition that must hold. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly expected: unknown
  readonly actual: unknown
}

export interface Outcome {
  readonly name: string
  readonly runs: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly calls: number
  readonly failedCalls: number
  readonly interruptedCalls: number
  readonly wallMillis: number
  readonly checks: ReadonlyArray<Check>
}

// -------------------------------------------------------------------------------------------------------------------
// Chance
// -------------------------------------------------------------------------------------------------------------------

/** Returns a pseudo-random number from 0 to 1 that depends only on the given values. */
const chance = (...parts: ReadonlyArray<string | number>): number => {
  // Hashes of similar strings have similar low bits, so the bits are mixed.
  let bits = Hash.string(parts.join("/")) | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b)
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}

// -------------------------------------------------------------------------------------------------------------------
// Workers
// -------------------------------------------------------------------------------------------------------------------

/** The calls as recorded by the workers. */
interface Books {
  calls: number
  failures: number
  tokens: number
  running: number
  /** Number of calls and answers by run and step. */
  readonly callsOf: Map<string, number>
  readonly answersOf: Map<string, number>
  readonly providers: Map<string, { running: number; most: number; readonly starts: Array<number> }>
  readonly begunAt: number
}

const bump = (counts: Map<string, number>, key: string): number => {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}

const failures: ReadonlyArray<WorkerErrorReason> = [
  { _tag: "Overloaded" },
  { _tag: "Network" },
  { _tag: "RateLimited", retryAfterMillis: 5 }
]

const openBooks = (): Books => ({
  calls: 0,
  failures: 0,
  tokens: 0,
  running: 0,
  callsOf: new Map(),
  answersOf: new Map(),
  providers: new Map(["left", "right"].map((key) => [key, { running: 0, most: 0, starts: [] }])),
  begunAt: performance.now()
})

/** Returns the run to which a request belongs, which is named in its question. */
const runOf = (text: string): string => /run \d+/.exec(text)?.[0] ?? "no run"

const usageOf = (key: string): Usage => ({
  inputTokens: 20 + Math.floor(chance(key, "input") * 30),
  outputTokens: 1 + Math.floor(chance(key, "output") * 40)
})

const makeWorker = (scenario: Scenario, books: Books, step: number): Worker => {
  const provider = step % 2 === 0 ? "left" : "right"
  const id = `worker-${step}`
  const seen = books.providers.get(provider)!

  const begin = () => {
    books.calls += 1
    books.running += 1
    seen.running += 1
    seen.most = Math.max(seen.most, seen.running)
    seen.starts.push(performance.now())
  }
  const end = () => {
    books.running -= 1
    seen.running -= 1
  }
  const reply = (key: string, call: number): Stream.Stream<WorkerPart, WorkerError> => {
    if (call === 1 && chance(key, "fails") < scenario.failing) {
      books.failures += 1
      const reason = failures[Math.floor(chance(key, "how") * failures.length)]!
      return Stream.fail(new WorkerError({ worker: id, reason, usage: usageOf(key) }))
    }
    bump(books.answersOf, key)
    return Stream.fromArray<WorkerPart>([
      { type: "text", text: `the answer of ${key}` },
      { type: "finish", reason: "stop", usage: usageOf(key) }
    ])
  }
  return {
    id,
    provider,
    pricing: { inputPerMillion: 1, outputPerMillion: 4, perCall: 0.0001 },
    limits: { maxOutputTokens: 50 },
    countInputTokens: () => 50,
    generate: ({ messages }) => {
      const key = `${runOf(String(messages.at(-1)!.content))}, step ${step}`
      return Stream.unwrap(
        Effect.gen(function* () {
          begin()
          const call = bump(books.callsOf, key)
          yield* Effect.sleep(chance(key, call) * 10)
          return reply(key, call)
        })
      ).pipe(Stream.ensuring(Effect.sync(end)))
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Events
// -------------------------------------------------------------------------------------------------------------------

/** The calls as counted from events. */
interface Tally {
  answered: number
  failed: number
  interrupted: number
  tokens: number
  finishedRuns: number
  readonly answersOf: Map<string, number>
}

const listen = (tally: Tally, run: number) => (event: RunEvent.RunEvent) => {
  switch (event.type) {
    case "step-finished":
      tally.answered += 1
      bump(tally.answersOf, `run ${run}, step ${event.step}`)
      break
    case "call-failed":
      tally.failed += 1
      break
    case "call-interrupted":
      tally.interrupted += 1
      break
    case "run-finished":
      tally.finishedRuns += 1
      return
    default:
      return
  }
  tally.tokens += event.usage.inputTokens + event.usage.outputTokens
}

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

const equal = (name: string, actual: unknown, expected: unknown): Check => ({
  name,
  ok: actual === expected,
  expected,
  actual
})

const atMost = (name: string, actual: number, limit: number): Check => ({
  name,
  ok: actual <= limit,
  expected: `at most ${limit}`,
  actual
})

/**
 * Returns by how many calls the starts exceed a token bucket that holds one minute's calls and refills continuously.
 */
const overdraft = (starts: ReadonlyArray<number>, perMinute: number): number => {
  let level = perMinute
  let last = starts[0] ?? 0
  let lowest = level
  for (const at of starts) {
    level = Math.min(perMinute, level + ((at - last) * perMinute) / 60_000) - 1
    lowest = Math.min(lowest, level)
    last = at
  }
  return Math.max(0, -lowest)
}

const sum = (values: Iterable<number>): number => {
  let total = 0
  for (const value of values) total += value
  return total
}

/** Returns how many counts differ from the expected value. */
const odd = (counts: ReadonlyMap<string, number>, expected: (key: string) => number): number => {
  let found = 0
  for (const [key, count] of counts) if (count !== expected(key)) found += 1
  return found
}

const settled = (ledger: Budget.Ledger, limits: Budget.Limits): boolean => {
  // The remaining budget can be reserved down to the last call only if no reservation is left.
  const { calls, costUsd, usage } = ledger.spent()
  const left = {
    costUsd: Math.max(0, (limits.costUsd ?? costUsd) - costUsd - 1e-9),
    tokens: (limits.tokens ?? 0) - usage.inputTokens - usage.outputTokens
  }
  if (limits.calls === calls) return true
  return Effect.runSync(Effect.match(ledger.reserve(left), { onSuccess: () => true, onFailure: () => false }))
}

const checks = (
  scenario: Scenario,
  books: Books,
  tally: Tally,
  ledger: Budget.Ledger,
  results: ReadonlyArray<Conductor.RunResult>
): ReadonlyArray<Check> => {
  const { budget, limits, runs } = scenario
  const spent = ledger.spent()
  const spends = results.map(({ spend }) => spend)
  const answered = results.filter(({ ending }) => ending === "answered").length
  const complete = results.filter(({ ending, rounds }) => ending === "answered" && rounds.length === 1).length
  return [
    equal("every run gave a result", results.length, runs),
    equal("every run has one end", tally.finishedRuns, runs),
    equal("no worker still runs", books.running, 0),
    equal("calls of the events = calls of the workers", tally.answered + tally.failed + tally.interrupted, books.calls),
    equal("calls of the ledger = calls of the workers", spent.calls, books.calls),
    equal("calls of the results = calls of the workers", sum(spends.map(({ calls }) => calls)), books.calls),
    equal("failures of the events = failures of the workers", tally.failed, books.failures),
    equal(
      "no step is answered twice",
      odd(books.answersOf, () => 1),
      0
    ),
    equal(
      "no step ends twice",
      odd(tally.answersOf, () => 1),
      0
    ),
    equal(
      "no step is asked again without a failure",
      odd(books.callsOf, (key) => (chance(key, "fails") < scenario.failing && books.callsOf.get(key)! > 1 ? 2 : 1)),
      0
    ),
    equal("answered runs have one round", complete, answered),
    atMost("answered runs have all of their steps", 5 * answered, tally.answered),
    equal(
      "tokens of the events = tokens of the ledger",
      tally.tokens,
      spent.usage.inputTokens + spent.usage.outputTokens
    ),
    atMost("cost", spent.costUsd, budget.costUsd ?? Number.POSITIVE_INFINITY),
    atMost("calls", spent.calls, budget.calls ?? Number.POSITIVE_INFINITY),
    atMost("tokens", spent.usage.inputTokens + spent.usage.outputTokens, budget.tokens ?? Number.POSITIVE_INFINITY),
    equal("nothing is still reserved", settled(ledger, budget), true),
    ...[...books.providers].flatMap(([key, { most, starts }]) => [
      atMost(`calls of ${key} at once`, most, limits.concurrency),
      // The bucket refills by the wall clock, in whole milliseconds, and a call starts shortly after it was admitted.
      // The first calls start only after all runs have begun, and until then the bucket refills.
      atMost(
        `calls of ${key} beyond its rate`,
        Math.ceil(overdraft(starts, limits.requestsPerMinute)),
        Math.ceil((limits.requestsPerMinute / 60_000) * (100 + (starts[0] ?? 0) - books.begunAt))
      )
    ])
  ]
}

// -------------------------------------------------------------------------------------------------------------------
// Run
// -------------------------------------------------------------------------------------------------------------------

const makeConductor = (scenario: Scenario, books: Books) =>
  Conductor.make({
    pool: WorkerPool.makeUnsafe(fiveSteps.steps.map((_, step) => makeWorker(scenario, books, step))),
    policy: Policy.fixed("stress", () => ({
      steps: fiveSteps.steps.map(({ access, subtask }, step) => ({ worker: step, subtask, access }))
    })),
    retry: { maxAttempts: 3, baseDelayMillis: 5 },
    onStepFailure: "end"
  })

/** Executes all runs concurrently and counts their calls. */
export const run = Effect.fnUntraced(function* (scenario: Scenario) {
  const books = openBooks()
  const tally: Tally = { answered: 0, failed: 0, interrupted: 0, tokens: 0, finishedRuns: 0, answersOf: new Map() }
  const ledger = Budget.make(scenario.budget)
  const conductor = makeConductor(scenario, books)
  const start = performance.now()
  let expectedMillis = 1

  const one = Effect.fnUntraced(function* (index: number) {
    const run = yield* conductor.start(`What is the answer of run ${index}?`, {
      ledger,
      listener: listen(tally, index)
    })
    if (chance(index, "interrupted") >= scenario.interrupted) return yield* run.result
    const stopper = yield* Effect.forkChild(
      // Most calls are made early, so most interruptions are early as well.
      Effect.andThen(Effect.sleep(chance(index, "when") ** 4 * expectedMillis), run.interrupt)
    )
    const result = yield* run.result
    yield* Fiber.interrupt(stopper)
    return result
  }, Effect.scoped)

  const { limits, runs } = scenario
  expectedMillis = 1000 + Math.max(0, ((runs * 3 - limits.requestsPerMinute) / limits.requestsPerMinute) * 60_000)
  const results = yield* Effect.forEach(Array.from({ length: runs }).keys(), one, { concurrency: "unbounded" }).pipe(
    Effect.provide(ProviderGate.layer({ limits: { "*": limits } }))
  )
  const outcome: Outcome = {
    name: scenario.name,
    runs,
    outcomes: Object.fromEntries(
      Map.groupBy(results, ({ ending }) => ending)
        .entries()
        .map(([outcome, of]) => [outcome, of.length])
    ),
    calls: books.calls,
    failedCalls: tally.failed,
    interruptedCalls: tally.interrupted,
    wallMillis: Math.round(performance.now() - start),
    checks: checks(scenario, books, tally, ledger, results)
  }
  return outcome
})
