/** Numbers with a noun, for messages. */

/** Returns a number with its noun, in the plural unless the number is 1. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`
