/** Serializes transcripts to JSON and parses them. */
import * as Result from "effect/Result"
import type { Transcript } from "../events/Transcript.ts"

/**
 * Serializes a transcript as a single line of JSON.
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
 * Parses a transcript from JSON. The promise is rejected with a `WireError` if the text is not valid JSON, has an
 * unsupported version, or contains a field of the wrong type.
 */
export const decodeTranscript = async (text: string): Promise<Transcript> => {
  // The schemas are loaded lazily, because runs do not need them.
  const wire = await import("../events/Wire.ts")
  return Result.getOrThrow(wire.decodeTranscript(text))
}
