/** How events word their lines for people. */

/** The start of a text, on one line. */
export const oneLine = (text: string, length = 100): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}

/** A line about a step, or about an item of it. People count steps and items from 1. */
export const aboutStep = ({ item, step }: { readonly step: number; readonly item?: string }, text: string): string =>
  `Step ${step + 1}${item === undefined ? "" : `, item ${people(item)}`}: ${text}`

const people = (item: string): string =>
  item
    .split(".")
    .map((index) => Number(index) + 1)
    .join(".")
