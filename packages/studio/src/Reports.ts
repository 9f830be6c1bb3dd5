/** Reports: the page for one evaluation, training run or session as a self-contained file. */
import { Options as Tables } from "@divisi/core"
import * as Export from "./Export.ts"
import type { Answers, Profile, Question, QuestionText, Report, Sample } from "./evaluation/Listing.ts"
import * as Evaluations from "./evaluation/Listing.ts"
import * as Sessions from "./session/Session.ts"
import type { Group, Opened } from "./training/Listing.ts"
import * as Trainings from "./training/Listing.ts"
import * as Series from "./training/Series.ts"

/** Optional parts of an evaluation's report. */
export interface EvaluationOptions {
  /** Name of the evaluation. Default: `evaluation`. */
  readonly name?: string | undefined
  /** Answers from the policies. If omitted, the page shows no questions. */
  readonly samples?: ReadonlyArray<Sample> | undefined
  /** Measured strengths of the workers. If omitted, the page does not show them. */
  readonly profiles?: ReadonlyArray<Profile> | undefined
  /** Returns the text of a question, if known. Not called for confidential benchmarks. */
  readonly questionOf?: ((benchmark: string, task: string) => QuestionText | undefined) | undefined
  /**
   * Maximum total length of question text, in characters. The text of further questions is omitted. Questions on which
   * the first policy and the best other policy differ have priority. Default: 1,000,000.
   */
  readonly maxCharacters?: number | undefined
}

const optionsTable = {
  name: Tables.name,
  samples: Tables.expects("a list of samples", Array.isArray),
  profiles: Tables.expects("a list of profiles", Array.isArray),
  questionOf: Tables.aFunction,
  maxCharacters: Tables.whole(0)
} satisfies Tables.ShapeOf<EvaluationOptions>

/** Maximum length of a question, an answer or a completion in a report, in characters. */
const maxText = 4_000

const excerpt = (text: string): string =>
  text.length <= maxText
    ? text
    : `${text.slice(0, maxText).toWellFormed()}… (${(text.length - maxText).toLocaleString("en-US")} more characters)`

/**
 * Returns the questions for a report, starting with those on which the first policy and the best other policy differ.
 */
const ranked = ({ config, overall }: Report, questions: ReadonlyArray<Question>): ReadonlyArray<Question> => {
  const names = config.policies.map(({ name }) => name)
  const [best] = overall
    .filter(({ policy }) => policy !== names[0])
    .toSorted((one, other) => (other.mean ?? -1) - (one.mean ?? -1))
  const other = names.indexOf(best?.policy ?? "")
  const isFirst = (question: Question) => other !== -1 && Evaluations.differ(question, 0, other)
  return [...questions.filter(isFirst), ...questions.filter((question) => !isFirst(question))]
}

/** Returns a sample with only the fields that the page shows. */
const shownOf = (sample: Sample, isConfidential: boolean): Sample => {
  const { benchmark, costUsd, ending, epoch, inputTokens, millis, outputTokens, policy, task, unpricedCalls } = sample
  return {
    ...{ benchmark, task, epoch, policy, ending, costUsd, unpricedCalls, inputTokens, outputTokens, millis },
    score: sample.score,
    isUnparsed: sample.isUnparsed,
    missing: sample.missing && { message: excerpt(sample.missing.message) },
    steps: sample.steps.map(({ state, worker }) => ({ worker, state })),
    ...(!isConfidential && {
      answer: sample.answer && excerpt(sample.answer),
      failure: sample.failure && excerpt(sample.failure)
    })
  }
}

const answersOf = (
  samples: ReadonlyArray<Sample>,
  text: QuestionText | undefined,
  isConfidential: boolean
): Answers => ({
  question: text === undefined ? null : excerpt(text.question),
  ...(text?.reference !== undefined && { reference: excerpt(text.reference) }),
  samples: samples.map((sample) => ({ ...shownOf(sample, isConfidential), run: null }))
})

