/** How events word their lines for people. */

/** The start of a text, on one line. */
export const oneLine = (text: string, length = 100): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}

/** A line about a step. People count steps from 1. */
export const aboutStep = ({ step }: { readonly step: number }, text: string): string => `Step ${step + 1}: ${text}`
