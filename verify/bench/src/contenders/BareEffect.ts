/**
 * Plain Effect: one fiber per step, which joins the fibers that it depends on. Any engine built on Effect has at least
 * this cost.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Contender } from "../Contender.ts"
import { compose, type Workload } from "../Workload.ts"

const program = Effect.fnUntraced(function* ({ plan, worker }: Workload) {
  const fibers: Array<Fiber.Fiber<string>> = []
  const step = Effect.fnUntraced(function* (index: number) {
    const answers: Array<string> = []
    for (const earlier of plan.steps[index]!.access) answers[earlier] = yield* Fiber.join(fibers[earlier]!)
    const messages = compose(plan, index, (earlier) => answers[earlier]!)
    return yield* Effect.promise(() => worker(index)(messages))
  })
  for (let index = 0; index < plan.steps.length; index++) fibers.push(yield* Effect.forkChild(step(index)))
  return yield* Fiber.join(fibers.at(-1)!)
})

/** The same with a span for the run and for each step, and a list of events. */
const recorded = Effect.fn("run")(function* ({ plan, worker }: Workload) {
  const record: Array<{
    readonly type: string
    readonly at: number
    readonly step?: number | undefined
    readonly answer?: string | undefined
  }> = []
  const fibers: Array<Fiber.Fiber<string>> = []
  const step = Effect.fn("step")(function* (index: number) {
    const answers: Array<string> = []
    for (const earlier of plan.steps[index]!.access) answers[earlier] = yield* Fiber.join(fibers[earlier]!)
    yield* Effect.annotateCurrentSpan({ step: index })
    record.push({ type: "step-started", at: Date.now(), step: index })
    const messages = compose(plan, index, (earlier) => answers[earlier]!)
    const answer = yield* Effect.promise(() => worker(index)(messages))
    record.push({ type: "step-finished", at: Date.now(), step: index, answer })
    return answer
  })
  record.push({ type: "run-started", at: Date.now() })
  for (let index = 0; index < plan.steps.length; index++) fibers.push(yield* Effect.forkChild(step(index)))
  const answer = yield* Fiber.join(fibers.at(-1)!)
  record.push({ type: "run-finished", at: Date.now(), answer })
  return answer
})

export const contender: Contender = {
  name: "effect",
  prepare: async (workload) => ({ run: () => Effect.runPromise(program(workload)) }),
  prepareRecorded: async (workload) => ({ run: () => Effect.runPromise(recorded(workload)) })
}
