/**
 * A policy driven by a head: up to five turns, each with one worker in one role.
 *
 * A thinker and the worker that it advises are steps of the same workflow. A verifier runs after a round, like a check;
 * then the answer is accepted or the next round starts. Rounds, budget and transcript are those of an ordinary run.
 */

import { Embedder, Escalation, OneWorker, Prompt, Options as Tables, type Workflow } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import type { BudgetExceeded } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Head from "./Head.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for {@link make}. */
export interface Options {
  /** Name of the policy. Default: `"head"`. */
  readonly name?: string | undefined
  /** The embedder to use. Must be the one that the head was trained with. Default: `Embedder.hashed()`. */
  readonly embedder?: Embedder.Embedder | undefined
}

/** The progress of a run, as {@link Head.decide} expects it, with the prompt for the next worker. */
interface Course extends Head.Situation {
  /** Number of answers in all rounds, including failed ones. */
  readonly answers: number
  readonly answeredBy?: string | undefined
  readonly objection?: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Roles
// -------------------------------------------------------------------------------------------------------------------

const instructions = {
  advise:
    "Do not answer yet. Make a plan for the one who will: how to go about it, and what is easily overlooked. Be brief.",
  useAdvice: "Answer the question. Use the plan above where it is right.",
  again: "The previous answer may be wrong. Answer the question anew.",
  verify:
    "Check the answer above. Solve the question yourself where you can. Say briefly what is wrong with it, if anything. End with a line `Verdict: accept` or `Verdict: revise`."
} as const

/** Whether a verifier accepts an answer. Without a verdict, it accepts if its own answer is the same. */
const accepts = (said: string, answer: string): boolean => {
  const verdict = [...said.matchAll(/verdict\W{1,6}(accept|revise)/gi)].at(-1)?.[1]
  return verdict === undefined ? Escalation.voteOf(said) === Escalation.voteOf(answer) : /^accept/i.test(verdict)
}

/**
 * Returns a verifier's objection to an answer, or `undefined` if it accepts. If the verifier cannot be called, the
 * answer is accepted.
 */
const objectionBy = (
  ordinal: number,
  answer: string,
  { complete, pool, task }: Policy.Context
): Effect.Effect<string | undefined, BudgetExceeded> => {
  const messages = Prompt.workerMessages({
    task,
    workflow: {
      steps: [
        { worker: ordinal, subtask: "", access: [] },
        { worker: ordinal, subtask: instructions.verify, access: [0] }
      ]
    },
    step: 1,
    answers: [{ type: "answered", text: answer }]
  })
  const asked = complete({
    model: pool.workers[ordinal]!,
    request: { messages },
    attempt: 0,
    read: (said) => Result.succeed(accepts(said, answer))
  })
  const objection = Effect.map(asked, ({ completion, reading }) =>
    Result.getOrElse(reading, () => false) ? undefined : completion.trim() || "It does not say why."
  )
  return Effect.catchTag(objection, "WorkerError", () => Effect.succeed(undefined))
}

// -------------------------------------------------------------------------------------------------------------------
// Policy
// -------------------------------------------------------------------------------------------------------------------

const stands = (note: string): Policy.Proposal => ({ workflow: { steps: [] }, notes: [note] })

const subtaskOf = ({ isAdvised, objection }: Course): string => {
  if (objection !== undefined) return `${instructions.again} An objection to it: ${objection}`
  return isAdvised ? instructions.useAdvice : ""
}

/** Caches the embeddings of questions across rounds, because large embedding models are slow. */
const remembering = (embedder: Embedder.Embedder) => {
  const points = new WeakMap<Task.Task, Float32Array>()
  return (task: Task.Task): Effect.Effect<Float32Array, Embedder.EmbedderError> => {
    const known = points.get(task)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(Embedder.ask(embedder, [Task.question(task)]), ([point]) => {
      points.set(task, point!)
      return point!
    })
  }
}

const table = {
  name: Tables.name,
  embedder: Tables.madeBy("an embedder", "embed")
} satisfies Tables.ShapeOf<Options>

/**
 * Creates a policy that follows a head: up to five turns, each with the worker and role that the head chooses.
 *
 * **Details**
 *
 * A verifier accepts or rejects with the last `Verdict:` line of its text. Without such a line, it accepts the answer
 * if its own answer is the same. A worker does not verify its own answer if another worker is available. A worker that
 * failed is not called again. Earlier rounds are recomputed, not stored: the head makes the same decisions each time.
 *
 * **Gotchas**
 *
 * Only workers whose ids are in the head are called. If the head contains no worker of the pool, the policy fails with
 * a `PolicyError`, so that a fallback policy can plan.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, worker } from "@divisi/core/promise"
 * import { Head, HeadPolicy, Outcomes } from "@divisi/policy-router"
 * import * as Effect from "effect/Effect"
 * import * as Result from "effect/Result"
 *
 * const graded = Array.from({ length: 60 }, (_, index) => ({
 *   id: String(index),
 *   text: index % 2 === 0 ? `How much is ${index} plus 4?` : `Write ${index} lines on the moon.`,
 *   scores: new Map([["poet", index % 2], ["calculator", 1 - (index % 2)]]),
 *   costUsd: new Map(),
 *   answers: new Map(),
 *   at: 0
 * }))
 * const head = Result.getOrThrow(Head.fit(await Effect.runPromise(Outcomes.examples(graded))))
 * const pool = ["poet", "calculator"].map((id) => worker({ id, answer: () => `I am the ${id}.` }))
 * const { answer } = await conduct({ question: "How much is 8 plus 3?", pool, policy: HeadPolicy.make(head) })
 * answer // => "I am the calculator."
 * ```
 */
export const make = (head: Head.Head, options: Options = {}): Policy.Policy => {
  Tables.check("HeadPolicy.make", options, table)
  const { embedder = Embedder.hashed(), name = "head" } = options
  const pointOf = remembering(embedder)
  const fail = (detail: string) => new Policy.PolicyError({ policy: name, detail })
  return {
    name,
    recursion: Head.mostTurns - 1,
    propose: Effect.fnUntraced(function* (context: Policy.Context) {
      const { pool, previous, round, task } = context
      if (head.embedder !== embedder.name)
        return yield* fail(`it was trained with the embedder ${head.embedder}, not ${embedder.name}.`)
      const ids = pool.workers.map(({ id }) => id)
      const known = OneWorker.able(context).flatMap((at) => (head.workers.includes(ids[at]!) ? [ids[at]!] : []))
      if (known.length === 0)
        return yield* fail(
          `it was not trained for any worker in this pool. It was trained for ${head.workers.join(", ")}.`
        )
      const failed = (previous?.failed ?? []).map((at) => ids[at]!)
      const gone: Array<string> = []
      const place = Head.place(head, yield* Effect.mapError(pointOf(task), ({ message }) => fail(message)))
      const steps: Array<Workflow.Step> = []
      const notes: Array<string> = []
      let course: Course = { ...Head.atStart, answers: 0 }
      while (course.turn < Head.mostTurns) {
        const isNow: boolean = course.answers === round
        // An answer cannot be accepted if it is missing or a critic objected to it.
        const hasAnswer: boolean = course.hasAnswer && !(isNow && previous?.feedback !== undefined)
        const { answeredBy } = course
        // When replaying earlier rounds, include workers that failed only later.
        const among = known.filter((id) => !(isNow ? failed : gone).includes(id))
        const chosen = Head.decide(
          head,
          place,
          { ...course, hasAnswer },
          { among: among.length === 0 ? known : among, answeredBy }
        )
        if (chosen.role === "stop") return stands("The head accepts the answer.")
        const worker = ids.indexOf(chosen.worker)
        const turn = course.turn + 1
        if (chosen.role === "verifier") {
          const answer = isNow && previous?.answer.type === "answered" ? previous.answer.text : undefined
          // In earlier rounds the verifier must have objected, because otherwise the run would have finished.
          const objection = answer === undefined ? "" : yield* objectionBy(worker, answer, context)
          if (objection === undefined) return stands(`${chosen.worker} accepts the answer.`)
          if (isNow) notes.push(`${chosen.worker} objects.`)
          course = { ...course, turn, isDoubted: true, objection }
          continue
        }
        const access = round === 0 ? steps.map((_, at) => at) : ("all" as const)
        if (chosen.role === "thinker") {
          if (isNow) steps.push({ worker, subtask: instructions.advise, access })
          course = { ...course, turn, isAdvised: true }
          continue
        }
        if (isNow) {
          const objection = previous?.feedback ?? course.objection
          const subtask = subtaskOf({ ...course, objection })
          steps.push({ worker, subtask, access })
          notes.push(`The head chooses ${steps.map((step) => ids[step.worker]).join(", then ")}.`)
          return { workflow: { steps }, notes }
        }
        const answers = course.answers + 1
        const isLost = answers === round ? !Policy.canStand(previous) : failed.includes(chosen.worker)
        if (isLost) gone.push(chosen.worker)
        course = {
          turn,
          isAdvised: false,
          isDoubted: false,
          hasAnswer: !isLost,
          answers,
          answeredBy: isLost ? undefined : chosen.worker
        }
      }
      if (Policy.canStand(previous)) return stands("No turns are left.")
      return yield* fail("no turns are left, and no worker has answered.")
    })
  }
}