/**
 * Returns the page for an evaluation as a self-contained HTML file.
 *
 * **Details**
 *
 * Equal evaluations and options produce equal HTML. For confidential benchmarks, the text of questions and answers is
 * omitted, even if the samples contain it. Throws `Assets.NotBuilt` in a checkout where the page has not been built.
 */
export const evaluation = (report: Report, options: EvaluationOptions = {}): string => {
  Tables.check("Reports.evaluation", options, optionsTable)
  const { maxCharacters = 1_000_000, name = "evaluation", profiles = [], questionOf, samples = [] } = options
  const keyOf = ({ benchmark, task }: Pick<Sample, "benchmark" | "task">) => JSON.stringify([benchmark, task])
  const byQuestion = Map.groupBy(samples, keyOf)
  const questions = Evaluations.questionsOf(report, samples)
  const data: Record<string, unknown> = {
    [Evaluations.path]: { data: [Evaluations.lineOf(name, report, 0)] },
    [Evaluations.pathOf(name)]: { id: name, report, questions, profiles }
  }
  let characters = 0
  for (const question of ranked(report, questions)) {
    if (characters > maxCharacters) break
    const { benchmark, task } = question
    const isConfidential = report.benchmarks.find((one) => one.benchmark === benchmark)?.isConfidential !== false
    const text = isConfidential ? undefined : questionOf?.(benchmark, task)
    const answers = answersOf(byQuestion.get(keyOf(question)) ?? [], text, isConfidential)
    data[Evaluations.answersPath(name, question)] = answers
    characters += JSON.stringify(answers).length
  }
  return Export.onePage([], data)
}

/** Maximum number of task kinds per iteration and of completions per question in a report. */
const most = { kinds: 24, completions: 4 }

/** Returns one question for each kind of task, with some of its completions. */
const sampleOf = (groups: ReadonlyArray<Group>): ReadonlyArray<Group> =>
  [...Map.groupBy(groups, ({ kind }) => kind).values()].slice(0, most.kinds).map(([group]) => ({
    ...group!,
    completions: group!.completions.slice(0, most.completions).map((one) => ({
      ...one,
      completion: excerpt(one.completion),
      ...(one.answer !== undefined && { answer: excerpt(one.answer) })
    }))
  }))

/**
 * Returns the page for a training run as a self-contained HTML file.
 *
 * **Details**
 *
 * `rollouts` contains the groups of selected iterations (see {@link sampled}). For each of them, the page shows one
 * question of each kind of task. Throws `Assets.NotBuilt` in a checkout where the page has not been built.
 */
export const training = (
  opened: Omit<Opened, "rollouts">,
  rollouts: ReadonlyMap<number, ReadonlyArray<Group>> = new Map()
): string => {
  const { config, id, metrics } = opened
  return Export.onePage([], {
    [Trainings.path]: { data: [Trainings.lineOf(id, config, metrics, 0)] },
    [Trainings.pathOf(id)]: { ...opened, rollouts: [...rollouts.keys()], isExcerpt: true } satisfies Opened,
    ...Object.fromEntries(
      [...rollouts].map(([iteration, groups]) => [Trainings.rolloutsPath(id, iteration), sampleOf(groups)])
    )
  })
}

/**
 * Returns the page for the cost of a session as a self-contained HTML file.
 *
 * **Details**
 *
 * The session must contain at least one run. The page contains the first words of each question, and no answers. Throws
 * `Assets.NotBuilt` in a checkout where the page has not been built.
 */
export const session = (of: Sessions.Session): string => Export.onePage([], { [Sessions.path]: Sessions.open(of) })

/**
 * Returns the iterations whose rollouts are included in a report: at most sixteen, from the start and the end of the
 * run.
 */
export const sampled = (metrics: ReadonlyArray<Trainings.Metrics>): ReadonlyArray<number> => {
  const { early, late } = Series.ends(metrics)
  const spread = (part: typeof early) => {
    const step = Math.max(1, (part.length - 1) / 7)
    return Array.from({ length: Math.min(8, part.length) }, (_, index) => part[Math.round(index * step)]!.iteration)
  }
  return [...new Set([...spread(early), ...spread(late)])]
}
