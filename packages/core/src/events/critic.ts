/** `critic-answered` and `answer-graded`: a critic scores the answer of a round. */
import { defined } from "../Fields.ts"
import type { Grade } from "../task/Grader.ts"
import type { Paid } from "../task/Usage.ts"
import type { Attributes } from "./Attributes.ts"
import { type OpenRound, paidOf } from "./OpenRecord.ts"
import type { Stamped } from "./RunEvent.ts"

/** A worker has answered a critic. */
export interface CriticAnswered extends Paid {
  readonly type: "critic-answered"
  readonly round: number
  readonly critic: string
  readonly worker: string
  readonly text: string
  readonly cached: boolean
  /** The number of the call among those of the round's critic, from 0; absent if it is the number of earlier answers. */
  readonly turn?: number
  /** A digest of the request; present if other calls of the critic were in flight when it started. */
  readonly request?: string
}

/** A critic's grade of the answer of a round. */
export interface AnswerGraded {
  readonly type: "answer-graded"
  readonly round: number
  readonly critic: string
  readonly grade: Grade
}

export const foldAnswered = (round: OpenRound, event: Stamped<CriticAnswered>): void => {
  const { at, cached, critic, request, text, turn, worker } = event
  round.criticAnswers ??= []
  round.criticAnswers.push({ ...defined({ at, critic, worker, text, cached, turn, request }), ...paidOf(event) })
}

export const foldGraded = (round: OpenRound, { at, critic, grade }: Stamped<AnswerGraded>): void => {
  round.grade = { at, critic, grade }
}

/** Writes the attributes of the round's span. */
export const describeGraded = (span: Attributes, { grade }: AnswerGraded): void =>
  span.attribute("divisi.score", grade.score)

export const lineOfGraded = ({ critic, grade }: AnswerGraded): string =>
  `${critic} scores the answer ${grade.score} of 1.`
