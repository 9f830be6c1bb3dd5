/** Parses a completion as a workflow, and describes the problem if parsing fails. */
import { type Workflow, WorkflowText } from "@divisi/core"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { clean, cut, widthOf } from "../view/Line.ts"
import type { Reading } from "./flags.ts"

/** A problem in a completion, and its position. Lines and columns start at 1. */
export interface Problem {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** A parser with fixed settings that can be used for any number of completions. */
export type Reader = (text: string) => Result.Result<WorkflowText.Reading, Problem>

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const messageOf = ({ expected, reason }: WorkflowText.WorkflowTextError, isPoolKnown: boolean): string => {
  if (reason._tag === "Unreadable") return capitalised(`expected ${expected}, found ${reason.found}.`)
  const rule = reason.error.reason
  return rule._tag === "WorkerOutOfRange" && !isPoolKnown
    ? `Step ${rule.step}: worker ${rule.worker} does not exist. Worker indices start at 0.`
    : reason.error.message
}

/** Creates the parser for the given flags. Without a pool size, any index from 0 refers to a worker. */
export const reader = (flags: Pick<Reading, "strict" | "poolSize" | "maxSteps" | "allowEmpty">): Reader => {
  const isPoolKnown = Option.isSome(flags.poolSize)
  const options: WorkflowText.Options = {
    mode: flags.strict ? "strict" : "tolerant",
    poolSize: Option.getOrElse(flags.poolSize, () => Number.MAX_SAFE_INTEGER),
    maxSteps: flags.maxSteps,
    allowEmpty: flags.allowEmpty
  }
  return (text) => {
    const reading = WorkflowText.read(text, options)
    if (Result.isSuccess(reading)) return reading
    const { column, line } = reading.failure
    return Result.fail({ line, column, message: messageOf(reading.failure, isPoolKnown) })
  }
}

/** Returns the workflow in the JSON format for programs. */
export const toJson = ({ steps }: Workflow.Workflow): { readonly steps: Workflow.Workflow["steps"] } => ({
  steps: steps.map(({ access, subtask, worker }) => ({ worker, subtask, access }))
})

/** Number of columns to show before a problem's position if the line is too long to be shown completely. */
const leadingColumns = 40

/** Formats a problem: the line that contains it, a caret below its position, and its description. */
export const showProblem = (text: string, problem: Problem): string => {
  const line = text.split(/\r\n|\r|\n/)[problem.line - 1] ?? ""
  const characters = line.slice(0, 4_000 + problem.column)
  const at = Math.min(problem.column - 1, characters.length)
  const from = Math.max(0, at - leadingColumns)
  const before = clean(characters.slice(from, at))
  const shown = `${from === 0 ? "" : "…"}${before}${clean(characters.slice(at))}`
  const number = String(problem.line)
  const margin = " ".repeat(number.length)
  return [
    `Line ${problem.line}, column ${problem.column}: ${problem.message}`,
    `  ${number} | ${cut(shown, 100)}`,
    `  ${margin} | ${" ".repeat(widthOf(before) + (from === 0 ? 0 : 1))}^`
  ].join("\n")
}
