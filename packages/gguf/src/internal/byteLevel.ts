/** How byte-level BPE writes bytes as visible characters, and cuts a text into words, after GPT-2. */

/** Bytes that stand for themselves: the printable ones of Latin-1, except the space and the soft hyphen. */
const isPrintable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173)

/** The character of every byte; those that do not stand for themselves take the characters from U+0100 on. */
export const characters: ReadonlyArray<string> = (() => {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++))
})()

const byteOf = new Map(characters.map((character, byte) => [character, byte]))

/** The bytes that characters stand for; `undefined` when one of them stands for none. */
export const read = (text: string): Uint8Array | undefined => {
  const bytes = Array.from(text, (character) => byteOf.get(character))
  return bytes.includes(undefined) ? undefined : Uint8Array.from(bytes as Array<number>)
}

/** GPT-2's words. White space is spelled out because `\s` differs slightly from Unicode's. */
const words =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu

/** Splits a text into the words that merges never cross. */
export const split = (text: string): ReadonlyArray<string> => text.match(words) ?? []
