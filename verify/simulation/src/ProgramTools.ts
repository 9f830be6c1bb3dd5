/**
 * Tools in the items of a program: handlers, a tool whose results come from the user, and one that requires approval.
 * The run is executed in one process, and again across several processes, the first of which is stopped. Both must
 * suspend for the same input.
 */
import { Budget, Journal, type RunEvent, Seed, Tool, Transcript, type Workflow } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { text } from "@divisi/core/Message"
import type { Policy } from "@divisi/core/Policy"
import type { Worker, WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Invariants from "./invariants.ts"

/** The parts of the simulation of a program that are used here. */
export interface Ground {
  readonly seed: number
  readonly steps: ReadonlyArray<Workflow.Step>
  readonly itemsAtOnce: number
  readonly hasQuorum: boolean
  readonly run: <A>(effect: Effect.Effect<A>, stopAfter?: number) => Promise<A | undefined>
  readonly say: (problem: string) => void
  readonly tasks: () => number
  readonly onCall: () => void
  readonly onEvent: (event: RunEvent.RunEvent) => void
}

/** The cell of a request, and the number of turns of its worker in that cell. */
const askedOf = ({ messages }: WorkerRequest) => {
  const texts = messages.map((message) => text(message))
  const at = texts.findLastIndex((one) => one.startsWith("Question:"))
  const step = Number(/Do <(\d+)>/.exec(texts[at]!)![1])
  const item = /Item:\ni\d+((?:\.\d+)+)/.exec(texts[at]!)?.[1]?.slice(1) ?? ""
  const after = messages.slice(at + 1)
  return {
    step,
    item,
    cell: `${step}:${item}`,
    turn: after.filter(({ role }) => role === "assistant").length,
    results: after.filter(({ role }) => role === "tool").map((message) => text(message))
  }
}

const names = ["read", "write", "person", "risky"]
const input = { type: "object", properties: { at: { type: "string" } }, required: ["at"] } as const
const mostProcesses = 40

/** The books of one way in which the program is played. */
class Play {
  readonly journal = Journal.makeMemory()
  readonly events: Array<RunEvent.RunEvent> = []
  /** How often each call of a handler has started. */
  readonly begun = new Map<string, number>()
  /** The number of turns in the journal, by cell and worker. */
  known = new Map<string, number>()
  private readonly ground: Ground

  constructor(ground: Ground) {
    this.ground = ground
  }

  private draw(...of: ReadonlyArray<string | number>): Seed.Draw {
    return Seed.draw(Seed.spread(this.ground.seed, "tools", ...of))
  }

  private tools(): ReadonlyArray<Tool.Tool> {
    const execute = ({ at }: { readonly at: string }, { call, item = "", step }: Tool.ToolContext) =>
      Effect.suspend(() => {
        const name = `${call.name} ${call.id}`
        this.begun.set(name, (this.begun.get(name) ?? 0) + 1)
        if (at !== `${step}:${item}`) this.ground.say(`${call.name} of ${at} is run for ${step}:${item}`)
        return Effect.as(Effect.sleep(Seed.below(this.draw("length", call.id), 12)), `R<${at}>`)
      })
    return [
      Tool.make({ name: "read", input, isRepeatable: true, execute }),
      Tool.make({ name: "write", input, execute }),
      Tool.make({ name: "person", input }),
      Tool.make({ name: "risky", input, needsApproval: true, execute })
    ]
  }

  private partsOf(id: string, request: WorkerRequest): ReadonlyArray<WorkerPart> {
    const { cell, item, step, turn } = askedOf(request)
    const draw = this.draw(id, cell, turn)
    const usage = { inputTokens: 10, outputTokens: 5 }
    if ((request.tools ?? []).length > 0 && Seed.chance(draw, turn === 0 ? 0.6 : 0.2)) {
      const calls = Array.from({ length: 1 + Seed.below(draw, 2) }, (_, index) => ({
        type: "tool-call" as const,
        id: `${id} ${cell} ${turn} ${index}`,
        name: Seed.pick(draw, names),
        arguments: JSON.stringify({ at: cell })
      }))
      return [...calls, { type: "finish", reason: "tool-calls", usage }]
    }
    const { list } = (this.ground.steps[step]!.gives ?? {}) as { readonly list?: number }
    const items = Array.from(
      { length: Seed.below(draw, (list ?? 0) + 1) },
      (_, index) => `i${step}.${[...(item === "" ? [] : [item]), index].join(".")}`
    )
    const said = list === undefined ? `A<${cell}> ${Seed.below(draw, 2)}` : JSON.stringify(items)
    return [
      { type: "text", text: said },
      { type: "finish", reason: "stop", usage }
    ]
  }

  private worker(id: string): Worker {
    return {
      id,
      capabilities: { tools: true },
      pricing: { inputPerMillion: 1, outputPerMillion: 2 },
      maxOutputTokens: 60,
      generate: (request) =>
        Effect.suspend(() => {
          const { cell, results, turn } = askedOf(request)
          this.ground.onCall()
          for (const result of results)
            if (result.startsWith("R<") && result !== `R<${cell}>`) this.ground.say(`${cell} is shown ${result}`)
          if (turn < (this.known.get(`${id} ${cell}`) ?? 0)) this.ground.say(`turn ${turn} of ${cell} is asked again`)
          return Effect.as(Effect.sleep(Seed.below(this.draw(id, cell, turn, "time"), 6)), this.partsOf(id, request))
        })
    }
  }

  conductor() {
    const { itemsAtOnce, steps } = this.ground
    const policy: Policy = { name: "program", propose: () => Effect.succeed({ workflow: { steps } }) }
    return Conductor.make({
      pool: WorkerPool.makeUnsafe(["a", "b", "c"].map((id) => this.worker(id))),
      policy,
      checks: { half: (answer: string) => answer.endsWith("0") || "It is not even." },
      retry: { maxAttempts: 1 },
      tools: this.tools(),
      toolAccess: "every-step",
      maxToolRounds: 2,
      maxSteps: 9,
      itemsAtOnce
    })
  }

  /** The turns of each cell that were paid for, as the journal has them. */
  private async read(): Promise<void> {
    const entries = await Effect.runPromise(this.journal.read("r"))
    const transcript = Transcript.fromEvents(Journal.eventsOf(entries))
    this.known = new Map()
    for (const step of transcript?.rounds[0]?.steps ?? [])
      for (const record of [step, ...(step.items ?? [])]) {
        const turns = (record.turns ?? []).filter(({ paid }) => paid !== undefined).length
        const paid = turns + (record.paid === undefined ? 0 : 1)
        // A worker that took over begins its own turns.
        if (record.reassigned.length === 0) this.known.set(`${record.worker} ${record.step}:${record.item ?? ""}`, paid)
      }
  }

  /** Provides some of the inputs that the run waits for. */
  private given({ waitingFor }: Conductor.RunResult, draw: Seed.Draw): Readonly<Record<string, Tool.Given>> {
    const ids = waitingFor.map(({ id }) => id)
    if (new Set(ids).size < ids.length) this.ground.say(`two calls wait under one id: ${ids.join(", ")}`)
    for (const { call, item = "", step } of waitingFor) {
      const { at } = JSON.parse(call.arguments) as { readonly at: string }
      if (at !== `${step}:${item}`) this.ground.say(`a call of ${at} waits at ${step}:${item}`)
    }
    const some = waitingFor.filter((_, index) => index === 0 || Seed.chance(draw, 0.6))
    return Object.fromEntries(
      some.map(({ for: what, id, item = "", step }): [string, Tool.Given] => [
        id,
        what === "approval" ? { approved: Seed.chance(this.draw("approve", id), 0.7) } : `R<${step}:${item}>`
      ])
    )
  }

  /** Runs the program to its end. A process that reaches the given number of tasks is stopped. */
  async play(name: string, stopAfter = Number.POSITIVE_INFINITY): Promise<Conductor.RunResult | undefined> {
    const draw = this.draw("given", name)
    const task = { id: "task", question: "q" }
    let before: Conductor.RunResult | undefined
    let left = stopAfter
    for (let count = 0; count < mostProcesses; count++) {
      const ledger = Budget.make({})
      const recorder = Transcript.recorder()
      const listener = (event: RunEvent.RunEvent) => {
        recorder.listener(event)
        this.ground.onEvent(event)
      }
      const options = { journal: this.journal, ledger, listener }
      const results = before === undefined ? {} : this.given(before, draw)
      const isBegun = (await Effect.runPromise(this.journal.read("r"))).length > 0
      if (isBegun) await this.read()
      const effect = isBegun
        ? this.conductor().resume({ runId: "r", results }, options)
        : this.conductor().run(task, { ...options, runId: "r" })
      const from = this.ground.tasks()
      const result = await this.ground.run(effect, left > 0 ? left : undefined)
      const wasStopped = left > 0 && left <= this.ground.tasks() - from
      left -= this.ground.tasks() - from
      if (wasStopped && (result === undefined || result.ending === "interrupted")) continue
      if (result === undefined) {
        this.ground.say(`${name}: with tools it never ends`)
        return undefined
      }
      const { open } = Invariants.reservedOf(ledger)
      if (open !== 0) this.ground.say(`${name}: ${open} calls stay reserved as it is ${result.ending}`)
      const transcript = recorder.transcript()
      const told = transcript === undefined ? undefined : Invariants.toldSpend(transcript).calls
      if (told !== result.spend.calls)
        this.ground.say(`${name}: ${told} calls are reported, ${result.spend.calls} were charged (${result.detail})`)
      if (result.ending !== "suspended") return result
      if (result.waitingFor.length === 0) this.ground.say(`${name}: it is suspended and waits for nothing`)
      before = result
    }
    this.ground.say(`${name}: it is suspended for ever`)
    return undefined
  }

  /** No handler that may not be repeated has begun twice. */
  check(name: string): void {
    for (const [call, count] of this.begun)
      if (count > 1 && !call.startsWith("read ")) this.ground.say(`${name}: ${call} was run ${count} times`)
  }
}

/** The modules that the first tools and lists need are loaded before: a seeded scheduler does not wait for a module. */
const load = async () => {
  const step = (more: Partial<Workflow.Step>): Workflow.Step => ({ worker: 0, subtask: "Do <0>", access: [], ...more })
  for (let seed = 0; seed < 8; seed++) {
    const play = new Play({
      seed,
      steps: [step({ gives: { list: 2 } }), step({ subtask: "Do <1>" })],
      itemsAtOnce: 2,
      hasQuorum: false,
      run: (effect) => Effect.runPromise(effect),
      say: () => {},
      tasks: () => 0,
      onCall: () => {},
      onEvent: () => {}
    })
    await play.play("whole")
  }
}
let loaded: Promise<void> | undefined

/** Plays a program with tools, whole and stopped; both are the same run. */
export const simulate = async (ground: Ground): Promise<void> => {
  loaded ??= load()
  await loaded
  const [whole, stopped] = [new Play(ground), new Play(ground)]
  const before = ground.tasks()
  const one = await whole.play("whole")
  whole.check("whole")
  const stop =
    1 + Seed.below(Seed.draw(Seed.spread(ground.seed, "tools", "stop")), Math.max(1, ground.tasks() - before))
  const other = await stopped.play("stopped", stop)
  stopped.check("stopped")
  if (one === undefined || other === undefined || ground.hasQuorum) return
  // The call of a handler that was stopped is lost, so the answer may be another one.
  const isLost = [...stopped.begun.keys()].length !== [...whole.begun.keys()].length
  if (isLost) return
  if (one.ending !== other.ending || one.answer !== other.answer)
    ground.say(
      `with tools, stopped: ${other.ending} ${other.answer}, not ${one.ending} ${one.answer} (${other.detail})`
    )
}
