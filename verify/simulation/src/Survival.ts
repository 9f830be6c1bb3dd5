/**
 * A run that survives its processes: it is stopped, killed, fenced and suspended, and resumed from its journal or
 * transcript until it ends. Returns all violations.
 */
import {
  Budget,
  Journal,
  LanguagePolicy,
  Resilience,
  ResponseCache,
  type RunEvent,
  Seed,
  Transcript
} from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as Usage from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import { loadAll } from "../../../packages/core/src/OnDemand.ts"
import * as Draws from "./draws.ts"
import * as FaultyJournal from "./FaultyJournal.ts"
import * as Invariants from "./invariants.ts"
import * as SeededScheduler from "./SeededScheduler.ts"
import * as SimulatedPolicy from "./SimulatedPolicy.ts"
import type { Found } from "./Simulation.ts"
import * as SurvivalInvariants from "./survivalInvariants.ts"
import * as ToolWorld from "./ToolWorld.ts"
import * as Witness from "./Witness.ts"

const runId = "r"
const task = { id: "task", question: "What is task?" }

/** How often a run may be stopped or suspended; after that it runs undisturbed. */
const mostFaults = 6

/** More processes than any run needs. */
const mostProcesses = 400

/** The process is dead or paused. */
class Gone extends Error {}

interface Trouble {
  readonly what: "outage" | "limit"
  readonly after: number
}

/** A process of the run. */
interface Process {
  readonly time: SeededScheduler.SeededScheduler
  readonly journal: FaultyJournal.FaultyJournal
  readonly heard: Array<RunEvent.RunEvent>
  readonly ledger: Budget.Ledger
  /** A reason why the run ends early: its vendor fails after some calls, or its number of calls is limited. */
  readonly trouble: Trouble | undefined
  /** Whether the run had already ended permanently: it is not charged again. */
  readonly isAgain: boolean
  seen: Usage.Spend
  result: Conductor.RunResult | undefined
  exit: Exit.Exit<unknown, unknown> | undefined
}

/** One run and its processes. */
class Survival {
  readonly draw: Seed.Draw
  readonly memory = Journal.memory()
  readonly witness = Witness.make()
  readonly log: Array<FaultyJournal.Written> = []
  readonly begun: Array<{ readonly name: string; readonly call: string }> = []
  readonly isDurable: boolean
  readonly isFaulty: boolean
  readonly options: Conductor.Options
  readonly limits: Budget.Limits
  private order: Seed.Draw
  private readonly seed: number
  private readonly world: ToolWorld.ToolWorld
  private tasks = 0
  private readonly zombies: Array<Process> = []
  /**
   * How often each check was called for each answer, and the checks that were called although their verdict was in the
   * journal.
   */
  readonly checks = new Map<string, number>()
  readonly checkedAgain = new Set<string>()
  /** Whether a failure of an outage may have been retained: an answer depends on it. */
  isChanged = false
  /** Whether it was resumed after its end. Calls that failed before are then made again. */
  isReopened = false
  /** The number of calls that are still answered if the vendor fails after some. */
  private answersLeft = Number.POSITIVE_INFINITY
  /** Whether paused processes continue. */
  private areZombies = false
  private count = 0

