/**
 * Converts recorded runs to training data, or to a pool that replays their answers without network access.
 *
 * Transcripts do not store the messages sent to policies and workers; the same pure functions render them again.
 * Records are therefore only correct if you pass the prompt options that the runs used.
 */
import { Grader, Prompt, StepFailure, Options as Tables, Transcript, Workflow, WorkflowText } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import type { Previous } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import { noUsage, type Usage } from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { unrecorded } from "./unrecorded.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Format version of the records. */
export const version = 1

/** A training record for a policy: its prompt, its completion and the reward. */
export interface Decision {
  readonly version: typeof version
  readonly type: "decision"
  readonly run: string
  readonly task: string
  readonly policy: string
  readonly round: number
  /** Ids of the workers in the pool, in index order. */
  readonly pool: ReadonlyArray<string>
  readonly prompt: ReadonlyArray<Message>
  readonly completion: string
  /** Omitted if the completion could not be parsed. */
  readonly workflow?: Workflow.Workflow | undefined
  /**
   * Reward as defined in the paper: 0 if the workflow could not be parsed, 0.5 if the run's answer was wrong, 1 if it
   * was correct.
   */
  readonly reward: number
}

/** A training record for a worker: the messages it was sent and its answer. */
export interface WorkerAnswer {
  readonly version: typeof version
  readonly type: "answer"
  readonly run: string
  readonly task: string
  readonly worker: string
  readonly prompt: ReadonlyArray<Message>
  readonly completion: string
  readonly reasoning?: string | undefined
  readonly usage: Usage
  /** 1 if the run's final answer was correct, otherwise 0. */
  readonly reward: number
}

/** Prompt settings that the recorded runs used. */
export interface Options {
  readonly grader: Grader.Grader
  /** The prompt options of the recorded runs. */
  readonly prompt?: Prompt.ConductorOptions | undefined
  /** Default: 5. */
  readonly maxSteps?: number | undefined
  /** Whether the pool contained the Conductor itself as a worker. */
  readonly self?: boolean | undefined
}

const table = Tables.table(
  {
    grader: Tables.madeBy("a grader", "grade"),
    prompt: Tables.anObject,
    maxSteps: Tables.whole(1),
    self: Tables.flag
  } satisfies Tables.ShapeOf<Options>,
  { required: ["grader"] }
)

// -------------------------------------------------------------------------------------------------------------------
// Reading transcripts
// -------------------------------------------------------------------------------------------------------------------

const nested = (transcript: Transcript.Transcript): ReadonlyArray<Transcript.Transcript> =>
  transcript.rounds.flatMap(({ steps }) => steps.flatMap((step) => (step.nested === undefined ? [] : [step.nested])))

/** Returns the runs and their nested runs, except those cut short by an outage, which carry no training signal. */
const all = (transcripts: ReadonlyArray<Transcript.Transcript>): ReadonlyArray<Transcript.Transcript> =>
  transcripts.flatMap((transcript) => [
    ...(StepFailure.outagesOf(transcript).length === 0 ? [transcript] : []),
    ...all(nested(transcript))
  ])

const grade = (
  { answer, task }: Transcript.Transcript,
  grader: Grader.Grader
): Effect.Effect<boolean, Grader.GraderError> =>
  answer === undefined ? Effect.succeed(false) : Effect.map(Grader.ask(grader, task, answer), ({ correct }) => correct)

/** Pool for rendering prompts. Its workers cannot be called. */
const named = ({ pool }: Transcript.Transcript): WorkerPool | undefined => {
  const workers = pool.map(
    (member): Worker => ({
      ...member,
      generate: () => Stream.fail(unrecorded({ worker: member.id, request: { messages: [] } }))
    })
  )
  return Arr.isArrayNonEmpty(workers) ? { workers } : undefined
}

const isRefused = ({ finishReason, state }: Transcript.StepRecord): boolean =>
  state === "answered" && finishReason === "refusal"

/** Finds a step whose worker declined. In a majority vote, this can be any step. */
const refusalOf = ({ steps, workflow }: Transcript.RoundRecord): Transcript.StepRecord | undefined =>
  (workflow?.answer === "majority" ? steps : steps.slice(-1)).findLast(isRefused)

/**
 * Converts a failed step to the form shown to later steps. Whether they see its error message depends on the kind of
 * error.
 */
const failedAs = (step: Transcript.StepRecord | undefined): Prompt.StepAnswer => {
  const { detail = "", reason, worker } = step ?? {}
  const cause = reason && worker && new WorkerError({ worker, reason: { _tag: reason } as WorkerErrorReason })
  return { type: "failed", message: detail, cause }
}

const answerOf = (round: Transcript.RoundRecord): Prompt.StepAnswer => {
  const { answer, steps } = round
  if (answer !== undefined) return { type: "answered", text: answer }
  const refusal = refusalOf(round)
  return refusal === undefined
    ? failedAs(steps.at(-1))
    : { type: "refused", text: refusal.text, worker: refusal.worker }
}

