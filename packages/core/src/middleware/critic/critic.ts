/** The critic middleware: scores a round's answer, and ends the run if the score is sufficient. */
import * as Effect from "effect/Effect"
import { settle } from "../../Callback.ts"
import { defined } from "../../Fields.ts"
import type { Answered } from "../../loop/call.ts"
import { noteFailure } from "../../loop/laterReports.ts"
import { numbering } from "../../loop/numbering.ts"
import type { CloseMiddleware, RoundEnd, State } from "../../loop/round.ts"
import * as Seed from "../../Seed.ts"
import type * as Critic from "../../task/Critic.ts"
import { type Grade, GraderError } from "../../task/Grader.ts"

/** Validates a grade, so that it can be serialized. */
const checkedGrade = (grader: string, task: string, grade: Grade): Effect.Effect<Grade, GraderError> => {
  const { correct, explanation, score } = (grade ?? {}) as Partial<Grade>
  const isText = explanation === undefined || typeof explanation === "string"
  return Number.isFinite(score) && typeof correct === "boolean" && isText
    ? Effect.succeed(defined({ correct, score: score!, explanation }))
    : Effect.fail(new GraderError({ grader, task, detail: "expected { correct, score } with a finite score" }))
}

/** Calls a worker on behalf of the critic. The call is charged and reported like any other. */
const asking = ({ context, seed: all }: State, critic: Critic.Critic, round: number): Critic.Context["ask"] => {
  const seed = Seed.derive(all, round, "critic")
  const numbers = numbering(context, { by: "critic", round }, (turn) => Seed.derive(seed, turn))
  let answers = 0
  return (worker, request) =>
    numbers.call({ worker, request }, ({ digest, isNew, sample, turn }) => {
      const onAnswer = ({ cached, costUsd, origin, text, usage }: Answered) => {
        const place = { round, critic: critic.name, worker: worker.id }
        const order = { turn: turn === answers ? undefined : turn, request: digest() }
        answers += 1
        context.emit?.({
          ...defined({ type: "critic-answered", ...place, ...order, text, cached, origin }),
          usage,
          costUsd
        })
      }
      const made = context.call({ worker, request, sample, round, by: "critic", turn, isNew, onAnswer })
      return noteFailure(context, { round, by: "critic" }, made)
    })
}

export const critic =
  (state: State, critic: Critic.Critic): CloseMiddleware =>
  (next) =>
  (played) =>
    Effect.flatMap(next(played), (end) => {
      const { done } = end
      const answer = done?.answer
      if (end.end !== "ended" || done === undefined || answer === undefined) return Effect.succeed(end)
      const { context, options, rounds, task } = state
      const { round } = played.ask
      const scored = Effect.flatMap(
        settle(() => critic.score({ task, answer, ask: asking(state, critic, round) })),
        (grade) => checkedGrade(critic.name, task.id, grade)
      )
      // If the critic fails or is interrupted, the answer is retained without a grade.
      const graded = Effect.onError(scored, () => Effect.sync(() => rounds.push(done)))
      return Effect.map(graded, (grade): RoundEnd => {
        context.emit?.({ type: "answer-graded", round, critic: critic.name, grade })
        return { end: grade.score >= (options.threshold ?? 1) ? "over" : "ended", done: { ...done, grade } }
      })
    })