  constructor(seed: number, isFaulty: boolean) {
    this.seed = seed
    this.isFaulty = isFaulty
    const draw = Seed.draw(Seed.spread(seed, "survival"))
    this.draw = draw
    this.order = draw
    this.isDurable = Seed.chance(draw, 0.8) && isFaulty
    this.world = {
      seed,
      witness: this.witness,
      fail: Seed.pick(draw, [0, 0, 0.1, 0.3]),
      order: () => this.order,
      isDown: () => this.answersLeft-- <= 0,
      onAsked: () =>
        this.isDurable && this.complain(SurvivalInvariants.ofIntents(this.entries(), this.witness.calls())),
      onTool: (name, call) => {
        this.begun.push({ name, call })
        if (this.isDurable) this.complain(SurvivalInvariants.ofBegunTool(this.entries(), call))
      }
    }
    const workers = Array.from({ length: 1 + Seed.below(draw, 3) }, (_, index) =>
      ToolWorld.worker(this.world, `w${index}`)
    )
    const checking = SimulatedPolicy.checked(Seed.draw(Seed.spread(seed, "checks")), workers, {
      isSteady: true,
      nonsense: 0,
      onChecked: (check, answer) => this.hearCheck(check, answer)
    })
    const { skipUnseen, ...settings } = Draws.steadySettingsOf(draw)
    this.options = {
      ...settings,
      skipUnseen,
      self: Draws.maybe(draw, 0.15, () => ({ maxDepth: 1 })),
      pool: WorkerPool.makeUnsafe(workers),
      policy: this.policy(),
      ...checking,
      tools: ToolWorld.tools(this.world),
      toolAccess: Seed.pick(draw, ["last-step", "every-step", "every-step", "none"]),
      maxToolRounds: Seed.pick(draw, [undefined, 1, 2])
    }
    this.limits = Draws.maybe(draw, 0.25, () => ({ tokens: 200 + Seed.below(draw, 3000) })) ?? {}
  }

  private complain(problem: string | undefined): void {
    if (problem !== undefined && this.witness.problems.length < 20) this.witness.complain(problem)
  }

  private hearCheck(check: string, answer: string): void {
    const name = `${check} of ${answer}`
    this.checks.set(name, (this.checks.get(name) ?? 0) + 1)
    // A process that others have taken over from has not read their entries.
    if (!this.areZombies && SurvivalInvariants.hasVerdict(this.entries(), check, answer)) this.checkedAgain.add(name)
  }

  private entries(): ReadonlyArray<Journal.Entry> {
    return this.memory.runs.get(runId)?.entries ?? []
  }

  /** Drawn apart: other seeds are the runs that they were before there were chains. */
  hasChains(): boolean {
    return Seed.chance(Seed.draw(Seed.spread(this.seed, "chains")), 0.2)
  }

  /** Before it plans, it calls its model in chains that overtake each other, in another order in each process. */
  private chained(policy: Policy.Policy): Policy.Policy {
    const model = ToolWorld.worker(this.world, "advisor")
    return {
      ...policy,
      propose: (context) => {
        const ask = (chain: number, call: number) => {
          const content = `Chain ${chain} of round ${context.round} of ${context.task.id}, call ${call}`
          const request = { messages: [{ role: "user" as const, content }] }
          return Effect.ignore(context.complete({ model, request, read: () => Result.succeed(content) }))
        }
        const chains = Effect.forEach([0, 1, 2], (chain) => Effect.forEach([0, 1], (call) => ask(chain, call)), {
          concurrency: "unbounded"
        })
        return Effect.andThen(chains, policy.propose(context))
      }
    }
  }

