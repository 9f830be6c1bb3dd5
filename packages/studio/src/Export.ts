/**
 * Exports runs as pages that work without a server: a folder for static hosting or `file:` URLs, or a single
 * self-contained file.
 */
import * as Assets from "./Assets.ts"
import * as ExportedPage from "./run/ExportedPage.ts"

export type { ExportedData, ExportedRun } from "./run/ExportedPage.ts"

/** Returns a self-contained document with the runs. It loads no other files. */
export const onePage = (runs: ReadonlyArray<ExportedPage.ExportedRun>, more: ExportedPage.ExportedData = {}): string =>
  ExportedPage.fill(Assets.textOf("export.html"), ExportedPage.dataOf(runs, more))

/**
 * Updates an exported page to the current script, styles and document, and keeps its data.
 *
 * @internal
 */
export const again = (page: string): string => {
  const data = ExportedPage.dataIn(page)
  if (data === undefined) throw new Error("This is not an exported page.")
  return ExportedPage.fill(Assets.textOf("export.html"), data)
}

/** Returns the files of an exported folder, by name. The folder works on a static host and from `file:` URLs. */
export const folder = (
  runs: ReadonlyArray<ExportedPage.ExportedRun>,
  more: ExportedPage.ExportedData = {}
): ReadonlyMap<string, string> =>
  new Map([
    ["index.html", ExportedPage.fill(Assets.textOf("folder.html"), ExportedPage.dataOf(runs, more))],
    ["studio.js", Assets.textOf("exported.js")],
    ["studio.css", Assets.textOf("studio.css")]
  ])
