/** Formats and validates the text of plans. Loaded together with the first editor. */
import { type Transcript, Transcript as Transcripts, type Workflow, WorkflowText } from "@divisi/core"
import * as Result from "effect/Result"

/** A problem in a plan, with its line number starting at 1. */
export interface Problem {
  readonly message: string
  readonly line: number
}

/**
 * Parses the problem that a server reports for a plan. Returns `undefined` for a message without a line number, which
 * concerns something else.
 */
export const problemIn = (message: string): Problem | undefined => {
  const line = /\bLine (\d+), column \d+: /.exec(message)?.[1]
  return line === undefined ? undefined : { message, line: Number(line) }
}

/** Formats a plan with one element per line. */
export const write = (workflow: Workflow.Workflow): string => WorkflowText.write(workflow, { isSpread: true })

/**
 * Validates a plan like the server, based on what the page knows about the run. The server may still reject the plan.
 */
export const problemOf = (text: string, transcript: Transcript.Transcript, round: number): Problem | undefined => {
  const rules = Transcripts.planRules(transcript, round)
  const reading = WorkflowText.read(text, { ...rules, mode: "strict", how: true })
  if (Result.isSuccess(reading)) return undefined
  return { message: reading.failure.message, line: reading.failure.line }
}
