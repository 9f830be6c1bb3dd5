/**
 * One simulation: a few runs at once on shared accounts, drawn from a seed and run under a seeded scheduler, and what
 * does not hold of them.
 */
import * as Budget from "@divisi/core/Budget"
import * as Conductor from "@divisi/core/Conductor"
import { Gate } from "@divisi/core/Resilience"
import * as ResponseCache from "@divisi/core/ResponseCache"
import type { RunEvent } from "@divisi/core/RunEvent"
import * as Seed from "@divisi/core/Seed"
import * as Transcript from "@divisi/core/Transcript"
import * as Usage from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Invariants from "./invariants.ts"
import * as Nonsense from "./nonsense.ts"
import * as SeededScheduler from "./SeededScheduler.ts"
import * as SimulatedPolicy from "./SimulatedPolicy.ts"
import * as SimulatedWorker from "./SimulatedWorker.ts"
import * as Witness from "./Witness.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a simulation found, and how much it did. */
export interface Found {
  readonly seed: number
  /** What does not hold, in words; empty when all is well. */
  readonly problems: ReadonlyArray<string>
  readonly runs: number
  /** Calls of workers. */
  readonly calls: number
  readonly tasks: number
  /** The most calls that an account had something set aside for at once. */
  readonly reserved: number
  /** Every event of every run, in their order. */
  readonly events: ReadonlyArray<RunEvent>
}

/** An account that is watched. */
interface Account {
  readonly name: string
  readonly ledger: Budget.Ledger
  seen: Usage.Spend
}