const failedWorkers = ({ answer, steps, workflow }: Transcript.RoundRecord): ReadonlyArray<number> =>
  steps
    .filter((step) => step.state === "failed" || (answer === undefined && isRefused(step)))
    .flatMap(({ step }) => workflow?.steps[step]?.worker ?? [])

const previousOf = ({ rounds }: Transcript.Transcript, { round }: Transcript.RoundRecord): Previous | undefined => {
  const earlier = rounds.filter((one) => one.round < round)
  const before = earlier.find((one) => one.round === round - 1)
  if (before?.workflow === undefined) return undefined
  const { grade, workflow } = before
  const feedback =
    grade === undefined ? undefined : (grade.grade.explanation ?? `It was scored ${grade.grade.score} of 1.`)
  const failed = [...new Set(earlier.flatMap(failedWorkers))]
  return { workflow, answer: answerOf(before), failed, feedback }
}

const promptOf = (
  transcript: Transcript.Transcript,
  round: Transcript.RoundRecord,
  options: Options
): ReadonlyArray<Message> | undefined => {
  const pool = named(transcript)
  const previous = previousOf(transcript, round)
  return pool === undefined
    ? undefined
    : Prompt.conductorMessages(
        {
          task: transcript.task,
          pool,
          maxSteps: options.maxSteps ?? Workflow.defaultMaxSteps,
          self: options.self ?? false,
          previous
        },
        options.prompt
      )
}

// -------------------------------------------------------------------------------------------------------------------
// Decisions
// -------------------------------------------------------------------------------------------------------------------

/** Returns the completions of a round. For a policy written in code, this is its workflow as text. */
const completionsOf = ({
  completions,
  workflow
}: Transcript.RoundRecord): ReadonlyArray<Pick<Transcript.CompletionRecord, "text" | "error">> =>
  completions.length > 0 || workflow === undefined || workflow.answer === "majority"
    ? completions
    : [{ text: WorkflowText.write(workflow) }]

const decisionsOf = (
  transcript: Transcript.Transcript,
  isCorrect: boolean,
  options: Options
): ReadonlyArray<Decision> =>
  transcript.rounds.flatMap((round) => {
    let prompt = promptOf(transcript, round, options)
    return completionsOf(round).flatMap(({ error, text }): ReadonlyArray<Decision> => {
      if (prompt === undefined) return []
      const decision: Decision = {
        version,
        type: "decision",
        run: transcript.runId,
        task: transcript.task.id,
        policy: round.policy ?? transcript.policy,
        round: round.round,
        pool: transcript.pool.map(({ id }) => id),
        prompt,
        completion: text,
        workflow: error === undefined && round.workflow !== undefined ? round.workflow : undefined,
        reward: Grader.reward(error !== undefined ? "unreadable" : isCorrect ? "correct" : "wrong")
      }
      if (error !== undefined) prompt = [...prompt, ...Prompt.correctionMessages(text, error, options.prompt)]
      return [decision]
    })
  })

/**
 * Extracts training data for policies: one record per completion, including completions that could not be parsed.
 *
 * **Details**
 *
 * Workflows written by policies in code are included as text, so that a model can learn from a router or a baseline.
 * Workflows with a majority vote are omitted because they have no text form, and so are runs with an outage
 * (`StepFailure.outagesOf`), because they say nothing about the policy.
 *
 * **Gotchas**
 *
 * Records contain questions. Do not share records of a confidential benchmark, and do not train on a test set.
 */
