/**
 * Outcomes: ratings of workers' answers. Routers learn from them which worker is good at which kind of question.
 *
 * A transcript records which worker answered, its cost and its time. A grader, a check or a person later rates the
 * answer. {@link fromTranscript} combines the two.
 */
import { defined } from "../Fields.ts"
import * as Tables from "../Options.ts"
import * as Task from "../task/Task.ts"
import type { Usage } from "../task/Usage.ts"
import { recordOf } from "./items.ts"
import type { Item } from "./RunEvent.ts"
import { outagesOf } from "./StepFailure.ts"
import { paidForAnswer, type StepRecord, type Transcript } from "./Transcript.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The version of the outcome format on disk. */
export const version = 1

/** The sources of a rating, the most trustworthy first. */
export const sources = ["grader", "check", "user", "implicit", "judge"] as const

/** One of {@link sources}. */
export type Source = (typeof sources)[number]

/** The embedding of a question. A router can learn from it without the text. */
export interface Place {
  readonly embedder: string
  /** The coordinates as 32-bit floats, little-endian, in base64. */
  readonly point: string
}

/** The outcome of one worker's answer to one question. */
export interface Outcome {
  readonly version: typeof version
  /** The time of the rating, in milliseconds since 1970. */
  readonly at: number
  /** The id of the run. */
  readonly run?: string
  /** Identifies the question: equal questions have the same value in every outcome. */
  readonly question: string
  /** The kind of question, if known, such as a subject. */
  readonly kind?: string
  /** The text of the question, if it is stored. */
  readonly text?: string
  readonly place?: Place
  /** The id of the worker that answered, or of the policy's team (see {@link fromTranscript}). */
  readonly worker: string
  /** The model name in the vendor's response. It can differ from the requested name, and the vendor may change it. */
  readonly model?: string
  /** 0 to 1. */
  readonly score: number
  readonly source: Source
  /** Absent if a price is unknown. */
  readonly costUsd?: number
  readonly usage?: Usage
  readonly millis?: number
  /** The probability with which this worker was chosen, if the policy samples. */
  readonly probability?: number
}

// -------------------------------------------------------------------------------------------------------------------
// From transcripts
// -------------------------------------------------------------------------------------------------------------------

/** The rating and metadata that turn a transcript into an outcome. */
export interface Options {
  /** 0 to 1. */
  readonly score: number
  readonly source: Source
  /** When it was scored, in milliseconds since 1970. */
  readonly at: number
  /** The rated step, by round and index, with the item if the step runs per item. If absent, the whole run is rated. */
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
  return typeof family === "string" ? family : typeof subject === "string" ? subject : undefined
}

const carriedOut = (transcript: Transcript): ReadonlyArray<StepRecord> =>
  transcript.rounds.flatMap(({ steps }) => steps).filter(({ state }) => state === "answered" || state === "failed")

/** Prefix of a team's id. The name of the policy that wrote the plans follows. */
export const teamPrefix = "policy:"

/**
 * Returns the outcome of a run or of one of its steps. Returns `undefined` if there is no answer or no such step.
 *
 * **Details**
 *
 * A run that an outage cut short (`StepFailure.outagesOf`) has no outcome as a whole, because it is not evidence about
 * its workers; its answered steps have outcomes. The score of a run is credited to a worker only if the run consisted
 * of a single call to that worker. Otherwise the outcome is credited to the team, `policy:<name>`, with the cost and
 * duration of the whole run. `kind` is the family or subject in the task's metadata.
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
  if (one !== undefined) {
    const paid = paidForAnswer(one)
    return defined({
      ...common,
      worker: one.worker,
      model: one.model,
      costUsd: paid?.costUsd,
      usage: paid?.usage,
      millis: one.durationMillis,
      probability: step === undefined ? first?.probability : undefined
    })
  }
  if (step !== undefined || steps.length === 0 || outagesOf(transcript).length > 0) return undefined
  const { durationMillis, policy, spend } = transcript
  // If one policy hands over to another, the author of the plan gets the credit.
  const isPriced = spend !== undefined && spend.unpricedCalls === 0
  return defined({
    ...common,
    worker: `${teamPrefix}${first?.policy ?? policy}`,
    costUsd: isPriced ? spend.costUsd : undefined,
    usage: spend?.usage,
    millis: durationMillis
  })
}

/**
 * Returns the record of an answered step or item. A step with items has no record here, because its answer consists of
 * several calls.
 */
const stepOf = ({ rounds }: Transcript, { item, round, step }: NonNullable<Options["step"]>) => {
  const record = recordOf(rounds[round], step, item)
  return record?.state === "answered" && record.items === undefined ? record : undefined
}

/** Returns the identifier of a question in outcomes. Equal texts have equal identifiers. */
export const nameOf = (question: string): string => Task.make(question).id
