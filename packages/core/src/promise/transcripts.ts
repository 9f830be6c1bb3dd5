/** Converts transcripts to and from JSON text. */
import * as Result from "effect/Result"
import type { Transcript } from "../events/Transcript.ts"

/**
 * Encodes a transcript as one line of JSON.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, decodeTranscript, encodeTranscript, single, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "calculator", answer: () => "42" })]
 * const { transcript } = await conduct({ question: "What is 6 times 7?", pool, policy: single(0) })
 * const saved = encodeTranscript(transcript)
 * const again = await decodeTranscript(saved)
 * again.answer // => "42"
 * ```
 */
export const encodeTranscript = (transcript: Transcript): string => JSON.stringify(transcript)

/**
 * Decodes a transcript from JSON text. The promise is rejected with a `WireError` that describes the problem: invalid
 * JSON, an unsupported version, or the first field of the wrong type.
 */
export const decodeTranscript = async (text: string): Promise<Transcript> => {
  // A run needs no schemas: they are loaded when a transcript is read.
  const wire = await import("../events/Wire.ts")
  return Result.getOrThrow(wire.decodeTranscript(text))
}