export const decisions = (
  transcripts: ReadonlyArray<Transcript.Transcript>,
  options: Options
): Effect.Effect<ReadonlyArray<Decision>, Grader.GraderError> => {
  Tables.check("Replay.decisions", options, table)
  return Effect.map(
    Effect.forEach(all(transcripts), (transcript) =>
      Effect.map(grade(transcript, options.grader), (isCorrect) => decisionsOf(transcript, isCorrect, options))
    ),
    (lists) => lists.flat()
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

const outcomeOf = (step: Transcript.StepRecord): Prompt.StepAnswer | undefined => {
  const { text, worker } = step
  if (isRefused(step)) return { type: "refused", text, worker }
  if (step.state === "answered") return { type: "answered", text }
  return step.state === "failed" ? failedAs(step) : undefined
}

const sent = (
  task: Task,
  round: Transcript.RoundRecord,
  workflow: Workflow.Workflow,
  step: number,
  previous: Previous | undefined
) =>
  Prompt.workerMessages({
    task,
    workflow,
    step,
    answers: round.steps.map(outcomeOf),
    previous
  })

/** An answered step with the messages its worker was sent. */
interface Call {
  readonly transcript: Transcript.Transcript
  readonly step: Transcript.StepRecord
  readonly prompt: ReadonlyArray<Message>
}

const callsOf = (transcript: Transcript.Transcript): ReadonlyArray<Call> =>
  transcript.rounds.flatMap((round) => {
    const { steps, workflow } = round
    if (workflow === undefined) return []
    const previous = previousOf(transcript, round)
    return steps
      .filter(({ nested, state }) => nested === undefined && (state === "answered" || state === "failed"))
      .map((step) => ({ transcript, step, prompt: sent(transcript.task, round, workflow, step.step, previous) }))
  })

/**
 * Extracts training data for workers: one record per answered step, with the reward of the run. Runs with an outage are
 * omitted.
 */
export const answers = (
  transcripts: ReadonlyArray<Transcript.Transcript>,
  options: Pick<Options, "grader">
): Effect.Effect<ReadonlyArray<WorkerAnswer>, Grader.GraderError> =>
  Effect.map(
    Effect.forEach(all(transcripts), (transcript) =>
      Effect.map(grade(transcript, options.grader), (isCorrect) =>
        callsOf(transcript)
          .filter(({ step }) => step.state === "answered")
          .map(
            ({ prompt, step }): WorkerAnswer => ({
              version,
              type: "answer",
              run: transcript.runId,
              task: transcript.task.id,
              worker: step.worker,
              prompt,
              completion: step.text,
              reasoning: step.reasoning === "" ? undefined : step.reasoning,
              usage: Transcript.paidForAnswer(step)?.usage ?? noUsage,
              reward: isCorrect ? 1 : 0
            })
          )
      )
    ),
    (lists) => lists.flat()
  )

/** Encodes records as JSON Lines. */
export const encode = (records: ReadonlyArray<Decision | WorkerAnswer>): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("")

// -------------------------------------------------------------------------------------------------------------------
// Recorded workers
// -------------------------------------------------------------------------------------------------------------------

const partsOf = ({ finishReason, model, paid, reasoning, text }: Transcript.StepRecord): ReadonlyArray<WorkerPart> => [
  ...(reasoning === "" ? [] : [{ type: "reasoning", text: reasoning } as const]),
  { type: "text", text },
  { type: "finish", reason: finishReason ?? "stop", usage: paid?.usage ?? noUsage, model }
]

const failureOf = ({ lost, worker }: Transcript.StepRecord): WorkerError => {
  const reason: WorkerErrorReason | undefined = lost.findLast((call) => call.reason !== undefined)?.reason
  return new WorkerError({
    worker,
    reason: reason ?? { _tag: "InvalidRequest", detail: "the recorded call failed", remedy: "record the run again" }
  })
}

const keyOf = (messages: ReadonlyArray<Message>): string =>
  JSON.stringify(messages.map(({ content, role }) => [role, content]))

const recorded = (worker: Worker, calls: ReadonlyArray<Call>): Worker => {
  const known = Map.groupBy(calls, ({ prompt }) => keyOf(prompt))
  const asked = new Map<string, number>()
  return {
    ...worker,
    generate: (request) =>
      Stream.suspend(() => {
        const key = keyOf(request.messages)
        const steps = known.get(key)
        if (steps === undefined) return Stream.fail(unrecorded({ worker: worker.id, request }))
        const turn = asked.get(key) ?? 0
        asked.set(key, turn + 1)
        const { step } = steps[turn % steps.length]!
        return step.state === "answered" ? Stream.fromArray(partsOf(step)) : Stream.fail(failureOf(step))
      })
  }
}

/**
 * Returns a pool whose workers replay the answers recorded in the transcripts.
 *
 * **Details**
 *
 * Answers are looked up by the messages sent to the worker. If the same messages were sent several times, the recorded
 * answers are returned in order and then repeated from the first. Steps that failed in the recording fail again. A call
 * that was not recorded fails with a `WorkerError` (`InvalidRequest`) and is not retried. Prices and descriptions come
 * from the given pool.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import { Baselines, Transcript } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { Replay } from "@divisi/evals"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const recorder = Transcript.recorder()
 * const policy = Baselines.single("a")
 * await Effect.runPromise(Conductor.make({ policy, pool }).run("6 times 7?", { listener: recorder.listener }))
 *
 * const offline = Replay.pool(pool, [recorder.transcript()!])
 * const conductor = Conductor.make({ policy, pool: offline })
 * const again = await Effect.runPromise(conductor.run("6 times 7?"))
 * again.answer // => "42"
 * const other = await Effect.runPromise(conductor.run("7 times 8?"))
 * other.ending // => "failed"
 * ```
 */
export const pool = (pool: WorkerPool, transcripts: ReadonlyArray<Transcript.Transcript>): WorkerPool => {
  const calls = Map.groupBy(all(transcripts).flatMap(callsOf), ({ step }) => step.worker)
  return { workers: Arr.map(pool.workers, (worker) => recorded(worker, calls.get(worker.id) ?? [])) }
}

/**
 * Returns the pool with network calls disabled. Combine it with the response cache from an earlier run: cached calls
 * are answered from the cache, and all others fail with a `WorkerError`.
 *
 * @internal
 */
export const offline = (pool: WorkerPool): WorkerPool => ({
  workers: Arr.map(pool.workers, (worker) => recorded(worker, []))
})
