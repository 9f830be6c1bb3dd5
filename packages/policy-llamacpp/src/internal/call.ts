/** Shared code for workers and samples: validation of settings, space for prompts, and errors. */
import { WorkerError, type WorkerErrorReason } from "@divisi/core/Worker"
import type { Token } from "node-llama-cpp"
import * as Errors from "../LlamaCppError.ts"
import type { LlamaCppModel } from "../LlamaCppModel.ts"
import type { QueueFull } from "./sequences.ts"

/** The seed value that llama.cpp interprets as random. */
const anySeed = 0xffffffff

/** Converts a seed to 32 bits for llama.cpp, excluding the value for a random seed. */
export const seedOf = (seed: number | undefined): number => {
  if (seed === undefined) return Math.floor(Math.random() * anySeed)
  const low = Math.abs(Math.trunc(seed)) % 2 ** 32
  return low === anySeed ? 0 : low
}

/** Creates the error for a failed call. */
export const failed = (worker: string, reason: WorkerErrorReason): WorkerError => new WorkerError({ worker, reason })

/** Returns the number of tokens that may follow a prompt, or an error if the context has no room. */
export const roomFor = (model: LlamaCppModel, worker: string, prompt: ReadonlyArray<Token>): number | WorkerError => {
  // llama.cpp shifts the context when only one token is free.
  const room = model.contextTokens - 1 - prompt.length
  if (room >= 1) return room
  return failed(worker, {
    _tag: "ContextTooLong",
    contextTokens: model.contextTokens,
    neededTokens: prompt.length + 2,
    detail: `the prompt has ${prompt.length} tokens, but the context has only ${model.contextTokens}; raise contextTokens`
  })
}

/** Returns the error for a call whose run failed. */
export const errorOf = (worker: string, model: LlamaCppModel, cause: unknown): WorkerError => {
  if (cause instanceof WorkerError) return cause
  if (typeof cause === "object" && cause !== null && "_tag" in cause && cause._tag === "QueueFull") {
    const { waiting } = cause as QueueFull
    const detail = `${model.sequences} runs are in progress and ${waiting} are waiting, which is the maximum; raise sequences or queueLimit`
    return failed(worker, { _tag: "Overloaded", detail })
  }
  return failed(worker, { _tag: "InvalidRequest", detail: Errors.detailOf(cause) })
}
