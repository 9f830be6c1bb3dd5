/**
 * The promise-based API of the Conductor. It uses promises, async iterables and `AbortSignal` instead of Effect.
 *
 * This is a thin wrapper around the `Conductor` module and accepts the same options. It adds helpers for defining
 * workers and policies as plain functions, and for streaming and resuming runs.
 */

export { spendByWorker } from "./events/Payments.ts"
export type { RunEvent, WaitingCall } from "./events/RunEvent.ts"
export type { StepFailure } from "./events/StepFailure.ts"
export type { Transcript } from "./events/Transcript.ts"
export { OptionsError } from "./Options.ts"
export {
  bestOf,
  mixtureOfAgents,
  randomRouter,
  selfConsistency,
  selfReflection,
  single
} from "./policy/Baselines.ts"
export { agreed, checked } from "./policy/Escalation.ts"
export { type ModelResponse, type Policy, type Revising, type Revision, withFallback } from "./policy/Policy.ts"
export { type ForkOptions, fork } from "./promise/fork.ts"
export {
  languagePolicy,
  type PromiseComplete,
  type PromiseContext,
  type ProposalInput,
  policy
} from "./promise/policies.ts"
export {
  type AnswerPiece,
  eventResponse,
  type PageEvent,
  type StreamOptions,
  streamResponse
} from "./promise/responses.ts"
export {
  type AnswerStream,
  type ConductOptions,
  type ConductResult,
  conduct,
  type ResumeOptions,
  resume,
  streamAnswer,
  streamRun
} from "./promise/runs.ts"
export { ledger, memoryCache, memoryJournal, open } from "./promise/shared.ts"
export { type ToolOptions, tool } from "./promise/tools.ts"
export { decodeTranscript, encodeTranscript } from "./promise/transcripts.ts"
export { type Answer, type WorkerOptions, worker, workerError } from "./promise/workers.ts"
export type { RunFailure } from "./run/Conductor.ts"
export { defaultRetry, noRetry } from "./run/Resilience.ts"
export { type Check, matches } from "./task/Check.ts"
export { type Content, type ContentInput, type Message, text as messageText } from "./task/Message.ts"
export type { Shape, TypeOf } from "./task/Shape.ts"
export type { Given, Output, Tool } from "./task/Tool.ts"
export { free } from "./task/Usage.ts"
export type { Worker, WorkerErrorReason, WorkerRequest } from "./task/Worker.ts"
export { openTelemetry } from "./telemetry/OpenTelemetry.ts"
export type { Workflow } from "./workflow/Workflow.ts"
