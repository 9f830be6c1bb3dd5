/** The events `critic-answered` and `answer-graded`: a critic scores a round's answer. */
import { defined } from "../Fields.ts"
import type { Grade } from "../task/Grader.ts"
import type { Paid } from "../task/Usage.ts"
import type { Attributes } from "./Attributes.ts"
import { type OpenRound, paidOf } from "./OpenRecord.ts"
import type { AnswerSource, Stamped } from "./RunEvent.ts"

/** Emitted when a worker called by a critic has answered. */
export interface CriticAnswered extends Paid, AnswerSource {
  readonly type: "critic-answered"
  readonly round: number
  readonly critic: string
  readonly worker: string
  readonly text: string
  /** Zero-based index among the calls made by the round's critic. Defaults to the number of earlier answers. */
  readonly turn?: number
  /** Digest of the request. Set if the critic had other calls in flight when this one started. */
  readonly request?: string
}

/** Emitted when a critic has graded a round's answer. */
export interface AnswerGraded {
  readonly type: "answer-graded"
  readonly round: number
  readonly critic: string
  readonly grade: Grade
}

export const foldAnswered = (round: OpenRound, event: Stamped<CriticAnswered>): void => {
  const { at, cached, critic, origin, request, text, turn, worker } = event
  round.criticAnswers ??= []
  round.criticAnswers.push({
    ...defined({ at, critic, worker, text, cached, origin, turn, request }),
    ...paidOf(event)
  })
}

export const foldGraded = (round: OpenRound, { at, critic, grade }: Stamped<AnswerGraded>): void => {
  round.grade = { at, critic, grade }
}

/** Sets the attributes on the round's span. */
export const describeGraded = (span: Attributes, { grade }: AnswerGraded): void =>
  span.attribute("divisi.score", grade.score)

export const lineOfGraded = ({ critic, grade }: AnswerGraded): string =>
  `${critic} scores the answer ${grade.score} of 1.`