/** A run of a simulation. */
interface Run {
  readonly name: string
  readonly options: Conductor.Options
  readonly runOptions: Conductor.RunOptions
  readonly task: { readonly id: string; readonly question: string }
  readonly events: Array<RunEvent>
  readonly recorder: Transcript.Recorder
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  exit: Exit.Exit<unknown, unknown> | undefined
  result: Conductor.RunResult | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// What is drawn
// -------------------------------------------------------------------------------------------------------------------

const maybe = <A>(draw: Seed.Draw, share: number, value: () => A): A | undefined =>
  Seed.chance(draw, share) ? value() : undefined

const limitsOf = (draw: Seed.Draw): Budget.Limits => ({
  costUsd: maybe(draw, 0.25, () => 0.0005 + 0.02 * draw()),
  tokens: maybe(draw, 0.35, () => 100 + Seed.below(draw, 4000)),
  calls: maybe(draw, 0.2, () => Seed.below(draw, 12))
})

const moodsOf = (draw: Seed.Draw): SimulatedWorker.Moods => {
  const isWild = Seed.chance(draw, 0.25)
  return {
    fail: Seed.pick(draw, [0, 0.1, 0.4]),
    hang: Seed.pick(draw, [0, 0, 0.05]),
    nonsense: isWild ? 0.15 : 0,
    endless: isWild ? 0.004 : 0
  }
}

const settingsOf = (draw: Seed.Draw) => ({
  maxSteps: 1 + Seed.below(draw, 8),
  recursion: Seed.below(draw, 3),
  self: maybe(draw, 0.1, () => ({ maxDepth: 1 + Seed.below(draw, 2) })),
  budget: maybe(draw, 0.4, () => ({
    ...limitsOf(draw),
    durationMillis: maybe(draw, 0.4, () => 1 + Seed.below(draw, 300))
  })),
  worker: {
    maxOutputTokens: maybe(draw, 0.7, () => 16 + Seed.below(draw, 48)),
    temperature: maybe(draw, 0.3, () => 0),
    timeoutMillis: maybe(draw, 0.3, () => 1 + Seed.below(draw, 60))
  },
  retry: {
    maxAttempts: 1 + Seed.below(draw, 3),
    baseDelayMillis: Seed.below(draw, 50),
    jitter: Seed.chance(draw, 0.5)
  },
  onStepFailure: Seed.pick(draw, [undefined, "report", "end"] as const),
  skipUnseen: Seed.pick(draw, [undefined, true, false]),
  threshold: maybe(draw, 0.3, () => 0.5)
})

/** Who takes over: nobody, the next, or what a function says, right or wrong. */
const reassignOf = ({ draw, moods }: SimulatedWorker.World): Conductor.Options["reassign"] =>
  Seed.pick<() => Conductor.Options["reassign"]>(draw, [
    () => undefined,
    () => "never",
    () => "next",
    () => () => {
      if (Seed.chance(draw, moods.nonsense)) throw Nonsense.thrown(draw)
      return Seed.pick(draw, [0, 1, 2, -1, 0.5, undefined])
    }
  ])()

const gateOf = (draw: Seed.Draw): Gate | undefined => {
  if (!Seed.chance(draw, 0.3)) return undefined
  const options: ProviderGate.Options = {
    limits: {
      "*": {
        concurrency: maybe(draw, 0.4, () => 1 + Seed.below(draw, 3)),
        requestsPerMinute: maybe(draw, 0.3, () => 1 + Seed.below(draw, 30)),
        tokensPerMinute: maybe(draw, 0.2, () => 100 + Seed.below(draw, 4000))
      }
    },
    breaker: maybe(draw, 0.5, () => ({ failures: 1 + Seed.below(draw, 3), openMillis: 1 + Seed.below(draw, 200) })),
    maxPauseMillis: maybe(draw, 0.5, () => Seed.below(draw, 1000))
  }
  const built = Effect.runSync(Layer.buildWithScope(ProviderGate.layer(options), Scope.makeUnsafe()))
  return Context.getUnsafe(built as Context.Context<never>, Gate)
}

const cacheOf = (draw: Seed.Draw): ResponseCache.ResponseCache | undefined =>
  maybe(draw, 0.5, () =>
    ResponseCache.makeMemory({ maxEntries: 1 + Seed.below(draw, 20), timeToLive: maybe(draw, 0.3, () => 40) })
  )

// -------------------------------------------------------------------------------------------------------------------
// One simulation
// -------------------------------------------------------------------------------------------------------------------

/** The state of one simulation while it is set up and runs. */
class Simulation {
  readonly seed: number
  readonly draw: Seed.Draw
  readonly time: SeededScheduler.SeededScheduler
  readonly witness = Witness.make()
  readonly accounts: Array<Account> = []
  readonly runs: Array<Run> = []
  readonly events: Array<RunEvent> = []
  readonly context: Context.Context<never>
  readonly world: SimulatedWorker.World
  readonly promises: boolean
  readonly payer: Budget.Payer | undefined
  readonly payments: Array<Budget.Payment> = []
  private reserved = 0
  /** After so many tasks somebody stops a run. */
  private readonly stopAt: number

  constructor(seed: number) {
    this.seed = seed
    const draw = Seed.draw(Seed.spread(seed, "world"))
    this.draw = draw
    this.time = SeededScheduler.make(Seed.draw(Seed.spread(seed, "order")))
    this.promises = Seed.chance(draw, 0.2)
    this.stopAt = Seed.chance(draw, 0.25) ? Seed.below(draw, 400) : Number.POSITIVE_INFINITY
    this.world = {
      draw,
      time: this.time,
      witness: this.witness,
      moods: moodsOf(draw),
      meddle: () => this.meddle()
    }
    this.context = Context.mergeAll(
      Context.make(Scheduler.Scheduler, this.time.scheduler),
      Context.make(Clock.Clock, this.time.clock),
      Context.make(Gate, gateOf(draw)),
      Context.make(ResponseCache.ResponseCache, cacheOf(draw))
    ) as Context.Context<never>
    const shared = maybe(draw, 0.6, () => this.account("the shared account", limitsOf(draw)))
    this.payer = maybe(draw, 0.2, () => ({
      account: this.account("the payer's account", limitsOf(draw)),
      onPaid: (payment) => this.payments.push(payment)
    }))
    const workers = Array.from({ length: 1 + Seed.below(draw, 6) }, (_, index) =>
      SimulatedWorker.make(this.world, `w${index}`, this.promises)
    )
    const count = Seed.pick(draw, [1, 1, 1, 2, 2, 3])
    const areTwins = Seed.chance(draw, 0.4)
    for (let index = 0; index < count; index++) {
      const twin = areTwins ? this.runs[0] : undefined
      this.runs.push(this.runOf(index, twin ?? this.drawn(index, workers), shared))
    }
  }

