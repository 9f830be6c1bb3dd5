/** Shared code of workers and samples: checks of settings, room for prompts, and errors. */
import { WorkerError, type WorkerErrorReason } from "@divisi/core/Worker"
import type { Token } from "node-llama-cpp"
import * as Errors from "../LlamaCppError.ts"
import type { LlamaCppModel } from "../LlamaCppModel.ts"
import type { QueueFull } from "./sequences.ts"

/** The seed that llama.cpp takes for "any". */
const anySeed = 0xffffffff

/** A seed for llama.cpp: 32 bits, of which the largest value means none. */
export const seedOf = (seed: number | undefined): number => {
  if (seed === undefined) return Math.floor(Math.random() * anySeed)
  const low = Math.abs(Math.trunc(seed)) % 2 ** 32
  return low === anySeed ? 0 : low
}

/** A failed call, and why. */
export const failed = (worker: string, reason: WorkerErrorReason): WorkerError => new WorkerError({ worker, reason })

/** Returns the number of tokens that may follow a prompt, or an error if there is no room. */
export const roomFor = (model: LlamaCppModel, worker: string, prompt: ReadonlyArray<Token>): number | WorkerError => {
  // llama.cpp shifts a context once only one token is free.
  const room = model.contextTokens - 1 - prompt.length
  if (room >= 1) return room
  return failed(worker, {
    _tag: "ContextTooLong",
    contextTokens: model.contextTokens,
    neededTokens: prompt.length + 2,
    detail: `the prompt has ${prompt.length} tokens and the context ${model.contextTokens}; raise contextTokens`
  })
}

/** The error of a call whose run has failed. */
export const errorOf = (worker: string, model: LlamaCppModel, cause: unknown): WorkerError => {
  if (cause instanceof WorkerError) return cause
  if (typeof cause === "object" && cause !== null && "_tag" in cause && cause._tag === "QueueFull") {
    const { waiting } = cause as QueueFull
    const detail = `${model.sequences} concurrent runs and ${waiting} waiting ones are the maximum; raise sequences or queueLimit`
    return failed(worker, { _tag: "Overloaded", detail })
  }
  return failed(worker, { _tag: "InvalidRequest", detail: Errors.detailOf(cause) })
}
