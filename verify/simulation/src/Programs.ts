/**
 * Executes a random program (lists, items, conditions, quorums): completely, within a budget, resumed from its
 * transcript, and killed and resumed from its journal. An oracle that is independent of the scheduler determines what
 * each call may see.
 */
import { isDeepStrictEqual } from "node:util"
import {
  Budget,
  Journal,
  Price,
  Resilience,
  ResponseCache,
  type RunEvent,
  Seed,
  Transcript,
  type Workflow
} from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { text } from "@divisi/core/Message"
import type { Policy } from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import * as Wire from "@divisi/core/Wire"
import type { Worker, WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import { loadAll } from "../../../packages/core/src/OnDemand.ts"
import * as Invariants from "./invariants.ts"
import * as ProgramTools from "./ProgramTools.ts"
import * as SeededScheduler from "./SeededScheduler.ts"
import type { Found } from "./SimulatedRuns.ts"

type Step = Workflow.Step

// -------------------------------------------------------------------------------------------------------------------
// Programs
// -------------------------------------------------------------------------------------------------------------------

type Axes = ReadonlyArray<ReadonlyArray<number>>

const isList = ({ gives }: Step): boolean => gives !== undefined

/**
 * The steps whose lists determine the items of each step. This is implemented again here, because the oracle does not
 * use the code under test.
 */
const axesOf = (steps: ReadonlyArray<Step>): Axes => {
  const axes: Array<ReadonlyArray<number>> = []
  for (const { each } of steps) {
    if (each === undefined) axes.push([])
    else axes.push(isList(steps[each]!) ? [...axes[each]!, each] : axes[each]!)
  }
  return axes
}

const stepsBefore = (step: number) => Array.from({ length: step }, (_, index) => index)

const seesOf = ({ access }: Step, step: number): ReadonlyArray<number> =>
  access === "all" ? stepsBefore(step) : access

/** Draws the steps of a program; each obeys the rules. */
const drawSteps = (draw: Seed.Draw): ReadonlyArray<Step> => {
  const steps: Array<Step> = []
  const count = 2 + Seed.below(draw, 5)
  for (let at = 0; at < count; at++) {
    const axes = axesOf(steps)
    const access = Seed.chance(draw, 0.3) ? "all" : stepsBefore(at).filter(() => Seed.chance(draw, 0.5))
    const sources = stepsBefore(at).filter(
      (index) =>
        (isList(steps[index]!) || axes[index]!.length > 0) && axes[index]!.length + (isList(steps[index]!) ? 1 : 0) <= 2
    )
    const each = sources.length > 0 && Seed.chance(draw, 0.6) ? Seed.pick(draw, sources) : undefined
    const plain: Step = {
      worker: Seed.below(draw, 3),
      subtask: `Do <${at}>`,
      access,
      ...(each !== undefined && { each })
    }
    const own = axesOf([...steps, plain])[at]!
    const gives =
      at < count - 1 && own.length < 2 && Seed.chance(draw, 0.45) ? { list: 1 + Seed.below(draw, 4) } : undefined
    const check =
      gives === undefined && Seed.chance(draw, 0.3)
        ? { by: "half", onFailure: Seed.pick<Workflow.OnFailure>(draw, ["continue", "next"]) }
        : undefined
    const checked = stepsBefore(at).filter(
      (index) => steps[index]!.check !== undefined && axes[index]!.every((axis, depth) => own[depth] === axis)
    )
    const when = checked.length > 0 && Seed.chance(draw, 0.4) ? { failed: Seed.pick(draw, checked) } : undefined
    const seen = seesOf(plain, at).length
    const enough =
      seen > 1 && when === undefined && Seed.chance(draw, 0.3)
        ? {
            answers: 1 + Seed.below(draw, seen),
            ...(Seed.chance(draw, 0.5) && { graceMillis: 1 + Seed.below(draw, 4) })
          }
        : undefined
    steps.push({
      ...plain,
      ...(gives && { gives }),
      ...(check && { check }),
      ...(when && { when }),
      ...(enough && { enough })
    })
  }
  return steps
}

// -------------------------------------------------------------------------------------------------------------------
// Workers
// -------------------------------------------------------------------------------------------------------------------

/** A call as its worker received it: its cell, and the cells whose answers it saw. */
interface Asked {
  readonly cell: string
  readonly seen: ReadonlySet<string>
  isAnswered: boolean
}

const cellName = (step: number, path: ReadonlyArray<number> | string): string =>
  `${step}:${typeof path === "string" ? path : path.join(".")}`

const pathOf = (name: string): ReadonlyArray<number> => (name === "" ? [] : name.split(".").map(Number))

const askedOf = ({ messages }: WorkerRequest): Asked & { readonly step: number; readonly isAgain: boolean } => {
  const texts = messages.map((message) => text(message))
  const at = texts.findLastIndex((one) => one.startsWith("Question:"))
  const step = Number(/Do <(\d+)>/.exec(texts[at]!)![1])
  const item = /Item:\ni\d+((?:\.\d+)+)/.exec(texts[at]!)?.[1]?.slice(1) ?? ""
  const answers = messages.slice(0, at).flatMap((message) => (message.role === "assistant" ? [text(message)] : []))
  const seen = new Set(answers.flatMap((one) => [...one.matchAll(/A<([\d:.]+)>/g)].map(([, name]) => name!)))
  const isAgain = texts.slice(at + 1).some((one) => !one.startsWith("Answer with JSON"))
  return { cell: cellName(step, item), step, seen, isAgain, isAnswered: false }
}

class Programs {
  readonly problems: Array<string> = []
  readonly events: Array<RunEvent.RunEvent> = []
  readonly steps: ReadonlyArray<Step>
  readonly axes: Axes
  readonly hasQuorum: boolean
  readonly itemsAtOnce: number
  /** The number of items of the last list that each cell gave. */
  readonly given = new Map<string, number>()
  asked: Array<Asked> = []
  runs = 0
  calls = 0
  tasks = 0
  private order = 0

  readonly seed: number

  constructor(seed: number) {
    this.seed = seed
    this.steps = drawSteps(Seed.draw(Seed.spread(seed, "program")))
    this.axes = axesOf(this.steps)
    this.itemsAtOnce = Seed.pick(Seed.draw(Seed.spread(seed, "at once")), [2, 1000])
    this.hasQuorum = this.steps.some(({ enough }) => enough !== undefined)
  }

  private worker(id: string): Worker {
    return {
      id,
      pricing: { inputPerMillion: 1, outputPerMillion: 2 },
      maxOutputTokens: 60,
      generate: (request) =>
        Effect.suspend(() => {
          const asked = askedOf(request)
          const { cell, isAgain, step } = asked
          if (!isAgain) this.asked.push(asked)
          this.calls += 1
          const draw = Seed.draw(Seed.spread(this.seed, id, cell, request.messages.length))
          const { list } = (this.steps[step]!.gives ?? {}) as { readonly list?: number }
          const path = cell.split(":")[1]!
          const answer = Effect.suspend(() => {
            asked.isAnswered = true
            if (Seed.chance(draw, 0.05)) return Effect.die(new Error("boom"))
            // Now and then a list is longer than it may be.
            const length = Seed.below(draw, (list ?? 0) + 1) + (Seed.chance(draw, 0.1) ? (list ?? 0) : 0)
            if (list !== undefined) this.given.set(cell, length)
            const items = Array.from({ length }, (_, index) => `i${step}.${[...pathOf(path), index].join(".")}`)
            const said = list === undefined ? `A<${cell}> ${Seed.below(draw, 2)}` : JSON.stringify(items)
            return Effect.succeed([
              { type: "text" as const, text: said },
              { type: "finish" as const, reason: "stop" as const, usage: { inputTokens: 10, outputTokens: 5 } }
            ])
          })
          return Effect.andThen(Effect.sleep(Seed.below(draw, 6)), answer)
        })
    }
  }

  private readonly policy: Policy = {
    name: "program",
    propose: () => Effect.sync(() => ({ workflow: { steps: this.steps } }))
  }

  private readonly settings = {
    checks: { half: (answer: string) => answer.endsWith("0") || "It is not even." },
    retry: { maxAttempts: 1 }
  }

  private conductor(budget?: Conductor.Options["budget"], reassign?: "never") {
    return Conductor.make({
      ...this.settings,
      reassign,
      pool: this.pool(),
      policy: this.policy,
      maxSteps: 9,
      itemsAtOnce: this.itemsAtOnce,
      budget
    })
  }

  private pool() {
    return WorkerPool.makeUnsafe(["a", "b", "c"].map((id) => this.worker(id)))
  }

  /** Runs an effect in its own order of tasks, and stops it after the given number of tasks. */
  private async run<A>(
    effect: Effect.Effect<A>,
    stopAfter = Number.POSITIVE_INFINITY,
    promises = false
  ): Promise<A | undefined> {
    this.runs += 1
    const time = SeededScheduler.make(Seed.draw(Seed.spread(this.seed, "order", this.order++)))
    const context = Context.mergeAll(
      Context.make(Scheduler.Scheduler, time.scheduler),
      Context.make(Clock.Clock, time.clock),
      Context.make(References.MinimumLogLevel, "None"),
      Context.make(Resilience.Gate, undefined),
      Context.make(ResponseCache.ResponseCache, undefined)
    ) as Context.Context<never>
    let result: A | undefined
    let fiber: Fiber.Fiber<A, never> | undefined
    time.after(0, () => {
      fiber = Effect.runForkWith(context)(effect)
      fiber.addObserver((exit) => {
        if (exit._tag === "Success") result = exit.value
      })
    })
    await time.rest({
      promises,
      isEnough: () => false,
      onTask: () => {
        if (time.tasks() === stopAfter) fiber?.interruptUnsafe()
      }
    })
    this.tasks += time.tasks()
    return result
  }

  private say(problem: string): void {
    if (this.problems.length < 20) this.problems.push(problem)
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Invariants
  // -----------------------------------------------------------------------------------------------------------------

  private cellsOf(transcript: Transcript.Transcript): ReadonlyMap<string, Transcript.StepRecord> {
    const cells = new Map<string, Transcript.StepRecord>()
    for (const record of transcript.rounds[0]?.steps ?? []) {
      if (this.axes[record.step]!.length === 0) cells.set(cellName(record.step, ""), record)
      for (const item of record.items ?? []) cells.set(cellName(record.step, item.item!), item)
    }
    return cells
  }

  /** Whether two cells agree on the items that their steps share. */
  private agrees(step: number, path: ReadonlyArray<number>, other: number, otherPath: ReadonlyArray<number>): boolean {
    const [own, theirs] = [this.axes[step]!, this.axes[other]!]
    for (let at = 0; at < own.length && own[at] === theirs[at]; at++) if (path[at] !== otherPath[at]) return false
    return true
  }

  private ofSight(transcript: Transcript.Transcript): void {
    const cells = this.cellsOf(transcript)
    const records = [...cells].map(([key, record]) => {
      const [step = "", path = ""] = key.split(":")
      return { key, record, step: Number(step), path: pathOf(path) }
    })
    for (const { cell, seen } of this.asked) {
      const [at = "", own = ""] = cell.split(":")
      const step = Number(at)
      const path = pathOf(own)
      const allowed = new Set<string>()
      const due = new Set<string>()
      for (const other of records) {
        if (!seesOf(this.steps[step]!, step).includes(other.step) || other.step >= step) continue
        if (!this.agrees(step, path, other.step, other.path)) continue
        allowed.add(other.key)
        const isGiven = !isList(this.steps[other.step]!) && this.steps[other.step]!.when === undefined
        if (isGiven && other.record.state === "answered" && this.steps[step]!.enough === undefined) due.add(other.key)
        // A step that was spared has the answer that was checked.
        for (let source = other.step; this.steps[source]!.when !== undefined; ) {
          source = this.steps[source]!.when!.failed
          allowed.add(cellName(source, other.path.slice(0, this.axes[source]!.length)))
        }
      }
      for (const one of seen) if (!allowed.has(one)) this.say(`${cell} saw ${one}`)
      for (const one of due) if (!seen.has(one)) this.say(`${cell} did not see ${one}`)
    }
    for (const [key, { state }] of cells)
      if (state === "waiting" || state === "running") this.say(`${key} is ${state} at the end`)
  }

  /** Checks that a cell starts at the moment at which the last cell that it waits for has ended. */
  private ofOrder(events: ReadonlyArray<RunEvent.RunEvent>): void {
    const ends = new Map<string, number>()
    const starts: Array<{ readonly step: number; readonly path: ReadonlyArray<number>; readonly at: number }> = []
    for (const event of events) {
      if (!("step" in event) || event.step === undefined) continue
      const item = "item" in event ? (event.item ?? "") : ""
      const key = cellName(event.step, item)
      if (event.type === "step-started") starts.push({ step: event.step, path: pathOf(item), at: event.at })
      const isEnd = event.type === "step-finished" || event.type === "step-failed" || event.type === "step-skipped"
      const isEmpty = event.type === "step-unfolded" && event.items === 0
      if (isEnd || isEmpty || event.type === "step-joined") ends.set(key, event.at)
    }
    for (const { at, path, step } of starts) {
      const one = this.steps[step]!
      if (one.enough !== undefined || (one.each !== undefined && this.itemsAtOnce < 1000)) continue
      const inputs = [...ends].filter(([key]) => {
        const [of = "", other = ""] = key.split(":")
        const earlier = Number(of)
        const isInput = seesOf(one, step).includes(earlier) || one.when?.failed === earlier || one.each === earlier
        return earlier < step && isInput && this.agrees(step, path, earlier, pathOf(other))
      })
      const due = Math.max(...inputs.map(([, end]) => end), Number.NEGATIVE_INFINITY)
      if (Number.isFinite(due) && due !== at) this.say(`${cellName(step, path)} starts at ${at}, and was due at ${due}`)
    }
  }

  /** Checks that a step with a quorum reports, when it starts, all cells that it sees and that have not ended. */
  private ofQuorums(events: ReadonlyArray<RunEvent.RunEvent>, transcript: Transcript.Transcript): void {
    const cells = [...this.cellsOf(transcript).keys()]
    const ended = new Map<string, boolean>()
    for (const event of events) {
      if (!("step" in event) || event.step === undefined) continue
      const item = "item" in event ? (event.item ?? "") : ""
      const isLate = event.type === "step-skipped" && event.reason === "late"
      if (event.type === "step-finished" || event.type === "step-failed" || event.type === "step-skipped")
        ended.set(cellName(event.step, item), !isLate)
      if (event.type !== "step-started" || this.steps[event.step]!.enough === undefined) continue
      const { step, without = [] } = event
      const named = without.map(
        (name) => new RegExp(`^${name.replace(/[[\].]/gu, "\\$&").replaceAll("*", "\\d+")}$`, "u")
      )
      for (const cell of cells) {
        const [of = "", path = ""] = cell.split(":")
        const earlier = Number(of)
        const isSeen = earlier < step && seesOf(this.steps[step]!, step).includes(earlier)
        if (!isSeen || ended.get(cell) === true || !this.agrees(step, pathOf(item), earlier, pathOf(path))) continue
        const name = path === "" ? of : `${of}[${path}]`
        if (!named.some((one) => one.test(name)))
          this.say(`${step}:${item} does not report that it starts without ${name}`)
      }
    }
  }

  /** Every item of a list that was given is run, and no other. */
  private ofLists(transcript: Transcript.Transcript): void {
    const cells = this.cellsOf(transcript)
    const own = this.steps.flatMap(({ each }, step) =>
      each !== undefined && isList(this.steps[each]!) ? [{ each, step }] : []
    )
    for (const { each, step } of own) {
      if (transcript.rounds[0]?.steps[step]?.state === "skipped") continue
      for (const [key, { state }] of cells) {
        const [of = "", path = ""] = key.split(":")
        if (Number(of) !== each || state !== "answered") continue
        const depth = pathOf(path).length + 1
        const items = [...cells.keys()].filter((one) => {
          const [other = "", item = ""] = one.split(":")
          return (
            Number(other) === step &&
            pathOf(item).length === depth &&
            `${item}.`.startsWith(path === "" ? "" : `${path}.`)
          )
        })
        if (items.length !== this.given.get(key))
          this.say(`${items.length} items of the ${this.given.get(key)} of ${key}`)
      }
    }
  }

  private ofMoney(name: string, result: Conductor.RunResult, transcript: Transcript.Transcript): void {
    const told = Invariants.toldSpend(transcript)
    const isSame = told.calls === result.spend.calls && Math.abs(told.costUsd - result.spend.costUsd) < 1e-12
    if (!isSame) this.say(`${name}: ${told.calls} calls are reported, ${result.spend.calls} were charged`)
  }

  private ofLedger(name: string, ledger: Budget.Ledger): void {
    const { open } = Invariants.reservedOf(ledger)
    if (open !== 0) this.say(`${name}: ${open} calls stay reserved`)
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Runs
  // -----------------------------------------------------------------------------------------------------------------

  async simulate(): Promise<void> {
    const conductor = this.conductor()
    const recorder = Transcript.recorder()
    const own: Array<RunEvent.RunEvent> = []
    const listener = (event: RunEvent.RunEvent) => {
      recorder.listener(event)
      own.push(event)
      this.events.push(event)
    }
    const ledger = Budget.make({})
    const before = this.tasks
    const whole = await this.run(conductor.run({ id: "task", question: "q" }, { runId: "r", listener, ledger }))
    const taken = this.tasks - before
    const transcript = recorder.transcript()
    if (whole === undefined || transcript === undefined) return this.say("the run never ends")
    if (whole.detail?.includes("Step ") === true && whole.spend.calls === 0) return this.say(`refused: ${whole.detail}`)
    if (whole.ending !== "answered" && whole.ending !== "failed")
      this.say(`it ends as ${whole.ending}: ${whole.detail}`)
    this.ofSight(transcript)
    this.ofOrder(own)
    this.ofLists(transcript)
    this.ofQuorums(own, transcript)
    this.ofMoney("whole", whole, transcript)
    this.ofLedger("whole", ledger)
    const read = Wire.decodeTranscript(Wire.encodeTranscript(transcript))
    if (Result.isFailure(read) || !isDeepStrictEqual(read.success, transcript))
      this.say("its transcript is read as another")
    const { most } = this.ofPrice(whole)
    await this.capped(whole)
    await this.again(whole, transcript)
    await this.killed(whole, taken)
    await this.kept(whole)
    await this.admitted()
    await this.shared(most)
    // Drawn apart, so that the other programs are what they were.
    if (Seed.chance(Seed.draw(Seed.spread(this.seed, "has tools")), 0.2)) await this.tooled()
  }

  private tooled(): Promise<void> {
    const { hasQuorum, itemsAtOnce, seed, steps } = this
    return ProgramTools.simulate({
      hasQuorum,
      itemsAtOnce,
      seed,
      steps,
      // The reader of arguments is loaded with the first tools.
      run: (effect, stopAfter) => this.run(effect, stopAfter, true),
      say: (problem) => this.say(problem),
      tasks: () => this.tasks,
      onCall: () => {
        this.calls += 1
      },
      onEvent: (event) => void this.events.push(event)
    })
  }

  /** Checks that no program exceeds its budget. */
  private async capped(whole: Conductor.RunResult): Promise<void> {
    const draw = Seed.draw(Seed.spread(this.seed, "budget"))
    const limits = Seed.chance(draw, 0.5)
      ? { calls: Seed.below(draw, Math.max(1, whole.spend.calls)) }
      : { tokens: Seed.below(draw, 2000) }
    const ledger = Budget.make(limits)
    const recorder = Transcript.recorder()
    const task = { id: "task", question: "q" }
    const result = await this.run(this.conductor().run(task, { runId: "r", listener: recorder.listener, ledger }))
    if (result === undefined) return this.say("within a budget it never ends")
    const { calls, usage } = result.spend
    const tokens = usage.inputTokens + usage.outputTokens
    if (calls > (limits.calls ?? calls) || tokens > (limits.tokens ?? tokens))
      this.say(`it exceeds ${JSON.stringify(limits)}`)
    this.ofLedger("within a budget", ledger)
    this.ofMoney("within a budget", result, recorder.transcript()!)
  }

  private priceOf(reassign: "never" | "next"): Price.Price {
    return Price.of({ steps: this.steps }, { ...this.settings, reassign, pool: this.pool(), task: Task.make("q") })
  }

  /** The price of the program is not exceeded, and not undercut by a run that answered. */
  private ofPrice({ ending, spend }: Conductor.RunResult): Price.Price {
    const price = this.priceOf("next")
    const spent = {
      calls: spend.calls,
      tokens: spend.usage.inputTokens + spend.usage.outputTokens,
      costUsd: spend.costUsd
    }
    for (const part of ["calls", "tokens", "costUsd"] as const) {
      const [least, most] = [price.least[part] ?? 0, price.most[part] ?? Number.POSITIVE_INFINITY]
      if (spent[part] > most * (1 + 1e-12)) this.say(`it takes ${spent[part]} ${part}, and at most ${most} were priced`)
      if (ending === "answered" && spent[part] < least * (1 - 1e-12))
        this.say(`it takes ${spent[part]} ${part}, and at least ${least} were priced`)
    }
    return price
  }

  /** A program that is admitted is not cut short, and one that is not makes no call. */
  private async admitted(): Promise<void> {
    const { most } = this.priceOf("never")
    const draw = Seed.draw(Seed.spread(this.seed, "admit"))
    const calls = Math.max(0, most.calls - Seed.below(draw, 2))
    const run = this.conductor({ calls, admit: "plan" }, "never").run({ id: "task", question: "q" }, { runId: "r" })
    const result = await this.run(run)
    if (result === undefined) return this.say("with whole plans admitted it never ends")
    const isRefused = result.ending === "budget"
    if (isRefused !== calls < most.calls) this.say(`with ${calls} calls for ${most.calls} it ends as ${result.ending}`)
    if (isRefused && result.spend.calls > 0) this.say(`it is not admitted, and makes ${result.spend.calls} calls`)
  }

  /** Runs the program three times with a shared account; two of the runs need all of its amount. */
  private async shared(most: Price.Amount): Promise<void> {
    const draw = Seed.draw(Seed.spread(this.seed, "shared"))
    const calls = Seed.below(draw, 3 * most.calls + 1)
    const ledger = Budget.make({ calls })
    const of = (id: number) =>
      this.conductor({ admit: id < 2 ? "plan" : undefined }).run(
        { id: "task", question: "q" },
        { runId: `r${id}`, ledger }
      )
    const results = await this.run(Effect.all([of(0), of(1), of(2)], { concurrency: "unbounded" }))
    if (results === undefined) return this.say("on a shared account they never end")
    const spent = results.reduce((all, { spend }) => all + spend.calls, 0)
    if (spent > calls || spent !== ledger.spent().calls)
      this.say(`they make ${spent} calls of ${calls}, and ${ledger.spent().calls} were charged`)
    for (const { ending, spend } of results.slice(0, 2))
      if (ending === "budget" && spend.calls > 0) this.say(`an admitted run is cut short after ${spend.calls} calls`)
    this.ofLedger("on a shared account", ledger)
  }

  /** Checks that a finished run that is resumed from its transcript makes no request and gives the same result. */
  private async again(whole: Conductor.RunResult, transcript: Transcript.Transcript): Promise<void> {
    if (whole.ending !== "answered") return
    const asked = this.calls
    const again = await this.run(this.conductor().resume({ transcript }, {}))
    if (this.calls !== asked) this.say(`${this.calls - asked} calls are made again from its transcript`)
    if (again?.answer !== whole.answer || again?.spend.calls !== whole.spend.calls)
      this.say(
        `from its transcript: ${again?.answer} for ${again?.spend.calls} calls, not ${whole.answer} for ${whole.spend.calls}`
      )
  }

  /** A run that is killed in its middle continues from its journal, and asks for no answer twice. */
  private async killed(whole: Conductor.RunResult, taken: number): Promise<void> {
    const journal = Journal.makeMemory()
    const stop = 1 + Seed.below(Seed.draw(Seed.spread(this.seed, "kill")), Math.max(1, taken))
    this.asked = []
    const task = { id: "task", question: "q" }
    await this.run(this.conductor().run(task, { runId: "r", journal }), stop)
    const entries = await Effect.runPromise(journal.read("r"))
    if (entries.length === 0) return
    const known = Transcript.fromEvents(Journal.eventsOf(entries))
    if (known === undefined || known.ending !== "interrupted") return
    const records = this.cellsOf(known)
    const from = this.asked.length
    const recorder = Transcript.recorder()
    const rest = await this.run(this.conductor().resume({ runId: "r" }, { journal, listener: recorder.listener }))
    if (rest === undefined) return this.say("resumed, it never ends")
    if (
      rest.error !== undefined &&
      "_tag" in Object(rest.error) &&
      (rest.error as { _tag: string })._tag === "JournalMismatch"
    )
      this.say(`resumed: ${rest.detail}`)
    for (const { cell } of this.asked.slice(from)) {
      const record = records.get(cell)
      const isPaid = record?.paid !== undefined && record.reassigned.length === 0
      if (isPaid) this.say(`${cell} was answered before the run was stopped, and is asked again`)
    }
    this.ofMoney("resumed", rest, recorder.transcript()!)
    if (this.hasQuorum) return
    if (rest.ending !== whole.ending || rest.answer !== whole.answer)
      this.say(`resumed: ${rest.ending} ${rest.answer} (${rest.detail}), not ${whole.ending} ${whole.answer}`)
  }

  /**
   * Checks that a run whose last step answers on its reservation gives the same answer with the same budget, and the
   * whole answer without a budget, and that all of its answers stay charged.
   */
  private async kept(whole: Conductor.RunResult): Promise<void> {
    const { check, each, when } = this.steps.at(-1)!
    if (whole.ending !== "answered" || (each ?? check ?? when) !== undefined) return
    const draw = Seed.draw(Seed.spread(this.seed, "kept"))
    const calls = Seed.below(draw, Math.max(1, whole.spend.calls))
    const journal = Seed.chance(draw, 0.5) ? Journal.makeMemory() : undefined
    const budget = { calls, keep: "answer" } as const
    const larger = { calls: calls + Seed.below(draw, 3), keep: "answer" } as const
    const first = this.calls
    let before: { readonly result: Conductor.RunResult; readonly transcript: Transcript.Transcript } | undefined
    for (const [at, limits] of [budget, budget, larger, undefined].entries()) {
      const recorder = Transcript.recorder()
      const options = { runId: "r", journal, listener: recorder.listener }
      const conductor = this.conductor(limits)
      const asked = this.calls
      const result = await this.run(
        before === undefined
          ? conductor.run({ id: "task", question: "q" }, options)
          : journal === undefined
            ? conductor.resume({ transcript: before.transcript }, { listener: recorder.listener })
            : conductor.resume({ runId: "r" }, options)
      )
      const transcript = recorder.transcript()
      const name = `kept ${at} in ${journal === undefined ? "its transcript" : "its journal"}`
      if (result === undefined || transcript === undefined) return this.say(`${name}: it never ends`)
      this.ofMoney(name, result, transcript)
      if (result.spend.calls > (limits?.calls ?? result.spend.calls)) this.say(`${name}: it exceeds ${limits?.calls}`)
      const made = this.calls - first
      // A limit that stops it before it has repeated all steps leaves less.
      const isLess = result.spend.calls < made && (journal === undefined || at < 3)
      if (result.spend.calls !== made && !isLess)
        this.say(`${name}: ${result.spend.calls} calls are charged, and ${made} were made`)
      if (at === 1 && (this.calls !== asked || result.answer !== before!.result.answer))
        this.say(`${name}: ${result.answer} after ${this.calls - asked} calls, not ${before!.result.answer}`)
      if (at === 3 && !this.hasQuorum && (result.ending !== whole.ending || result.answer !== whole.answer))
        this.say(`${name}: ${result.ending} ${result.answer} (${result.detail}), not ${whole.answer}`)
      before = { result, transcript }
      if (result.ending === "answered" || result.ending === "refused") return
    }
  }
}

// A seeded scheduler waits for no module.
await loadAll()

/** Runs the simulation of a program. */
export const simulate = async (seed: number): Promise<Found> => {
  const world = new Programs(seed)
  await world.simulate()
  const { calls, events, problems, runs, tasks } = world
  return { seed, problems, runs, calls, tasks, reserved: 0, events }
}