  private account(name: string, limits: Budget.Limits, parent?: Budget.Ledger): Budget.Ledger {
    const ledger = Budget.make(limits, parent)
    this.accounts.push({ name, ledger, seen: Usage.noSpend })
    return ledger
  }

  /** What a run is of, and what it is made of. */
  private drawn(index: number, workers: ReadonlyArray<Worker>): Pick<Run, "task" | "options"> {
    const { draw, promises, world } = this
    const id = `task-${index}`
    const options: Conductor.Options = {
      ...settingsOf(draw),
      reassign: reassignOf(world),
      pool: WorkerPool.makeUnsafe(Seed.shuffled(draw, workers).slice(0, 1 + Seed.below(draw, workers.length))),
      policy: SimulatedPolicy.make(world, workers, promises),
      critic: SimulatedPolicy.critic(world, workers),
      seed: maybe(draw, 0.5, () => 1)
    }
    return { task: { id, question: `What is ${id}?` }, options }
  }

  /** A run of a task. Runs of one task ask the same, so that a cache has something to find. */
  private runOf(
    index: number,
    { options, task }: Pick<Run, "task" | "options">,
    shared: Budget.Ledger | undefined
  ): Run {
    const { draw, world } = this
    const name = `run ${index}`
    const recorder = Transcript.recorder()
    const events: Array<RunEvent> = []
    const isHostile = Seed.chance(draw, world.moods.nonsense)
    const listener = (event: RunEvent) => {
      recorder.listener(event)
      events.push(event)
      this.events.push(event)
      if (Seed.chance(draw, 0.002)) this.meddle()
      if (isHostile && Seed.chance(draw, 0.2)) throw Nonsense.thrown(draw)
    }
    const runOptions: Conductor.RunOptions = {
      runId: `run-${index}`,
      ledger: this.account(`the account of ${name}`, Seed.chance(draw, 0.5) ? {} : limitsOf(draw), shared),
      payer: this.payer,
      found: Seed.pick(draw, [undefined, "free", "as-made"]),
      listener
    }
    return { name, task, options, runOptions, events, recorder, fiber: undefined, exit: undefined, result: undefined }
  }

  /** Somebody stops a run, or sets the clock, in the middle of something else. */
  private meddle(): void {
    const { draw, time } = this
    if (Seed.chance(draw, 0.5)) time.shiftWallClock(Seed.pick(draw, [-3_600_000, 3_600_000]))
    else Seed.pick(draw, this.runs).fiber?.interruptUnsafe()
  }

  private readonly onTask = (): void => {
    if (this.time.tasks() === this.stopAt) Seed.pick(this.draw, this.runs).fiber?.interruptUnsafe()
    for (const account of this.accounts) {
      const problem = Invariants.ofAccount(account.name, account.ledger, account.seen)
      account.seen = account.ledger.spent()
      this.reserved = Math.max(this.reserved, Invariants.reservedOf(account.ledger).open)
      if (problem !== undefined && this.witness.problems.length < 20) this.witness.complain(problem)
    }
  }

  /** The run as an effect, through any of the front doors. */
  private effectOf(run: Run): Effect.Effect<unknown> {
    const conductor = Conductor.make(run.options)
    const { runOptions, task } = run
    const keep = (result: Conductor.RunResult) => {
      run.result = result
    }
    switch (Seed.below(this.draw, 6)) {
      case 0:
        return Effect.scoped(
          Effect.flatMap(conductor.start(task, runOptions), (running) =>
            Effect.onInterrupt(Effect.map(running.result, keep), () => Effect.map(running.interrupt, keep))
          )
        )
      case 1:
        return Stream.runDrain(Stream.take(conductor.stream(task, runOptions), Seed.pick(this.draw, [1, 10, 1000])))
      default:
        return Effect.map(conductor.run(task, runOptions), keep)
    }
  }