  /** Writes the same for the same round: as a plan, or as the text of a model. */
  private policy(): Policy.Policy {
    const { draw, seed } = this
    const plan = (view: Omit<Policy.Context, "complete">) =>
      SimulatedPolicy.workflowOf(Seed.draw(Seed.spread(seed, view.task.id, view.round)), view, { isTight: false, seed })
    if (Seed.chance(draw, 0.6)) {
      const fixed = Policy.fixed("drawn", (_pool, _task, context) => plan(context))
      const revise = (view: Policy.Revising) =>
        Effect.sync(() => SimulatedPolicy.revisionOf(view, { isTight: false, seed }))
      const planning = this.hasChains() ? this.chained(fixed) : fixed
      return seed % 2 === 0 ? planning : { ...planning, revise }
    }
    const writer = ToolWorld.worker(this.world, "planner")
    return {
      name: "language",
      propose: (context) => {
        const text = SimulatedPolicy.written(plan(context), context)
        const said = (part: { readonly type: string }) => (part.type === "text" ? { ...part, text } : part)
        const generate: Worker["generate"] = (request) =>
          Stream.map(writer.generate(request) as Stream.Stream<never>, said as never)
        const model: Worker = { ...writer, settings: text, generate }
        return LanguagePolicy.make({ model, prompt: { access: "fine-grained" }, resamples: 1 }).propose(context)
      }
    }
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Processes
  // -----------------------------------------------------------------------------------------------------------------

  private begin(): Process {
    this.count += 1
    const order = Seed.draw(Seed.spread(this.seed, "process", this.count, this.isFaulty ? 1 : 0))
    this.order = order
    const isFaulty = this.isFaulty && this.count <= mostFaults && Seed.chance(order, 0.8)
    if (["failed", "budget"].includes(Journal.endingOf(runId, this.entries()) ?? "")) this.isReopened = true
    const mayFail = this.isFaulty && this.count <= mostFaults
    const trouble = Draws.maybe(order, mayFail ? 0.3 : 0, () => ({
      // As for one that is stopped: a limit that ends it on its way back leaves a transcript with less.
      what: Seed.pick(order, this.isDurable || this.count === 1 ? (["outage", "limit"] as const) : ["outage" as const]),
      after: Seed.below(order, 6)
    }))
    this.answersLeft = trouble?.what === "outage" ? trouble.after : Number.POSITIVE_INFINITY
    const fault =
      isFaulty && trouble === undefined
        ? { what: Seed.pick(order, FaultyJournal.faults), at: 1 + Seed.below(order, 10) }
        : undefined
    return {
      time: SeededScheduler.make(order),
      journal: FaultyJournal.make(this.memory, order, fault, this.log),
      heard: [],
      ledger: Budget.make(this.limits),
      trouble,
      isAgain: ["answered", "refused"].includes(Journal.endingOf(runId, this.entries()) ?? ""),
      seen: Usage.noSpend,
      result: undefined,
      exit: undefined
    }
  }

  private effectOf(process: Process, before: Process | undefined): Effect.Effect<Conductor.RunResult> {
    const { heard, journal, ledger, trouble } = process
    const budget = trouble?.what === "limit" ? { calls: trouble.after } : undefined
    const conductor = Conductor.make({ ...this.options, budget })
    const listener = (event: RunEvent.RunEvent) => void heard.push(event)
    const options = { runId, ledger, listener, journal: this.isDurable ? journal.journal : undefined }
    const waiting = before?.result?.waitingFor ?? []
    // Some of what it waits for, or all.
    const some = waiting.filter(() => !this.isFaulty || Seed.chance(this.order, 0.7))
    const results = Object.fromEntries(some.map(({ for: what, id }) => [id, ToolWorld.given(this.world, id, what)]))
    const transcript = before && Transcript.fromEvents(before.heard)
    if (!this.isDurable) {
      return transcript === undefined
        ? conductor.run(task, options)
        : conductor.resume({ transcript, results }, options)
    }
    return this.entries().length === 0 || (some.length === 0 && Seed.chance(this.order, 0.5))
      ? conductor.run(task, options)
      : conductor.resume({ runId, results }, options)
  }

  private async run(process: Process, before: Process | undefined): Promise<void> {
    const { time } = process
    const context = Context.mergeAll(
      Context.make(Scheduler.Scheduler, time.scheduler),
      Context.make(Clock.Clock, time.clock),
      Context.make(References.MinimumLogLevel, "None"),
      Context.make(Resilience.Gate, undefined),
      Context.make(ResponseCache.ResponseCache, undefined)
    ) as Context.Context<never>
    const fiber: Fiber.Fiber<Conductor.RunResult> = Effect.runForkWith(context)(this.effectOf(process, before))
    fiber.addObserver((exit) => {
      process.exit = exit
      if (exit._tag === "Success") process.result = exit.value
    })
    // The transcript of a run that was stopped on its way back has less than the one before.
    const mayStop = this.isDurable || this.count === 1
    const isStopped =
      mayStop &&
      process.trouble === undefined &&
      this.isFaulty &&
      this.count <= mostFaults &&
      Seed.chance(this.order, 0.25)
    if (isStopped) time.after(Seed.below(this.order, 120), () => fiber.interruptUnsafe())
    await this.rest(process)
  }

  private async rest(process: Process): Promise<void> {
    const { journal, ledger, time } = process
    const onTask = () => {
      this.complain(Invariants.ofAccount("the account", ledger, process.seen))
      process.seen = ledger.spent()
      if (journal.state() !== "goes-on") throw new Gone()
    }
    try {
      await time.rest({ onTask, promises: true, isEnough: () => false })
      // It may have gone as a promise was kept, which is no task.
      if (journal.state() === "goes-on") this.checkEnd(process)
    } catch (error) {
      if (!(error instanceof Gone)) throw error
    }
    this.tasks += time.tasks()
  }

  /** Checks that a process that has ended left no sleeping fiber and no open reservation. */
  private checkEnd({ exit, ledger, time }: Process): void {
    if (exit === undefined) this.complain("a process never ends")
    if (time.sleepers() !== 0) this.complain(`${time.sleepers()} fibers sleep on after the end`)
    for (const problem of Invariants.ofRest("the account", ledger)) this.complain(problem)
  }

  /** Another process takes over from one that is dead or paused. A paused process later continues next to it. */
  private handOver(process: Process): void {
    const { journal } = process
    if (journal.state() === "still") this.zombies.push(process)
    if (journal.state() !== "goes-on" || Seed.chance(this.order, 0.5)) journal.end()
  }

  private async toTheEnd(): Promise<Process> {
    let before: Process | undefined
    while (this.count < mostProcesses) {
      const process = this.begin()
      await this.run(process, before)
      const { result } = process
      const isSuspended = result?.ending === "suspended"
      if (isSuspended) this.checkWaiting(result)
      const isResumable = process.trouble !== undefined && (result?.ending === "failed" || result?.ending === "budget")
      const isDown = process.trouble?.what === "outage" && this.answersLeft < 0
      if (isDown && (!isResumable || hasNestedEndDespiteOutage(process.heard))) this.isChanged = true
      if (isResumable) this.isReopened = true
      const isEnded = result !== undefined && !isSuspended && result.ending !== "interrupted" && !isResumable
      if (isEnded && !isBroken(result)) {
        await this.wakeZombies()
        return process
      }
      this.handOver(process)
      if (Seed.chance(this.order, 0.5)) await this.wakeZombies()
      // It is unknown what a killed process waited for. A transcript is that of the last process that has one.
      if (result !== undefined || !this.isDurable) before = process
      else if (before !== undefined) before = { ...before, result: undefined }
    }
    this.complain(`the run never ends: ${before?.result?.detail}`)
    return this.begin()
  }

  private async wakeZombies(): Promise<void> {
    this.areZombies = true
    for (const zombie of this.zombies.splice(0)) {
      zombie.journal.wake()
      await this.rest(zombie)
    }
    this.areZombies = false
  }

  private checkWaiting({ waitingFor }: Conductor.RunResult): void {
    if (!this.isDurable) return
    const told = this.memory.runs.get(runId)?.head()?.waitsFor ?? []
    const ids = waitingFor.map(({ id }) => id)
    if (told.length !== ids.length || !ids.every((id) => told.some((text) => text.includes(`(${id}`))))
      this.complain(`the run waits for ${ids}, and its journal says ${told}`)
  }

  // -----------------------------------------------------------------------------------------------------------------
  // The end
  // -----------------------------------------------------------------------------------------------------------------

  /** Runs the simulation to its end and returns its counts. */
  async simulate(): Promise<Found & { readonly transcript: Transcript.Transcript | undefined }> {
    let last: Process | undefined
    try {
      last = await this.toTheEnd()
      if (last.result !== undefined) this.check(last, last.result)
      if (this.isDurable) await this.again(last)
    } catch (error) {
      this.complain(error instanceof Error ? (error.stack ?? error.message) : "something was thrown through")
    }
    const events = last?.heard ?? []
    return {
      seed: this.seed,
      problems: [...new Set(this.witness.problems)],
      runs: this.count,
      calls: this.witness.calls(),
      tasks: this.tasks,
      reserved: 0,
      events,
      transcript: Transcript.fromEvents(events)
    }
  }

  private check({ heard, isAgain, ledger }: Process, result: Conductor.RunResult): void {
    const { witness } = this
    const transcript = Transcript.fromEvents(heard)!
    const told = {
      name: "the run",
      events: heard,
      times: [],
      transcript,
      maxRounds: 1,
      skipsUnseen: false,
      revisions: 0
    }
    const charged = isAgain ? result.spend : ledger.spent()
    for (const problem of Invariants.ofSums("the run", Invariants.toldSpend(transcript), charged))
      this.complain(problem)
    const sight = this.isReopened ? [] : Invariants.ofSight([told], witness, result.ending !== "budget")
    for (const problem of sight) this.complain(problem)
    for (const problem of SurvivalInvariants.ofTools(this.begun, ToolWorld.repeatable)) this.complain(problem)
    if (!this.isDurable) return
    const found = { runId, entries: this.entries(), log: this.log, calls: witness.calls() }
    for (const problem of SurvivalInvariants.ofJournal({ ...found, spend: result.spend })) this.complain(problem)
  }

  /** Checks that a run that has ended permanently gives the same result and calls no worker. */
  private async again(last: Process): Promise<void> {
    const calls = this.witness.calls()
    if (last.result?.ending === "failed" || last.result?.ending === "budget") return
    last.journal.end()
    const process = this.begin()
    await this.run(process, undefined)
    if (this.witness.calls() !== calls) this.complain("a run that has ended asks again")
    const [one, other] = [last.result, process.result]
    if (one?.answer !== other?.answer || one?.ending !== other?.ending || one?.spend.calls !== other?.spend.calls)
      this.complain(`a run that has ended with ${one?.ending} is given again as ${other?.ending}`)
  }
}

/** Whether a nested run has answered although some of its calls met the outage: that answer is final. */
const hasNestedEndDespiteOutage = (heard: ReadonlyArray<RunEvent.RunEvent>): boolean => {
  const met = new Set(heard.filter(ToolWorld.isOutage).map((event) => event.runId))
  return heard.some(
    (event) =>
      event.type === "run-finished" &&
      event.runId !== runId &&
      (event.ending === "answered" || event.ending === "refused") &&
      met.has(event.runId)
  )
}

/** Whether it ended because of its journal: it can be gone on with. */
const isBroken = ({ error }: Conductor.RunResult): boolean =>
  error instanceof Journal.JournalError || error instanceof Journal.JournalMismatch

/** Schemas and streams are loaded before all simulations: a seeded scheduler waits for no module. */
const load = async () => {
  await loadAll()
  for (let seed = 0; seed < 8; seed++) await new Survival(seed, false).simulate()
}
const loaded = load()

/**
 * Runs the simulation of a seed. A run must be equal to its uninterrupted form, unless a limit ended it early or it has
 * an unconfirmed call that may not be repeated.
 */
export const simulate = async (seed: number): Promise<Found> => {
  await loaded
  const survival = new Survival(seed, true)
  const { transcript, ...found } = await survival.simulate()
  const twin = new Survival(seed, false)
  const whole = await twin.simulate()
  // Two steps may have the same answer, and each is checked. So may a step and its nested run, after another plan.
  const anew = survival.isChanged ? [] : [...survival.checkedAgain].filter((name) => twin.checks.get(name) === 1)
  const problems = [...found.problems, ...whole.problems, ...anew.map((name) => `the check ${name} was asked again`)]
  // Chains that overtake each other are numbered in the order of a process.
  const isAlike = !survival.isChanged && !survival.hasChains()
  const isComparable = survival.limits.tokens === undefined && transcript !== undefined && isAlike
  if (isComparable && !JSON.stringify(transcript).includes("its result was lost")) {
    const [one, other] = [transcript, whole.transcript].map((whole) =>
      SurvivalInvariants.timeless(whole, survival.isReopened)
    )
    if (one !== other)
      problems.push(`another run than it would have been: ${SurvivalInvariants.difference(one!, other!)}`)
  }
  return { ...found, problems }
}
