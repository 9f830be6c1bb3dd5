/**
 * Outcomes: scores for workers' answers. Routers use them to learn which worker is good at which kind of question.
 *
 * A transcript records which worker answered, at what cost and in what time. A grader, a check or a person scores the
 * answer later. {@link fromTranscript} combines the two.
 */
import { defined } from "../Fields.ts"
import * as Tables from "../Options.ts"
import * as Task from "../task/Task.ts"
import type { Usage } from "../task/Usage.ts"
import { recordOf } from "./items.ts"
import { type Item, isWithoutCall } from "./RunEvent.ts"
import { outagesOf } from "./StepFailure.ts"
import { paidForAnswer, payments, type StepRecord, type Transcript } from "./Transcript.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Version of the outcome format on disk. */
export const version = 1

/** The possible sources of a score, most trustworthy first. */
export const sources = ["grader", "check", "user", "implicit", "judge"] as const

/** One of {@link sources}. */
export type Source = (typeof sources)[number]

/** Embedding of a question. Allows a router to learn from the question without storing its text. */
export interface Place {
  readonly embedder: string
  /** The vector, as base64-encoded little-endian 32-bit floats. */
  readonly point: string
}

/** The scored result of one worker's answer to one question. */
export interface Outcome {
  readonly version: typeof version
  /** Time of the scoring, in milliseconds since the Unix epoch. */
  readonly at: number
  /** Id of the run. */
  readonly run?: string
  /** Identifier of the question. The same question has the same identifier in every outcome. */
  readonly question: string
  /** Category of the question, such as its subject, if known. */
  readonly kind?: string
  /** Text of the question, if it is stored. */
  readonly text?: string
  readonly place?: Place
  /** Id of the worker that answered, or of the policy's team (see {@link fromTranscript}). */
  readonly worker: string
  /** Model name reported by the vendor. May differ from the requested name, and may change over time. */
  readonly model?: string
  /** Score from 0 to 1. */
  readonly score: number
  readonly source: Source
  /** Undefined if the price is unknown. */
  readonly costUsd?: number
  readonly usage?: Usage
  readonly millis?: number
  /** Probability with which this worker was chosen, if the policy samples. */
  readonly probability?: number
}

// -------------------------------------------------------------------------------------------------------------------
// From transcripts
// -------------------------------------------------------------------------------------------------------------------

/** The score and metadata to add to a transcript. */
export interface Options {
  /** Score from 0 to 1. */
  readonly score: number
  readonly source: Source
  /** Time of the scoring, in milliseconds since the Unix epoch. */
  readonly at: number
  /**
   * The step that was scored, identified by round, index, and item if it runs for items. If omitted, the run as a whole
   * was scored.
   */
  readonly step?: { readonly round: number; readonly step: number; readonly item?: Item | undefined } | undefined
  /** Whether to store the text of the question. Default: `false`. */
  readonly keepText?: boolean | undefined
  readonly place?: Place | undefined
}

const optionsTable = Tables.table(
  {
    score: Tables.number(0, 1),
    source: Tables.oneOf(...sources),
    at: Tables.number(0),
    step: Tables.table(
      { round: Tables.whole(0), step: Tables.whole(0), item: Tables.anything },
      { required: ["round", "step"] }
    ),
    keepText: Tables.flag,
    place: Tables.table({ embedder: Tables.name, point: Tables.text }, { required: ["embedder", "point"] })
  } satisfies Tables.ShapeOf<Options>,
  { required: ["score", "source", "at"] }
)

const kindOf = ({ task }: Transcript): string | undefined => {
  const { family, subject } = task.metadata ?? {}
  return [family, subject].find((kind): kind is string => typeof kind === "string" && kind !== "")
}

const carriedOut = (transcript: Transcript): ReadonlyArray<StepRecord> =>
  transcript.rounds.flatMap(({ steps }) => steps).filter(({ state }) => state === "answered" || state === "failed")

