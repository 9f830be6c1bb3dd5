/**
 * Encodes the run id in the ids of tool calls sent to clients, because the call id is the only field that clients
 * return on every wire.
 *
 * An id consists of `call_`, the run's 22 letters and digits, `_`, and 6 characters that identify the call within the
 * run. These 34 letters, digits and underscores are valid on all three wires.
 */
import { createHash, randomFillSync } from "node:crypto"

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const base62 = (bytes: Uint8Array, length: number): string => {
  let number = BigInt(`0x${Buffer.from(bytes).toString("hex")}`)
  let text = ""
  for (; text.length < length; number /= 62n) text = digits[Number(number % 62n)]! + text
  return text
}

/** Buffer of random bytes. Generating many at once costs as much as generating a few. */
const store = Buffer.alloc(4096)
let used = store.length

/** Length of an id, in characters. */
const idLength = 22

/** The characters of the id that is generated. Appending them one by one would create a text for each. */
const characters = Buffer.alloc(idLength)

/**
 * Generates an id for a run or response: 22 letters and digits with 130 random bits. Bytes above the largest multiple of
 * 62 are discarded, so that all digits are equally likely.
 */
export const random = (): string => {
  for (let length = 0; length < idLength; ) {
    if (used === store.length) {
      randomFillSync(store)
      used = 0
    }
    const byte = store[used++]!
    if (byte < 248) characters[length++] = digits.charCodeAt(byte % 62)
  }
  return characters.toString("latin1")
}

/** Derives a run id from a text, e.g. from an idempotency key. */
export const of = (text: string): string => base62(createHash("sha256").update(text).digest(), idLength)

/** Returns the 6 characters that identify a call within its run. */
const placeOf = (id: string): string => base62(createHash("sha256").update(id).digest().subarray(0, 8), 6)

/** Returns the id sent to the client for the call `id` in a run. */
export const make = (runId: string, id: string): string => `call_${runId}_${placeOf(id)}`

/** Extracts the run id from a call id. Returns `undefined` if this server did not issue the id. */
export const runOf = (callId: string): string | undefined => /^call_([0-9A-Za-z]{22})_[0-9A-Za-z]{6}$/.exec(callId)?.[1]

/** Returns the call in a run that a client's call id refers to. */
export const find = (callId: string, ids: ReadonlyArray<string>): string | undefined => {
  const place = callId.slice(-6)
  return ids.find((id) => placeOf(id) === place)
}
