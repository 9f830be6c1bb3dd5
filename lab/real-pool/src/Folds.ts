/**
 * Divides questions into those to learn from and those to evaluate on.
 *
 * No policy is evaluated on questions that it learned from. For a question of a seen kind, the training set is the
 * other four fifths of the seen questions. For a question of an unseen kind, it is all seen questions.
 */

import { type Answers, workers } from "./Policies.ts"
import * as Questions from "./Questions.ts"

type Question = Questions.Question

const folds = 5

/** The fold of a question of a seen kind; {@link folds} for other questions, which learn from all seen ones. */
export const foldOf = ({ id, kind }: Question): number =>
  Questions.isSeen(kind) ? Number(id.split("/").at(-1)) % folds : folds

/** The questions with the records of all workers. */
export type Known = ReadonlyArray<readonly [Question, Answers]>

export const knownOf = (questions: ReadonlyArray<Question>, answersOf: ReadonlyMap<string, Answers>): Known =>
  questions.flatMap((question) => {
    const answers = answersOf.get(question.id)
    return answers !== undefined && workers.every((name) => answers.has(name)) ? [[question, answers] as const] : []
  })

/** With fewer questions, nothing is learned. */
const least = 10

/** The questions that may be learned from for a fold; `undefined` if they are too few. */
export const trainingOf = (known: Known, fold: number): Known | undefined => {
  const training = known.filter(([question]) => Questions.isSeen(question.kind) && foldOf(question) !== fold)
  return training.length < least ? undefined : training
}

/** Calculates a value once for each fold. */
export const perFold = <A>(of: (fold: number) => A): ((fold: number) => A) => {
  const all = new Map<number, A>()
  return (fold) => {
    if (!all.has(fold)) all.set(fold, of(fold))
    return all.get(fold)!
  }
}
