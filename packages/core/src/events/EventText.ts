/** Helpers for formatting events as text. */

/** Collapses a text into a single line and truncates it. */
export const oneLine = (text: string, length = 100): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}

/** Formats a line about a step or one of its items. Both are counted from 1. */
export const aboutStep = ({ item, step }: { readonly step: number; readonly item?: string }, text: string): string =>
  `Step ${step + 1}${item === undefined ? "" : `, item ${people(item)}`}: ${text}`

const people = (item: string): string =>
  item
    .split(".")
    .map((index) => Number(index) + 1)
    .join(".")
