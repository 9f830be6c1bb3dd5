/** Simulated policies and critics. Every subtask names its step, so that a request can be assigned to it. */

import { Baselines, type Check, Critic, Grader, LanguagePolicy, Seed, type Workflow, WorkflowText } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import { policy as promisePolicy } from "@divisi/core/promise"
import { WorkerStream } from "@divisi/core/streams"
import type { PartStream, Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Nonsense from "./nonsense.ts"
import type { World } from "./SimulatedWorker.ts"
import { address } from "./Witness.ts"

type View = Omit<Policy.Context, "complete">

// -------------------------------------------------------------------------------------------------------------------
// Workflows
// -------------------------------------------------------------------------------------------------------------------

const accessOf = (draw: Seed.Draw, step: number, isTight: boolean): Workflow.Access => {
  if (isTight && Seed.chance(draw, 0.8)) return []
  if (Seed.chance(draw, 0.3)) return "all"
  const seen: Array<number> = []
  for (let earlier = 0; earlier < step; earlier++) if (Seed.chance(draw, 0.4)) seen.push(earlier)
  return seen
}

/** A check of the run, or a worker of the pool that judges. */
const checkOf = (draw: Seed.Draw, { checks = [], pool }: View): Workflow.Step["check"] => ({
  by: checks.length > 0 && Seed.chance(draw, 0.6) ? Seed.pick(draw, checks) : Seed.below(draw, pool.workers.length),
  onFailure: Seed.pick(draw, ["revise", "revise", "next", "continue"])
})

/** Some steps of earlier rounds, for steps that may refer to them. */
const earlierOf = (draw: Seed.Draw, { previous }: View): Workflow.Step["earlier"] =>
  (previous?.rounds ?? []).flatMap(({ workflow }, round) =>
    workflow.steps.flatMap((_, step) => (Seed.chance(draw, 0.3) ? [{ round, step }] : []))
  )

/** Additional fields of steps that the paper does not have, in some workflows. */
const moreOf = (draw: Seed.Draw, view: View): Pick<Workflow.Step, "check" | "earlier"> => ({
  ...(view.previous !== undefined && Seed.chance(draw, 0.4) && { earlier: earlierOf(draw, view)! }),
  ...(Seed.chance(draw, 0.4) && { check: checkOf(draw, view)! })
})

const stepOf = (draw: Seed.Draw, { pool, round, self, task }: View, step: number, isTight: boolean): Workflow.Step => ({
  worker: Seed.below(draw, pool.workers.length + (self ? 1 : 0)),
  // The question of a nested run ends with the subtask of its step: an empty one would pass for it.
  subtask: !task.id.includes("/") && Seed.chance(draw, 0.1) ? "" : `Do ${address(task.id, round, step)}`,
  access: accessOf(draw, step, isTight)
})

/** Draws a workflow. In a recursive round, it may keep the previous answer. */
export const workflowOf = (
  draw: Seed.Draw,
  view: View,
  { isTight, seed }: Pick<World, "isTight" | "seed">
): Workflow.Workflow => {
  if (Policy.canStand(view.previous) && Seed.chance(draw, 0.2)) return { steps: [] }
  // Drawn apart: a world without checks is what it was before there were any.
  const more = Seed.draw(Seed.spread(seed, view.seed, view.task.id, view.round, "more"))
  const hasMore = (view.checks ?? []).length > 0 && Seed.chance(more, 0.8)
  const steps = Array.from({ length: 1 + Seed.below(draw, view.maxSteps) }, (_, step) => ({
    ...stepOf(draw, view, step, isTight),
    ...(hasMore && moreOf(more, view))
  }))
  return Seed.chance(draw, isTight ? 0.5 : 0.15) ? { steps, answer: "majority" } : { steps }
}

/** A workflow in the text form, with what a model may write in this round. */
export const written = ({ steps }: Workflow.Workflow, { checks = [], evidence }: View): string => {
  const named = steps.map(({ check, earlier, ...step }) => ({
    ...step,
    ...(checks.length > 0 && check !== undefined && { check }),
    ...(evidence !== undefined && earlier !== undefined && { earlier })
  }))
  return WorkflowText.write({ steps: named }).replaceAll('"all"', '["all"]').replaceAll('["all"]]', '"all"]')
}

// -------------------------------------------------------------------------------------------------------------------
// Policies
// -------------------------------------------------------------------------------------------------------------------

/** Draws what is to become of a round; now and then it stops with the answer of a step that has none. */
export const revisionOf = (view: Policy.Revising, world: Pick<World, "isTight" | "seed">): Policy.Revision => {
  const draw = Seed.draw(Seed.spread(world.seed, view.seed, view.task.id, "revision"))
  const { rounds = [] } = view.previous
  switch (Seed.below(draw, 3)) {
    case 0:
      return { type: "go-on" }
    case 1: {
      const some = rounds.flatMap(({ answers }, round) =>
        answers.flatMap((answer, step) =>
          answer?.type === "answered" || Seed.chance(draw, 0.1) ? [{ round, step }] : []
        )
      )
      return { type: "stop", answer: Seed.pick(draw, [...some, { round: 0, step: 9 }]) }
    }
    default:
      return { type: "re-plan", workflow: workflowOf(draw, view, world) }
  }
}

/** Writes the same for the same task and round. */
const drawn = (world: World): Policy.Policy => {
  const { draw } = world
  const seed = Seed.below(draw, 1 << 30)
  const drawOf = ({ round, task }: View) => Seed.draw(Seed.spread(seed, task.id, round))
  const revises = Seed.chance(Seed.draw(Seed.spread(seed, "revises")), 0.5)
  return {
    name: "drawn",
    ...(revises && { revise: (view: Policy.Revising) => Effect.sync(() => revisionOf(view, world)) }),
    propose: (view) => Effect.sync(() => ({ workflow: workflowOf(drawOf(view), view, world) }))
  }
}

/** A worker with other answers: the text that it writes as a planner replaces its answers, unless they are endless. */
const planner = (worker: Worker, text: string): Worker => ({
  ...worker,
  id: "planner",
  settings: text,
  generate: (request) => {
    const stream = WorkerStream.generate(worker, request)
    return planned(stream, text)
  }
})

const planned = (stream: PartStream, text: string): PartStream =>
  Stream.map(stream, (part) => (part?.type === "text" && !(part.text?.length > 1000) ? { ...part, text } : part))

/** A language model that writes workflows, and now and then something else. */
const language = (world: World, model: Worker): Policy.Policy => ({
  name: "language",
  propose: (context) => {
    const { draw } = world
    const text = Seed.chance(draw, 0.2) ? "I would rather not." : written(workflowOf(draw, context, world), context)
    const options = { model: planner(model, text), prompt: { access: "fine-grained" as const }, resamples: 1 }
    const fallback = Seed.chance(draw, 0.5) ? drawn(world) : undefined
    return LanguagePolicy.make({ ...options, fallback }).propose(context)
  }
})

const failing: Policy.Policy = {
  name: "failing",
  propose: ({ round }) => Effect.fail(new Policy.PolicyError({ policy: "failing", detail: `nothing in ${round}` }))
}

const nonsensical = (draw: Seed.Draw): Policy.Policy => ({
  name: "nonsensical",
  propose: () => {
    switch (Seed.below(draw, 5)) {
      case 0:
        throw Nonsense.thrown(draw)
      case 1:
        return Effect.die(Nonsense.thrown(draw))
      case 2:
        return Effect.fail(Nonsense.thrown(draw) as never)
      case 3:
        return Effect.succeed(Nonsense.workflow(draw))
      default:
        return Effect.succeed({ workflow: Nonsense.workflow(draw) })
    }
  }
})

const asPromise = (world: World): Policy.Policy =>
  promisePolicy("promised", async (view) => {
    const { draw, moods } = world
    if (!Seed.chance(draw, moods.nonsense)) return workflowOf(draw, view, world)
    if (Seed.chance(draw, 0.5)) throw Nonsense.thrown(draw)
    return Nonsense.workflow(draw)
  })

/** Draws a policy over these workers. `promises` says whether it may be an async function. */
export const make = (world: World, workers: ReadonlyArray<Worker>, promises: boolean): Policy.Policy => {
  const { draw, moods } = world
  if (Seed.chance(draw, moods.nonsense)) return nonsensical(draw)
  const kind = Seed.below(draw, 10)
  if (kind === 0) return Seed.chance(draw, 0.1) ? failing : Baselines.bestOf({ n: 3 })
  if (kind === 1) return Baselines.selfConsistency({ n: 4 })
  if (kind === 2 && promises) return asPromise(world)
  if (kind <= 3) return language(world, Seed.pick(draw, workers))
  return drawn(world)
}

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/** Passes some answers, with the same verdict at each call. */
const passes = (answer: string): boolean => Seed.chance(Seed.draw(Seed.spread(0, answer)), 0.4)

/** The checks of a run and what they need. */
export interface Checked {
  readonly checks?: Check.Checks
  readonly revisions?: number
}

/**
 * The checks of a run, by a function, a grader, a critic or a worker. In a hostile world they may return anything. Four
 * worlds in ten have checks.
 */
export const checked = (
  draw: Seed.Draw,
  workers: ReadonlyArray<Worker>,
  {
    isSteady,
    nonsense,
    onChecked = () => {}
  }: {
    readonly isSteady: boolean
    readonly nonsense: number
    /** Called with the input of functions and graders. */
    readonly onChecked?: (check: string, answer: string) => void
  }
): Checked => {
  if (!Seed.chance(draw, 0.4)) return {}
  const revisions = Seed.pick(draw, [undefined, 0, 1, 3])
  const isWild = () => !isSteady && Seed.chance(draw, nonsense)
  const checks: Check.Checks = {
    quick: (answer) => {
      onChecked("quick", answer)
      if (isWild()) throw Nonsense.thrown(draw)
      return isWild() ? (Nonsense.workflow(draw) as never) : passes(answer) || "It does not pass."
    },
    graded: {
      name: "graded",
      grade: (_, answer) =>
        Effect.suspend(() => {
          onChecked("graded", answer)
          if (isWild()) throw Nonsense.thrown(draw)
          const grade = { correct: passes(answer), score: 0 }
          return Effect.as(Effect.sleep(isSteady ? 0 : Seed.below(draw, 20)), grade)
        })
    },
    critic: Critic.fromWorker(Seed.pick(draw, workers)),
    judge: Seed.pick(draw, workers)
  }
  return revisions === undefined ? { checks } : { checks, revisions }
}

// -------------------------------------------------------------------------------------------------------------------
// Critics
// -------------------------------------------------------------------------------------------------------------------

const gradeOf = (draw: Seed.Draw): Grader.Grade => {
  const score = Seed.pick(draw, [0, 0.5, 1])
  return { correct: score === 1, score, explanation: "so so" }
}

const grader = (world: World): Critic.Critic =>
  Critic.fromGrader({
    name: "grader",
    grade: ({ id }) => {
      const { draw, moods } = world
      if (Seed.chance(draw, moods.nonsense)) throw Nonsense.thrown(draw)
      if (Seed.chance(draw, moods.nonsense)) return Effect.die(Nonsense.thrown(draw))
      return Seed.chance(draw, 0.1)
        ? Effect.fail(new Grader.GraderError({ grader: "grader", task: id, detail: "it cannot say" }))
        : Effect.succeed(gradeOf(draw))
    }
  })

/** Draws a critic, or none. */
export const critic = (world: World, workers: ReadonlyArray<Worker>): Critic.Critic | undefined => {
  const { draw } = world
  switch (Seed.below(draw, 8)) {
    case 0:
      return Critic.fromWorker(Seed.pick(draw, workers))
    case 1:
      return grader(world)
    default:
      return undefined
  }
}
