/** The text form of plans, which is loaded with the first editor: how it is written for people, and checked. */
import { type Transcript, Transcript as Transcripts, type Workflow, WorkflowText } from "@divisi/core"
import * as Result from "effect/Result"

/** The problem of a plan, and the line that has it, from 1. */
export interface Problem {
  readonly message: string
  readonly line: number
}

/** The problem of a plan that a server reports; `undefined` for a message without a line, which is about another thing. */
export const problemIn = (message: string): Problem | undefined => {
  const line = /\bLine (\d+), column \d+: /.exec(message)?.[1]
  return line === undefined ? undefined : { message, line: Number(line) }
}

/** Writes a plan with one element per line. */
export const write = (workflow: Workflow.Workflow): string => WorkflowText.write(workflow, { isSpread: true })

/** Reads a plan as the server does, with what the page knows of the run: the server may still refuse it. */
export const problemOf = (text: string, transcript: Transcript.Transcript, round: number): Problem | undefined => {
  const rules = Transcripts.planRules(transcript, round)
  const reading = WorkflowText.read(text, { ...rules, mode: "strict", how: true })
  if (Result.isSuccess(reading)) return undefined
  return { message: reading.failure.message, line: reading.failure.line }
}
