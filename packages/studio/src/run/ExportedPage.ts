/** The data block of an exported page. Servers and the page itself create exported pages from the same template. */
import type { Transcript } from "@divisi/core"
import type { Summary } from "./Summary.ts"

/** A run to export. */
export interface ExportedRun {
  readonly summary: Summary
  readonly transcript: Transcript.Transcript
}

/** Additional data for the page, keyed by API path, e.g. `v1/evaluations`. */
export type ExportedData = Readonly<Record<string, unknown>>

/** The data of an exported page. */
export interface Exported {
  readonly runs: ReadonlyArray<Summary>
  readonly transcripts: Readonly<Record<string, Transcript.Transcript>>
  readonly data: ExportedData
}

/** Id of the element that contains the data. */
export const elementId = "divisi-data"

const start = `<script type="application/json" id="${elementId}">`

const end = "</script>"

/** The element of a page without data. */
export const element = `${start}${end}`

/**
 * Formats a value as JSON that cannot close its element or open an HTML comment, and that contains no control or
 * bidirectional formatting characters.
 */
const literal = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** Returns the text of the data block. */
export const dataOf = (runs: ReadonlyArray<ExportedRun>, data: ExportedData = {}): string =>
  literal({
    data,
    runs: runs.map(({ summary }) => summary),
    transcripts: Object.fromEntries(runs.map(({ transcript }) => [transcript.runId, transcript]))
  } satisfies Exported)

/** Inserts data into a page without data. */
export const fill = (page: string, data: string): string => page.split(element).join(`${start}${data}${end}`)

/** Returns the data block of an exported page, or `undefined` if there is no such block. */
export const dataIn = (page: string): string | undefined => {
  const from = page.indexOf(start)
  return from === -1 ? undefined : page.slice(from + start.length, page.indexOf(end, from))
}
