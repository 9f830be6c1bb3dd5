/**
 * From the lines of an answer to the parts of a worker's answer: one step of a fold, without side effects.
 *
 * An answer is newline-delimited JSON; its last line has `done: true`. Sources: https://docs.ollama.com/api/streaming,
 * https://docs.ollama.com/api/usage and https://docs.ollama.com/api/errors. Fields and lines that are not known are
 * ignored.
 */
import type { Message } from "@divisi/core/Task"
import { estimateUsage } from "@divisi/core/Usage"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import * as VendorError from "@divisi/provider-kit/VendorError"
import * as Result from "effect/Result"

/** How far an answer has been read. */
export interface State {
  /** Everything written, from which usage is estimated where nobody reports it. */
  readonly written: string
  readonly isFinished: boolean
}

/** What is known of the call. */
export interface Reading {
  readonly messages: ReadonlyArray<Message>
  readonly surroundings: VendorError.Surroundings
}

/** An answer of which nothing is read. */
export const start: State = { written: "", isFinished: false }

/** The end of an answer, as a line. */
export const end = { type: "end" } as const

interface Line {
  readonly error?: unknown
  readonly message?: { readonly content?: unknown; readonly thinking?: unknown }
  readonly done?: unknown
  readonly done_reason?: unknown
  readonly prompt_eval_count?: unknown
  readonly eval_count?: unknown
}

type Next = Result.Result<readonly [State, ReadonlyArray<WorkerPart>], WorkerErrorReason>

const malformed = (detail: string): Next => Result.fail({ _tag: "Malformed", detail })

/** A line as JSON; none where it is something else. */
const parse = (line: string): Line | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Takes one line; fails at one that is no JSON, at an error, and at an end that comes too early. */
export const next = (state: State, text: string | typeof end, { messages, surroundings }: Reading): Next => {
  if (typeof text !== "string") {
    return state.isFinished ? Result.succeed([state, []]) : malformed("the stream ended before the answer did")
  }
  if (text.trim() === "") return Result.succeed([state, []])
  const line = parse(text)
  if (line === undefined) return malformed("a line is not JSON")
  if (line.error !== undefined) return Result.fail(VendorError.fromRefusal({ message: messageOf(text) }, surroundings))
  const parts = [part("reasoning", line.message?.thinking), part("text", line.message?.content)].flat()
  const written = state.written + parts.map(({ text }) => text).join("")
  if (line.done !== true) return Result.succeed([{ ...state, written }, parts])
  return Result.succeed([{ written, isFinished: true }, [...parts, finish(line, messages, written)]])
}

const part = (type: "reasoning" | "text", text: unknown) =>
  typeof text === "string" && text !== "" ? [{ type, text }] : []

const reasons: Readonly<Record<string, FinishReason>> = { stop: "stop", length: "length" }

const finish = (line: Line, messages: ReadonlyArray<Message>, written: string): WorkerPart => {
  const { done_reason, eval_count, prompt_eval_count } = line
  const isReported = typeof prompt_eval_count === "number" && typeof eval_count === "number"
  return {
    type: "finish",
    reason: reasons[String(done_reason)] ?? "other",
    usage: isReported ? { inputTokens: prompt_eval_count, outputTokens: eval_count } : estimateUsage(messages, written)
  }
}

/** The vendor's words in an error; the text itself where it is a page of somebody in between. */
export const messageOf = (text: string): string => {
  const error = parse(text)?.error
  return typeof error === "string" ? error : text
}
