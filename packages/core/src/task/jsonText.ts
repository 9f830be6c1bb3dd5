/** The JSON of an answer; some models put it in a block of code all the same. */
export const jsonText = (text: string): string =>
  /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(text)?.[1] ?? text.trim()
