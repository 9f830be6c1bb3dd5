/** Reports: the page of one evaluation or one training as a self-contained file. */
import { Options as Tables } from "@divisi/core"
import * as Export from "./Export.ts"
import type { Answers, Profile, Question, QuestionText, Report, Sample } from "./evaluation/Listing.ts"
import * as Evaluations from "./evaluation/Listing.ts"
import type { Group, Opened } from "./training/Listing.ts"
import * as Trainings from "./training/Listing.ts"
import * as Series from "./training/Series.ts"

/** Optional parts of the report of an evaluation. */
export interface EvaluationOptions {
  /** The name of the evaluation. Default: `evaluation`. */
  readonly name?: string | undefined
  /** The answers of policies. Without them, the page shows no questions. */
  readonly samples?: ReadonlyArray<Sample> | undefined
  /** The strengths of the workers. Without them, they are not shown. */
  readonly profiles?: ReadonlyArray<Profile> | undefined
  /** Returns the text of a question, if known. Never called for confidential benchmarks. */
  readonly questionOf?: ((benchmark: string, task: string) => QuestionText | undefined) | undefined
  /**
   * The number of characters after which the texts of further questions are left out. Questions on which the first
   * policy and the best of the others differ come first. Default: 1,000,000.
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

/** The longest text of a question, an answer or a completion in a report. */
const maxText = 4_000

const excerpt = (text: string): string =>
  text.length <= maxText
    ? text
    : `${text.slice(0, maxText).toWellFormed()}… (${(text.length - maxText).toLocaleString("en-US")} more characters)`

/** The questions of a report, first those on which the first policy and the best of the others differ. */
const ranked = ({ config, overall }: Report, questions: ReadonlyArray<Question>): ReadonlyArray<Question> => {
  const names = config.policies.map(({ name }) => name)
  const [best] = overall
    .filter(({ policy }) => policy !== names[0])
    .toSorted((one, other) => (other.mean ?? -1) - (one.mean ?? -1))
  const other = names.indexOf(best?.policy ?? "")
  const isFirst = (question: Question) => other !== -1 && Evaluations.differ(question, 0, other)
  return [...questions.filter(isFirst), ...questions.filter((question) => !isFirst(question))]
}

/** A sample with what the page shows of it. */
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
 * Returns the page of an evaluation as the text of an HTML file, which opens with it.
 *
 * **Details**
 *
 * Equal evaluations and options give equal text. Texts of questions and answers of confidential benchmarks are left out,
 * even if the samples contain them. Throws `Assets.NotBuilt` in a checkout whose page was not built.
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

/** The most kinds of tasks of an iteration, and the most completions of a question, in a report. */
const most = { kinds: 24, completions: 4 }

/** A question of each kind with some of its completions. */
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
 * Returns the page of a training as the text of an HTML file, which opens with it.
 *
 * **Details**
 *
 * `rollouts` has the groups of some iterations: see {@link sampled}. The page shows a question of each kind of task from
 * each of them. Throws `Assets.NotBuilt` in a checkout whose page was not built.
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

/** Returns the iterations whose rollouts a report shows: some from the start and some from the end, at most sixteen. */
export const sampled = (metrics: ReadonlyArray<Trainings.Metrics>): ReadonlyArray<number> => {
  const { early, late } = Series.ends(metrics)
  const spread = (part: typeof early) => {
    const step = Math.max(1, (part.length - 1) / 7)
    return Array.from({ length: Math.min(8, part.length) }, (_, index) => part[Math.round(index * step)]!.iteration)
  }
  return [...new Set([...spread(early), ...spread(late)])]
}
