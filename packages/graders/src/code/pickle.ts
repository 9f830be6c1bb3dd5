/**
 * Reads a Python pickle that contains a single string. Pickles are programs, so every instruction other than pushing a
 * string, memoizing it and stopping is rejected, and nothing is ever executed.
 */
import * as Result from "effect/Result"

const opcodes = {
  proto: 0x80,
  frame: 0x95,
  shortText: 0x8c,
  text: 0x58,
  longText: 0x8d,
  memoize: 0x94,
  put: 0x71,
  stop: 0x2e
} as const

/** Returns the string in a pickle. Fails with the position of any other content. */
export const readText = (bytes: Uint8Array): Result.Result<string, string> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let at = 0
  let text: string | undefined

  const take = (length: number): Result.Result<string | undefined, string> => {
    if (text !== undefined) return Result.fail(`the pickle contains more than one value at byte ${at}`)
    if (length > bytes.byteLength - at) return Result.fail("the pickle is truncated")
    const slice = bytes.subarray(at, at + length)
    at += length
    return Result.mapError(
      Result.try(() => {
        text = decoder.decode(slice)
        return undefined
      }),
      () => "the pickle's text is not UTF-8"
    )
  }

  const lengthOf = (width: 1 | 4 | 8): number => {
    if (at + width > bytes.byteLength) return Number.POSITIVE_INFINITY
    const length =
      width === 1 ? view.getUint8(at) : width === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true))
    at += width
    return length
  }

  const step = (opcode: number): Result.Result<string | undefined, string> => {
    switch (opcode) {
      case opcodes.proto:
        at += 1
        return Result.succeed(undefined)
      case opcodes.frame:
        at += 8
        return Result.succeed(undefined)
      case opcodes.shortText:
        return take(lengthOf(1))
      case opcodes.text:
        return take(lengthOf(4))
      case opcodes.longText:
        return take(lengthOf(8))
      case opcodes.memoize:
        return Result.succeed(undefined)
      case opcodes.put:
        at += 1
        return Result.succeed(undefined)
      case opcodes.stop:
        if (text === undefined) return Result.fail("the pickle contains no text")
        return at === bytes.byteLength ? Result.succeed(text) : Result.fail("there is data after the pickle")
      default:
        return Result.fail(
          `the pickle has the instruction 0x${opcode.toString(16)} at byte ${at - 1}, which is not allowed`
        )
    }
  }

  while (at < bytes.byteLength) {
    const result = step(view.getUint8(at++))
    if (Result.isFailure(result)) return Result.fail(result.failure)
    if (result.success !== undefined) return Result.succeed(result.success)
  }
  return Result.fail("the pickle is truncated")
}
