/**
 * A simulated world: several concurrent runs with shared accounts, generated from a seed and executed by a seeded
 * scheduler. Returns all violations.
 */

import { Budget, Resilience, ResponseCache, type RunEvent, Seed, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { RunStream } from "@divisi/core/streams"
import * as Usage from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import * as Door from "./door.ts"
import * as Draws from "./draws.ts"
import * as Invariants from "./invariants.ts"
import * as Nonsense from "./nonsense.ts"
import * as SeededScheduler from "./SeededScheduler.ts"
import * as SimulatedPolicy from "./SimulatedPolicy.ts"
import * as SimulatedWorker from "./SimulatedWorker.ts"
import * as Witness from "./Witness.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The result of a simulation, and its counts. */
export interface Found {
  readonly seed: number
  /** The violated conditions as text; empty if there are none. */
  readonly problems: ReadonlyArray<string>
  readonly runs: number
  /** Calls of workers. */
  readonly calls: number
  readonly tasks: number
  /** The largest number of calls with an open reservation on one account. */
  readonly reserved: number
  /** Every event of every run, in their order. */
  readonly events: ReadonlyArray<RunEvent.RunEvent>
}

/**
 * The kind of a world: any; steady, with the same answers in any order; or narrow, with many calls at one gate, and
 * stops at the moment at which it opens.
 */
export type Kind = "any" | "steady" | "narrow"

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
  readonly events: Array<RunEvent.RunEvent>
  /** When each event came, in milliseconds since the start. */
  readonly times: Array<number>
  readonly recorder: Transcript.Recorder
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  exit: Exit.Exit<unknown, unknown> | undefined
  result: Conductor.RunResult | undefined
  /** The time at which it was stopped. */
  stoppedAt: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// A world
// -------------------------------------------------------------------------------------------------------------------

/**
 * The transcripts of one seed in this many are written and read again, because this takes as long as everything else.
 */
const readShare = 4

/** The state of a world while it is set up and runs. */
export class SimulatedRuns {
  readonly seed: number
  readonly draw: Seed.Draw
  readonly time: SeededScheduler.SeededScheduler
  readonly witness = Witness.make()
  readonly accounts: Array<Account> = []
  readonly runs: Array<Run> = []
  readonly events: Array<RunEvent.RunEvent> = []
  readonly context: Context.Context<never>
  readonly world: SimulatedWorker.World
  readonly promises: boolean
  readonly payer: Budget.Payer | undefined
  readonly payments: Array<Budget.Payment> = []
  private reserved = 0
  private hasEnded = false
  /** How often a run is stopped after a task, from 0 to 1. */
  private readonly stops: number
  /** How often a run is stopped when something becomes free, from 0 to 1. */
  private readonly nudges: number
  private open = 0
  private nudgeIn = -1
  private readonly door: Door.Door | undefined
  private readonly workers: ReadonlyArray<Worker>

  constructor(seed: number, kind: Kind, order: number) {
    this.seed = seed
    const draw = Seed.draw(Seed.spread(seed, "world"))
    const isSteady = kind === "steady"
    const isNarrow = kind === "narrow"
    const narrow = isNarrow ? Seed.pick(draw, Draws.focuses) : undefined
    this.draw = draw
    const haste = narrow === undefined ? "drawn" : Seed.pick(draw, Draws.hastes[narrow])
    this.time = SeededScheduler.make(Seed.draw(Seed.spread(seed, "order", order)), haste)
    this.promises = Seed.chance(draw, 0.2) && !isNarrow
    this.stops = isSteady ? 0 : Seed.pick(draw, isNarrow ? [0, 0, 0.01] : [0, 0, 0, 0.002, 0.01, 0.05])
    this.nudges = isNarrow ? Seed.pick(draw, [0, 0.05, 0.2]) : 0
    this.world = {
      seed,
      draw,
      time: this.time,
      witness: this.witness,
      moods: isNarrow ? Draws.narrowMoodsOf(draw) : Draws.moodsOf(draw, isSteady),
      isSteady,
      isNarrow,
      isTight: isNarrow ? narrow === "money" : !isSteady && Seed.chance(draw, 0.2),
      ofCall: isSteady ? this.steadyCalls() : this.calls(),
      meddle: () => this.meddle()
    }
    const cache = isSteady || narrow === "money" ? undefined : Draws.cacheOf(draw, narrow === "answers" ? 1 : 0.5)
    this.door = isSteady ? undefined : isNarrow ? Door.narrow(draw, narrow === "door" ? 1 : 0.1) : Door.any(draw)
    this.context = Context.mergeAll(
      Context.make(Scheduler.Scheduler, this.time.scheduler),
      Context.make(Clock.Clock, this.time.clock),
      Context.make(References.MinimumLogLevel, "None"),
      Context.make(Resilience.Gate, this.door?.gate),
      Context.make(ResponseCache.ResponseCache, cache)
    ) as Context.Context<never>
    const shared = Draws.maybe(draw, 0.6, () => this.account("the shared account", this.limits()))
    this.payer = Draws.maybe(draw, 0.2, () => ({
      account: this.account("the payer's account", this.limits()),
      onPaid: (payment) => this.payments.push(payment)
    }))
    const workers = Array.from({ length: 1 + Seed.below(draw, 6) }, (_, index) =>
      SimulatedWorker.make(this.world, `w${index}`, this.promises)
    )
    this.workers = workers
    const count = isSteady
      ? 1
      : Seed.pick(draw, isNarrow ? [2, 3, 4] : cache === undefined ? [1, 1, 1, 2, 2, 3] : [1, 2, 3])
    // Runs of one task ask the same, so that a cache has something to find.
    const areTwins = narrow === "answers" || Seed.chance(draw, cache === undefined ? 0.2 : 0.7)
    for (let index = 0; index < count; index++) {
      const twin = areTwins ? this.runs[0] : undefined
      this.runs.push(this.runOf(index, twin ?? this.drawn(index, workers), shared))
    }
  }

  /** Each call draws its own behaviour, and is marked with its number. */
  private calls(): SimulatedWorker.World["ofCall"] {
    return (worker, request) => ({ world: this.world, mark: `⟦${worker}#${this.witness.ask(worker, request)}⟧` })
  }

  /** Each call draws its behaviour from its request and the number of earlier equal requests. */
  private steadyCalls(): SimulatedWorker.World["ofCall"] {
    const times = new Map<string, number>()
    return (worker, request) => {
      this.witness.ask(worker, request)
      const key = JSON.stringify([worker, request])
      const time = times.get(key) ?? 0
      times.set(key, time + 1)
      const seed = Seed.spread(this.seed, key, time)
      return { world: { ...this.world, draw: Seed.draw(seed) }, mark: `⟦${worker}#${seed}⟧` }
    }
  }

  private limits(): Budget.Limits {
    const { isNarrow, isSteady, isTight } = this.world
    return isSteady || (isNarrow && !isTight) ? {} : Draws.limitsOf(this.world)
  }

  private account(name: string, limits: Budget.Limits, parent?: Budget.Ledger): Budget.Ledger {
    const ledger = Budget.make(limits, parent)
    this.accounts.push({ name, ledger, seen: Usage.noSpend })
    return ledger
  }

  /** Draws the task and parts of a run. */
  private drawn(index: number, workers: ReadonlyArray<Worker>): Pick<Run, "task" | "options"> {
    const { draw, promises, world } = this
    const id = `task-${index}`
    const settings = world.isSteady
      ? Draws.steadySettingsOf(draw)
      : { ...Draws.settingsOf(draw), reassign: Draws.reassignOf(world), seed: Draws.maybe(draw, 0.5, () => 1) }
    const narrow = world.isNarrow ? Draws.narrowSettingsOf(draw) : {}
    const options: Conductor.Options = {
      ...settings,
      ...narrow,
      pool: WorkerPool.makeUnsafe(Seed.shuffled(draw, workers).slice(0, 1 + Seed.below(draw, workers.length))),
      policy: SimulatedPolicy.make(world, workers, promises),
      critic: SimulatedPolicy.critic(world, workers),
      ...SimulatedPolicy.checked(Seed.draw(Seed.spread(this.seed, "checks", index)), workers, {
        isSteady: world.isSteady,
        nonsense: world.moods.nonsense
      })
    }
    return { task: { id, question: `What is ${id}?` }, options }
  }

  /** A run of a task. */
  private runOf(
    index: number,
    { options, task }: Pick<Run, "task" | "options">,
    shared: Budget.Ledger | undefined
  ): Run {
    const { draw, world } = this
    const name = `run ${index}`
    const recorder = Transcript.recorder()
    const events: Array<RunEvent.RunEvent> = []
    const times: Array<number> = []
    const isHostile = Seed.chance(draw, world.moods.nonsense)
    const listener = (event: RunEvent.RunEvent) => {
      recorder.listener(event)
      events.push(event)
      times.push(this.time.elapsed())
      this.events.push(event)
      if (Seed.chance(draw, 0.002)) this.meddle()
      if (isHostile && Seed.chance(draw, 0.2)) throw Nonsense.thrown(draw)
    }
    const runOptions: Conductor.RunOptions = {
      runId: `run-${index}`,
      ledger: this.account(`the account of ${name}`, Seed.chance(draw, 0.5) ? {} : this.limits(), shared),
      payer: this.payer,
      cachedAnswers: Seed.pick(draw, [undefined, "free", "charged"]),
      listener
    }
    const going = { fiber: undefined, exit: undefined, result: undefined, stoppedAt: undefined }
    return { name, task, options, runOptions, events, times, recorder, ...going }
  }

  /** Somebody stops a run, or sets the clock, in the middle of something else. */
  private meddle(): void {
    const { draw, time, world } = this
    if (world.isSteady) return
    if (Seed.chance(draw, 0.5)) time.shiftWallClock(Seed.pick(draw, [-3_600_000, 3_600_000]))
    else this.stop(Seed.pick(draw, this.runs))
  }

  private stop(run: Run): void {
    if (run.fiber === undefined || run.exit !== undefined) return
    run.stoppedAt ??= this.time.elapsed()
    run.fiber.interruptUnsafe()
  }

  /**
   * When a call has ended, the calls that wait for its slot or its amount are released: in that moment or soon after, a
   * run is stopped.
   */
  private nudge(): void {
    const open = this.witness.open()
    if (open < this.open && Seed.chance(this.draw, this.nudges)) this.nudgeIn = Seed.below(this.draw, 5)
    this.open = open
    if (this.nudgeIn-- !== 0) return
    const going = this.runs.filter(({ exit }) => exit === undefined)
    if (going.length > 0) this.stop(Seed.pick(this.draw, going))
  }

  private readonly onTask = (): void => {
    if (this.stops > 0 && Seed.chance(this.draw, this.stops)) this.stop(Seed.pick(this.draw, this.runs))
    if (this.nudges > 0) this.nudge()
    for (const account of this.accounts) {
      const problem = Invariants.ofAccount(account.name, account.ledger, account.seen)
      account.seen = account.ledger.spent()
      this.reserved = Math.max(this.reserved, Invariants.reservedOf(account.ledger).open)
      if (problem !== undefined && this.witness.problems.length < 20) this.witness.complain(problem)
    }
    if (!this.hasEnded && this.runs.every(({ exit }) => exit !== undefined)) {
      this.hasEnded = true
      this.checkSilence()
    }
  }

  /** Checks that no work continues after the last run has ended. */
  private checkSilence(): void {
    const { time, witness } = this
    if (witness.open() !== 0) witness.complain(`${witness.open()} calls run on after the end`)
    if (time.sleepers() !== 0) witness.complain(`${time.sleepers()} fibers sleep on after the end`)
  }

  /** The run as an effect, through any of the front doors. */
  private effectOf(run: Run): Effect.Effect<unknown> {
    const conductor = Conductor.make(run.options)
    const { runOptions, task } = run
    const keep = (result: Conductor.RunResult) => {
      run.result = result
    }
    // The reader of a stream may stop reading.
    switch (this.world.isSteady ? 2 : Seed.below(this.draw, 6)) {
      case 0:
        return Effect.scoped(
          Effect.flatMap(conductor.start(task, runOptions), (running) =>
            Effect.onInterrupt(Effect.map(running.result, keep), () => Effect.map(running.interrupt, keep))
          )
        )
      case 1:
        // A stream of a run that cannot start fails. The events of such a run are checked elsewhere.
        return Effect.ignore(
          Stream.runDrain(Stream.take(RunStream.make(conductor, task, runOptions), Seed.pick(this.draw, [1, 10, 1000])))
        )
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
        const { stoppedAt } = run
        if (stoppedAt !== undefined && stoppedAt !== this.time.elapsed())
          this.witness.complain(`${run.name} goes on for ${this.time.elapsed() - stoppedAt} ms after it was stopped`)
      })
    }
    this.time.after(this.world.isNarrow ? 0 : Seed.pick(this.draw, [0, 0, 0, 5, 30]), begin)
  }

  private rest(): Promise<void> {
    const { promises, time, witness } = this
    const since = time.elapsed()
    // Waiters for a call that hangs may poll forever.
    const isEnough = () => witness.hanging() > 0 && time.elapsed() - since > 1000
    return time.rest({ onTask: this.onTask, promises, isEnough })
  }

  /** Runs everything to its end. Work that hangs is stopped. */
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
      this.stop(Seed.pick(this.draw, going))
      await this.rest()
    }
  }

  /** Checks that no gate has lost a slot after the last run has ended. */
  private async checkDoor(): Promise<void> {
    const { door, time, witness, workers } = this
    if (door === undefined) return
    const waiting = Door.tryAll(door, workers, this.context)
    await time.rest({ onTask: () => {}, promises: false, isEnough: () => false })
    if (waiting() > 0) witness.complain(`${waiting()} calls wait at a gate that nobody has passed`)
  }

  private check(): void {
    const { witness } = this
    const told = this.runs.flatMap((run) => {
      const transcript = run.recorder.transcript()
      if (transcript === undefined || run.exit === undefined) return []
      const { events, name, options, times } = run
      const { maxRounds } = Conductor.make(options)
      const { revisions = 2, skipUnseen } = options
      return [{ name, events, times, transcript, maxRounds, skipsUnseen: skipUnseen !== false, revisions, run }]
    })
    const complain = (problems: ReadonlyArray<string>) => problems.forEach(witness.complain)
    for (const { run, ...one } of told) {
      if (Exit.isFailure(run.exit!) && !Exit.hasInterrupts(run.exit)) witness.complain(`${run.name} crashed`)
      complain(Invariants.ofRun(one, witness, this.seed % readShare === 0))
      complain(Invariants.ofSums(one.name, Invariants.toldSpend(one.transcript), run.runOptions.ledger!.spent()))
      const { spend } = one.transcript
      if (spend !== undefined)
        complain(Invariants.ofSums(`the end of ${one.name}`, spend, run.runOptions.ledger!.spent()))
    }
    complain(Invariants.ofSight(told, witness))
    for (const { ledger, name } of this.accounts) complain(Invariants.ofRest(name, ledger))
    this.checkCalls()
  }

  /** Checks that the requests to workers are those that were charged. */
  private checkCalls(): void {
    const { payer, payments, runs, witness } = this
    const asked = witness.calls()
    if (payer !== undefined) {
      const { calls } = payer.account.spent()
      if (calls !== asked || payments.length !== asked)
        witness.complain(`${asked} calls were made, ${calls} were charged to the payer, and ${payments.length} told`)
    }
    // Cached answers that are charged like made calls are charged without a request.
    if (runs.some(({ runOptions }) => runOptions.cachedAnswers === "charged")) return
    const charged = runs.reduce((sum, { runOptions }) => sum + runOptions.ledger!.spent().calls, 0)
    if (charged !== asked) witness.complain(`${asked} calls were made, and ${charged} were charged`)
  }

  async simulate(): Promise<Found> {
    const { events, runs, seed, time, witness } = this
    try {
      await this.toTheEnd()
      this.check()
      await this.checkDoor()
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
