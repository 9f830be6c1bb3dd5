/**
 * Encodes the run in the ids of the tool calls that a client answers: the only field that every wire must repeat.
 *
 * An id is `call_`, the run's 22 letters and digits, `_`, and six that stand for the call within its run. So it is 34
 * characters of letters, digits and `_`, which all three wires allow.
 */
import { createHash, randomFillSync } from "node:crypto"

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const base62 = (bytes: Uint8Array, length: number): string => {
  let number = BigInt(`0x${Buffer.from(bytes).toString("hex")}`)
  let text = ""
  for (; text.length < length; number /= 62n) text = digits[Number(number % 62n)]! + text
  return text
}

/** Unused random bytes. Generating a few costs as much as generating many. */
const store = Buffer.alloc(4096)
let used = store.length

/** Returns a random digit. Bytes above the last multiple of 62 are discarded, so that all digits are equally likely. */
const digit = (): string => {
  for (;;) {
    if (used === store.length) {
      randomFillSync(store)
      used = 0
    }
    const byte = store[used++]!
    if (byte < 248) return digits[byte % 62]!
  }
}

/** Returns a new id for a run or response: 22 letters and digits, with 130 random bits. */
export const random = (): string => {
  let text = ""
  while (text.length < 22) text += digit()
  return text
}

/** Returns the run id in a text. */
export const of = (text: string): string => base62(createHash("sha256").update(text).digest(), 22)

/** Returns the short name of a call within its run. */
const placeOf = (id: string): string => base62(createHash("sha256").update(id).digest().subarray(0, 8), 6)

/** Returns the client's id for a call that has the id `id` in its run. */
export const make = (runId: string, id: string): string => `call_${runId}_${placeOf(id)}`

/** Returns the run that an id refers to; `undefined` if the id is not from this server. */
export const runOf = (callId: string): string | undefined => /^call_([0-9A-Za-z]{22})_[0-9A-Za-z]{6}$/.exec(callId)?.[1]

/** Returns the call of a run that an id refers to. */
export const find = (callId: string, ids: ReadonlyArray<string>): string | undefined => {
  const place = callId.slice(-6)
  return ids.find((id) => placeOf(id) === place)
}
