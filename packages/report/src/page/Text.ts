/** Texts that were read, made safe to show. */

/** Control characters, non-characters, and those that turn the direction of the text around them. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/gu

/** Returns the text with a replacement character for each invisible character and each unpaired surrogate. */
export const visible = (text: string): string =>
  text.toWellFormed().replace(unseen, (character) => (character === "\n" || character === "\t" ? character : "\ufffd"))