/** Whether the caller of a fork supplied the answer of a step, or an answer that it consists of. */
const isAnsweredByCaller = ({ items = [], nested, origin }: StepRecord): boolean =>
  origin === "caller" ||
  items.some(isAnsweredByCaller) ||
  nested?.rounds.some(({ steps }) => steps.some(isAnsweredByCaller)) === true

/** Prefix of a team's id. It is followed by the name of the policy that wrote the plans. */
export const teamPrefix = "policy:"

/**
 * Creates the outcome of a run or of one of its steps. Returns `undefined` if there is no answer, or if the step does
 * not exist.
 *
 * **Details**
 *
 * The score of a run is credited to a worker only if the run consisted of a single call to that worker. Otherwise, it
 * is credited to the team, `policy:<name>`, with the cost and duration of the whole run. A run that was cut short by an
 * outage (see `StepFailure.outagesOf`) has no outcome, because it provides no evidence about its workers. Its answered
 * steps still have outcomes. An answer that the caller supplied to a fork has no outcome, and neither has its run.
 * Outcomes with answers for which no call was made, such as cached ones, have no cost, usage or duration. `kind` is the
 * family or subject from the task's metadata.
 *
 * **Example**
 *
 * ```ts
 * import { Outcome } from "@divisi/core"
 * import { conduct, single, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "solver", answer: () => "42" })]
 * const { transcript } = await conduct({ question: "What is 6 times 7?", pool, policy: single("solver") })
 * const outcome = Outcome.fromTranscript(transcript, { score: 1, source: "user", at: Date.now() })
 * outcome?.worker // => "solver"
 * ```
 */
export const fromTranscript = (transcript: Transcript, options: Options): Outcome | undefined => {
  Tables.check("Outcome.fromTranscript", options, optionsTable)
  const { at, keepText = false, place, score, source, step } = options
  const text = Task.question(transcript.task)
  const common = {
    version,
    at,
    run: transcript.runId,
    question: nameOf(text),
    kind: kindOf(transcript),
    text: keepText ? text : undefined,
    place,
    score,
    source
  } as const
  const [first] = transcript.rounds
  const steps = carriedOut(transcript)
  const one = step === undefined ? (steps.length === 1 ? steps[0] : undefined) : stepOf(transcript, step)
  if ((one === undefined ? steps : [one]).some(isAnsweredByCaller)) return undefined
  if (one !== undefined) {
    const paid = isWithoutCall(one) ? undefined : paidForAnswer(one)
    return defined({
      ...common,
      worker: one.worker,
      model: one.model,
      costUsd: paid?.costUsd,
      usage: paid?.usage,
      millis: isWithoutCall(one) ? undefined : one.durationMillis,
      probability: step === undefined ? first?.probability : undefined
    })
  }
  if (step !== undefined || steps.length === 0 || outagesOf(transcript).length > 0) return undefined
  const { durationMillis, policy, spend } = transcript
  // If one policy delegated to another, the author of the plan gets the credit.
  const isMeasured = !payments(transcript).some(({ calls, isLost }) => calls === 0 && !isLost)
  const isPriced = isMeasured && spend !== undefined && spend.unpricedCalls === 0
  return defined({
    ...common,
    worker: `${teamPrefix}${first?.policy ?? policy}`,
    costUsd: isPriced ? spend.costUsd : undefined,
    usage: isMeasured ? spend?.usage : undefined,
    millis: isMeasured ? durationMillis : undefined
  })
}

/**
 * Returns the record of an answered step or item. Returns `undefined` for a step with items, because its answer
 * consists of several calls.
 */
const stepOf = ({ rounds }: Transcript, { item, round, step }: NonNullable<Options["step"]>) => {
  const record = recordOf(rounds[round], step, item)
  return record?.state === "answered" && record.items === undefined ? record : undefined
}

/** Returns a question's identifier in outcomes. Identical texts have identical identifiers. */
export const nameOf = (question: string): string => Task.make(question).id
