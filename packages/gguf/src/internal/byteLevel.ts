/** GPT-2's byte-level encoding: bytes as visible characters, and the splitting of text into words. */

/**
 * Whether a byte is represented by its Latin-1 character. True for all printable characters except the space and the
 * soft hyphen.
 */
const isPrintable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173)

/** The character for each byte. Bytes that are not printable use the characters from U+0100. */
export const characters: ReadonlyArray<string> = (() => {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++))
})()

const byteOf = new Map(characters.map((character, byte) => [character, byte]))

/** Decodes characters to bytes. Returns `undefined` if a character does not represent a byte. */
export const read = (text: string): Uint8Array | undefined => {
  const bytes = Array.from(text, (character) => byteOf.get(character))
  return bytes.includes(undefined) ? undefined : Uint8Array.from(bytes as Array<number>)
}

/**
 * The word pattern of GPT-2. White space is listed explicitly because `\s` differs slightly from Unicode's definition.
 */
const words =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu

/** Splits a text into words. Merges never cross word boundaries. */
export const split = (text: string): ReadonlyArray<string> => text.match(words) ?? []
