/** Enforces a step's output format: an answer that does not match is requested again. */
import * as Effect from "effect/Effect"
import { millisSince } from "../../Elapsed.ts"
import type { Answered, CallContext } from "../../loop/call.ts"
import { reportTurn } from "../../loop/laterReports.ts"
import type { Plan } from "../../loop/plan.ts"
import type { StepAsk, StepEnd, StepError, StepMiddleware } from "../../loop/step.ts"
import { WorkerError } from "../../task/Worker.ts"
import { shapeCorrectionMessages } from "../../workflow/LaterMessages.ts"

/** Maximum number of repeated requests for an answer that does not match the output format. */
const mostCorrections = 2

/** Whether an answer must match the output format. Refusals and truncated answers are exempt. */
const isWhole = ({ finishReason }: Answered): boolean => finishReason === "stop" || finishReason === "other"

/** An answer that does not match. With a remedy, no other answer can match. */
interface Wrong {
  readonly text: string
  readonly why: string
  readonly remedy?: string | undefined
}

/**
 * Requests another answer in the same conversation. Returns an error if that cannot help, or if the maximum number of
 * requests has been reached.
 */
const correct = ({ conversation, running }: StepAsk, { remedy, text, why }: Wrong) => {
  conversation.turn += 1
  if (remedy !== undefined || conversation.corrections >= mostCorrections) {
    const detail = `its answer does not match the output schema: ${why}`
    return new WorkerError({
      worker: running.worker,
      reason: { _tag: "Malformed", detail, remedy: remedy ?? "simplify the schema, or use another worker" }
    })
  }
  conversation.corrections += 1
  conversation.messages.push(...shapeCorrectionMessages(text, why))
  return undefined
}

export const shape =
  (context: CallContext, plan: Plan): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const { shape } = ask.offered
    if (shape === undefined) return next(ask, at)
    const { conversation, running } = ask
    const go: Effect.Effect<StepEnd, StepError> = Effect.suspend(() => {
      let wrong: Wrong | undefined
      const onAnswer = (answer: Answered) => {
        if (!isWhole(answer)) return at.onAnswer(answer)
        const read = shape.read(answer.text)
        if (read.isRight) return at.onAnswer({ ...answer, text: read.text })
        const durationMillis = millisSince(context.clock, conversation.since) + answer.addedMillis
        reportTurn(plan, ask, running.worker, answer, durationMillis, read.why)
        wrong = { text: answer.text, why: read.why, remedy: read.remedy }
      }
      const request = { ...at.request, output: shape.format }
      return Effect.flatMap(next(ask, { ...at, request, onAnswer }), (end): Effect.Effect<StepEnd, StepError> => {
        if (wrong === undefined) return Effect.succeed(end)
        const failed = correct(ask, wrong)
        return failed === undefined ? go : Effect.fail(failed)
      })
    })
    return go
  }
