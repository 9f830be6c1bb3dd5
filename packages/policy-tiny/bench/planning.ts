/**
 * How long a plan for a question of the gym takes: in plain TypeScript, in llama.cpp, and by the Conductor that reads.
 * All plan the same questions in turn, in one process; the first plan of each, which reads all descriptions, is told
 * apart.
 *
 *     node --conditions=@divisi/source bench/planning.ts [--tasks 40] [--rounds 7]
 */
import os from "node:os"
import type { RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as ReadingPolicy from "../src/ReadingPolicy.ts"
import * as TinyConductor from "../src/TinyConductor.ts"

/** A number of the command line, as in `--tasks 40`. */
const option = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}

/** Milliseconds on the clock, and of the processor. */
interface Time {
  readonly wall: number
  readonly processor: number
}

const timed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const [start, before] = [performance.now(), process.cpuUsage()]
  const value = yield* effect
  const { system, user } = process.cpuUsage(before)
  return { value, time: { wall: performance.now() - start, processor: (user + system) / 1000 } satisfies Time }
})

/** A policy that notes how long each of its plans takes. */
const noting = (policy: Policy, times: Array<Time>): Policy => ({
  ...policy,
  propose: (context) =>
    // One that plans at once does so when it is asked.
    Effect.map(timed(Effect.suspend(() => policy.propose(context))), ({ time, value }) => {
      times.push(time)
      return value
    })
})

const rounded = (value: number) => Math.round(value * 10) / 10

const median = (values: ReadonlyArray<number>) => rounded(values.toSorted((a, b) => a - b)[values.length >> 1]!)

const medians = (times: ReadonlyArray<Time>) => ({
  wall: median(times.map(({ wall }) => wall)),
  processor: median(times.map(({ processor }) => processor))
})

const viaLlamaCpp = Effect.gen(function* () {
  const { template, ...running } = TinyConductor.llamaCpp
  const model = yield* LlamaCppModel.load({ ...running, source: TinyConductor.file, sequences: 1 })
  return TinyConductor.make(LlamaCppModel.worker(model, { template }))
})

const pool = GymPool.make({ latencyMillis: 0 })
const tasks = Gym.tasks({ split: "test", count: option("tasks", 40), seed: 1 })

const program = Effect.gen(function* () {
  const rounds = option("rounds", 7)
  const contenders = []
  const loads: ReadonlyArray<readonly [string, Effect.Effect<Policy, unknown, Scope.Scope>]> = [
    ["typescript", TinyConductor.policy()],
    ["llama.cpp", viaLlamaCpp],
    ["reading", Effect.map(ReadingPolicy.load(), (model) => ReadingPolicy.make(model))]
  ]
  for (const [name, load] of loads) {
    const { time, value } = yield* timed(load)
    contenders.push({ name, policy: value, loading: time, first: [] as Array<Time>, rounds: [] as Array<Array<Time>> })
  }
  const answers = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      const times: Array<Time> = []
      const conductor = Conductor.make({ policy: noting(contender.policy, times), pool, seed: 1 })
      const plans: Array<unknown> = []
      const listener = (event: RunEvent.RunEvent) => {
        if (event.type === "workflow-proposed") plans.push(event.workflow)
      }
      for (const task of tasks) yield* conductor.run(task, { listener })
      if (contender.name !== "reading") answers.add(JSON.stringify(plans))
      if (round === 0) contender.first.push(times.shift()!)
      contender.rounds.push(times)
    }
  }
  return {
    cpu: os.cpus()[0]?.model,
    node: process.version,
    tasks: tasks.length,
    rounds,
    samePlans: answers.size === 1,
    milliseconds: Object.fromEntries(
      contenders.map(({ first, loading, name, rounds }) => {
        const perRound = rounds.map(medians)
        return [
          name,
          {
            loading: { wall: rounded(loading.wall), processor: rounded(loading.processor) },
            firstPlan: medians(first),
            plan: {
              wall: median(perRound.map(({ wall }) => wall)),
              processor: median(perRound.map((r) => r.processor))
            }
          }
        ]
      })
    )
  }
})

process.stdout.write(`${JSON.stringify(await Effect.runPromise(Effect.scoped(program)), null, 2)}\n`)
