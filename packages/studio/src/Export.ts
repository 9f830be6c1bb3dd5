/**
 * Exports runs as pages that work without a server: a folder for static hosting or `file:` URLs, or a single
 * self-contained file.
 */
import crypto from "node:crypto"
import type { Transcript } from "@divisi/core"
import * as Assets from "./Assets.ts"
import type { Summary } from "./run/Summary.ts"

/** A run to export. */
export interface ExportedRun {
  readonly summary: Summary
  readonly transcript: Transcript.Transcript
}

/**
 * Formats a value as a JavaScript expression containing JSON. The result cannot close a script element or open an HTML
 * comment, and contains no control or bidirectional formatting characters.
 */
const literal = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** Additional data for the page, keyed by API path, e.g. `v1/evaluations`. */
export type ExportedData = Readonly<Record<string, unknown>>

/**
 * Returns the script that defines the page's data. `JSON.parse` treats keys such as `__proto__` as plain properties.
 */
const dataScript = (runs: ReadonlyArray<ExportedRun>, more: ExportedData): string => {
  const data = {
    data: more,
    runs: runs.map(({ summary }) => summary),
    transcripts: Object.fromEntries(runs.map(({ transcript }) => [transcript.runId, transcript]))
  }
  return `globalThis.divisiStudio=JSON.parse(${literal(JSON.stringify(data))})`
}

/**
 * Updates an exported page to the current script, styles and document, and keeps its data.
 *
 * @internal
 */
export const again = (page: string): string => {
  const [, data] = /<script>(globalThis\.divisiStudio=JSON\.parse\(".*"\))<\/script>/.exec(page) ?? []
  if (data === undefined) throw new Error("This is not an exported page.")
  return pageOf(data)
}

const hashOf = (text: string): string => `'sha256-${crypto.createHash("sha256").update(text).digest("base64")}'`

const policyTag = (script: string, style: string): string =>
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${script}; style-src ${style}; base-uri 'none'; form-action 'none'">`

/** Matches the app's module script, which exported pages replace with a classic script. */
const moduleTag = '<script src="studio.js" type="module"></script>'

/** Returns a self-contained document with the runs. It loads no other files. */
export const onePage = (runs: ReadonlyArray<ExportedRun>, more: ExportedData = {}): string =>
  pageOf(dataScript(runs, more))

const pageOf = (data: string): string => {
  // The bundle is trusted code, so only a closing tag in one of its strings could end the script element.
  const script = Assets.textOf("exported.js").replaceAll("</script", "<\\/script")
  const style = Assets.textOf("studio.css")
  const policy = policyTag(`${hashOf(data)} ${hashOf(script)}`, hashOf(style))
  const replace = (text: string, pattern: string, by: string) => text.split(pattern).join(by)
  let page = Assets.textOf("index.html")
  page = replace(page, '<meta charset="utf-8">', `<meta charset="utf-8">\n${policy}`)
  page = replace(page, '<link rel="icon" href="icon.svg" type="image/svg+xml">\n', "")
  page = replace(page, '<link rel="stylesheet" href="studio.css">', `<style>${style}</style>`)
  page = replace(page, `${moduleTag}\n`, "")
  return replace(page, "</body>", `<script>${data}</script>\n<script>${script}</script>\n</body>`)
}

/** Returns the files of an exported folder, by name. The folder works on a static host and from `file:` URLs. */
export const folder = (runs: ReadonlyArray<ExportedRun>, more: ExportedData = {}): ReadonlyMap<string, string> => {
  const own = "'self' file:"
  const page = Assets.textOf("index.html")
    .replace('<meta charset="utf-8">', `<meta charset="utf-8">\n${policyTag(own, own)}`)
    .replace('<link rel="icon" href="icon.svg" type="image/svg+xml">\n', "")
    .replace(moduleTag, '<script src="data.js" defer></script>\n<script src="studio.js" defer></script>')
  return new Map([
    ["index.html", page],
    ["studio.js", Assets.textOf("exported.js")],
    ["studio.css", Assets.textOf("studio.css")],
    ["data.js", dataScript(runs, more)]
  ])
}
