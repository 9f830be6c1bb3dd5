/**
 * Outcomes: what the answer of a worker to a question came to. Routers learn from them who is good at what.
 *
 * A transcript says who answered, at what price and in what time; how good that was is said later, by a grader, a check
 * or a person. {@link fromTranscript} puts the two together.
 */
import { defined } from "../Fields.ts"
import * as Task from "../task/Task.ts"
import type { Usage } from "../task/Usage.ts"
import { outagesOf } from "./StepFailure.ts"
import { paidForAnswer, type StepRecord, type Transcript } from "./Transcript.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The version of outcomes on disk. */
export const version = 1

/** Who said how good an answer is, the most trustworthy first. */
export const sources = ["grader", "check", "user", "implicit", "judge"] as const

/** One of {@link sources}. */
export type Source = (typeof sources)[number]

/** Where an embedder puts a question: enough to learn from without its text. */
export interface Place {
  readonly embedder: string
  /** The numbers of the point, 32 bits each, little-endian, in base64. */
  readonly point: string
}

/** What the answer of one worker to one question came to. */
export interface Outcome {
  readonly version: typeof version
  /** When it was scored, in milliseconds since 1970. */
  readonly at: number
  /** The id of the run that it comes from. */
  readonly run?: string
  /** Names the question: the same question has the same name in every outcome. */
  readonly question: string
  /** What sort of question it is, where somebody said so: the family, the subject. */
  readonly kind?: string
  /** The question itself, where it is kept. */
  readonly text?: string
  readonly place?: Place
  /** The id of the worker that answered, or of the team: see {@link fromTranscript}. */
  readonly worker: string
  /** What answered for it, as the vendor names it in its response: a vendor may change a model under its name. */
  readonly model?: string
  /** 0 to 1. */
  readonly score: number
  readonly source: Source
  /** Absent where a price is unknown. */
  readonly costUsd?: number
  readonly usage?: Usage
  readonly millis?: number
  /** How likely it was that this worker was asked, where the policy draws. */
  readonly probability?: number
}

// -------------------------------------------------------------------------------------------------------------------
// From transcripts
// -------------------------------------------------------------------------------------------------------------------

/** What is added to a transcript to make an outcome of it. */
export interface Options {
  /** 0 to 1. */
  readonly score: number
  readonly source: Source
  /** When it was scored, in milliseconds since 1970. */
  readonly at: number
  /** What the score is of: one step's answer, by its round and place. The whole run when absent. */
  readonly step?: { readonly round: number; readonly step: number } | undefined
  /** Whether the question itself is kept; false by default. */
  readonly keepText?: boolean | undefined
  readonly place?: Place | undefined
}

const kindOf = ({ task }: Transcript): string | undefined => {
  const { family, subject } = task.metadata ?? {}
  return typeof family === "string" ? family : typeof subject === "string" ? subject : undefined
}

const carriedOut = (transcript: Transcript): ReadonlyArray<StepRecord> =>
  transcript.rounds.flatMap(({ steps }) => steps).filter(({ state }) => state === "answered" || state === "failed")

/** Before the id of a team: the name of the policy that wrote its plans. */
export const teamPrefix = "policy:"

/**
 * The outcome of a run, or of one of its steps; `undefined` where nobody answered, or there is no such step.
 *
 * **Details**
 *
 * A run that an outage has cut short (`StepFailure.outagesOf`) has no outcome as a whole: it says nothing about who
 * answers well. Its answered steps do.
 * A score of the run is credited to a worker only where the run was that worker's one call. Of any other run only the
 * team is known to be good or bad: the outcome is then of `policy:<name>`, at the cost and in the time of the whole run.
 * The kind is what the task's metadata calls its family or subject.
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
  // Who wrote the plan is credited where one policy hands over to another.
  const isPriced = spend !== undefined && spend.unpricedCalls === 0
  return defined({
    ...common,
    worker: `${teamPrefix}${first?.policy ?? policy}`,
    costUsd: isPriced ? spend.costUsd : undefined,
    usage: spend?.usage,
    millis: durationMillis
  })
}

const stepOf = ({ rounds }: Transcript, { round, step }: { readonly round: number; readonly step: number }) =>
  rounds[round]?.steps.find((one) => one.step === step && one.state === "answered")

/** The name of a question in outcomes: the same text has the same name. */
export const nameOf = (question: string): string => Task.make(question).id