  private start(run: Run): void {
    const begin = () => {
      const fiber = Effect.runForkWith(this.context)(this.effectOf(run))
      run.fiber = fiber
      fiber.addObserver((exit) => {
        run.exit = exit
      })
    }
    this.time.after(Seed.pick(this.draw, [0, 0, 5, 30]), begin)
  }

  private rest(): Promise<void> {
    return this.time.rest({ onTask: this.onTask, promises: this.promises })
  }

  /** Runs everything to its end. What hangs is stopped, as somebody would at last. */
  private async toTheEnd(): Promise<void> {
    for (const run of this.runs) this.start(run)
    await this.rest()
    for (;;) {
      const going = this.runs.filter(({ exit }) => exit === undefined)
      if (going.length === 0) return
      if (this.witness.hanging() === 0) {
        for (const { name } of going) this.witness.complain(`${name} never ends`)
        return
      }
      Seed.pick(this.draw, going).fiber!.interruptUnsafe()
      await this.rest()
    }
  }

  private check(): void {
    const { witness } = this
    const told = this.runs.flatMap((run) => {
      const transcript = run.recorder.transcript()
      if (transcript === undefined || run.exit === undefined) return []
      return [{ name: run.name, events: run.events, transcript, maxRounds: Conductor.make(run.options).maxRounds, run }]
    })
    const complain = (problems: ReadonlyArray<string>) => problems.forEach(witness.complain)
    for (const { run, ...one } of told) {
      if (Exit.isFailure(run.exit!) && !Exit.hasInterrupts(run.exit)) witness.complain(`${run.name} crashed`)
      complain(Invariants.ofRun(one, witness))
      complain(Invariants.ofSums(one.name, Invariants.toldSpend(one.transcript), run.runOptions.ledger!.spent()))
      const { spend } = one.transcript
      if (spend !== undefined)
        complain(Invariants.ofSums(`the end of ${one.name}`, spend, run.runOptions.ledger!.spent()))
    }
    complain(Invariants.ofSight(told, witness))
    for (const { ledger, name } of this.accounts) complain(Invariants.ofRest(name, ledger))
    if (witness.open() !== 0) witness.complain(`${witness.open()} calls run on after the end`)
    if (this.time.timers() !== 0) witness.complain(`${this.time.timers()} timers run on after the end`)
    this.checkCalls()
  }

  /** What workers were asked is what was charged. */
  private checkCalls(): void {
    const { payer, payments, runs, witness } = this
    const asked = witness.calls()
    if (payer !== undefined) {
      const { calls } = payer.account.spent()
      if (calls !== asked || payments.length !== asked)
        witness.complain(`${asked} calls were made, ${calls} were charged to the payer, and ${payments.length} told`)
    }
    // Found answers that are charged as made are charged, and not asked for.
    if (runs.some(({ runOptions }) => runOptions.found === "as-made")) return
    const charged = runs.reduce((sum, { runOptions }) => sum + runOptions.ledger!.spent().calls, 0)
    if (charged !== asked) witness.complain(`${asked} calls were made, and ${charged} were charged`)
  }

  async simulate(): Promise<Found> {
    const { events, runs, seed, time, witness } = this
    try {
      await this.toTheEnd()
      this.check()
    } catch (error) {
      witness.complain(error instanceof Error ? (error.stack ?? error.message) : "something was thrown through")
    }
    return {
      seed,
      problems: [...new Set(witness.problems)],
      runs: runs.length,
      calls: witness.calls(),
      tasks: time.tasks(),
      reserved: this.reserved,
      events
    }
  }
}

/** Runs the simulation of a seed. */
export const simulate = (seed: number): Promise<Found> => new Simulation(seed).simulate()
