/** Loads the runs for the app, from the `/v1/runs` routes of a server or from the data of an exported page. */

import type { Transcript } from "@divisi/core"
import { signal } from "@preact/signals"
import * as Format from "../run/Format.ts"
import type { Summary } from "../run/Summary.ts"

/** An error response from the server. */
export class SourceError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Whether the server would return the same error again. All other errors may be temporary. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof SourceError && error.status >= 400 && error.status < 500

/** A run: its list entry, and its transcript if content may be read. */
export interface Run {
  readonly summary: Summary
  readonly transcript: Transcript.Transcript | undefined
}

/** The data of an exported page. */
interface Embedded {
  readonly runs: ReadonlyArray<Summary>
  readonly transcripts: Readonly<Record<string, Transcript.Transcript>>
}

interface Exported {
  runs?: ReadonlyArray<Summary>
  /** Additional data, keyed by API path. */
  data?: Readonly<Record<string, unknown>>
  transcripts: Record<string, Transcript.Transcript>
}

declare global {
  var divisiStudio: Exported | undefined
}

const embedded = (): Embedded | undefined => {
  const data = globalThis.divisiStudio
  return data?.runs === undefined ? undefined : { runs: data.runs, transcripts: data.transcripts }
}

/** Whether the app runs as an exported page without a server. */
export const isExported = (): boolean => embedded() !== undefined

/**
 * Returns the initial path of an exported page: its only run, evaluation, training run or session, or otherwise the
 * first list.
 */
export const firstPath = (): ReadonlyArray<string> | undefined => {
  const data = embedded()
  if (data === undefined) return undefined
  const [run, ...others] = data.runs
  if (run !== undefined) return others.length === 0 ? ["runs", run.id] : ["runs"]
  if (!mayHave("v1/evaluations") && !mayHave("v1/trainings") && mayHave("v1/costs")) return ["costs"]
  const name = mayHave("v1/evaluations") ? "evaluations" : "trainings"
  const { data: lines = [] } = (globalThis.divisiStudio?.data?.[`v1/${name}`] ?? {}) as {
    readonly data?: ReadonlyArray<{ readonly id: string }>
  }
  const page = name === "trainings" ? "training" : name
  return lines.length === 1 ? [page, lines[0]!.id] : [page]
}

/** Whether runs may be available. The exported page of an evaluation, a training run or a session contains none. */
export const mayHaveRuns = (): boolean => embedded()?.runs.length !== 0

/** Whether the server or the exported page provides the data at a path. */
export const mayHave = (path: string): boolean =>
  isExported() ? Object.hasOwn(globalThis.divisiStudio?.data ?? {}, path) : !isMounted()

/** Loads JSON from an API path, or from the data of an exported page. */
export const readData = async (path: string, signal: AbortSignal): Promise<unknown> => {
  if (!isExported()) return (await ask(path, { signal })).json()
  if (!mayHave(path)) throw new SourceError(404, "This page was exported without this data.")
  return globalThis.divisiStudio?.data?.[path]
}

const keyName = "divisi-key"

/** The API key for this browser tab. It is stored for this tab only. */
export const apiKey = signal(globalThis.sessionStorage?.getItem(keyName) ?? "")

/** Whether the key may list the runs of all keys. Assumed to be true until the server refuses. */
let mayListAll = true

export const setApiKey = (key: string): void => {
  apiKey.value = key
  mayListAll = true
  if (key === "") sessionStorage.removeItem(keyName)
  else sessionStorage.setItem(keyName, key)
}

/** Whether the app is served by a server with models, keys and ratings. Otherwise it displays a folder. */
export const isMounted = (): boolean => /\/studio\/?$/.test(location.pathname)

/** The API root: the parent of `studio/`, or the folder of the page. */
const root = (): string => new URL(isMounted() ? "../" : "./", location.href).href

const headers = (more: Readonly<Record<string, string>> = {}): Record<string, string> =>
  apiKey.peek() === "" ? { ...more } : { ...more, authorization: `Bearer ${apiKey.peek()}` }

const messageOf = async (response: Response): Promise<string> => {
  const text = await response.text().catch(() => "")
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } }
    if (typeof error?.message === "string") return error.message
  } catch {
    // The body is not JSON.
  }
  return `The server answered ${response.status} ${response.statusText}.`.trim()
}

/** Sends a request. Throws an error with the server's message if it fails. */
export const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const given = init.headers as Record<string, string> | undefined
  let response: Response
  try {
    response = await fetch(new URL(path, root()), { ...init, headers: headers(given) })
  } catch {
    throw new SourceError(0, "The server cannot be reached. Check that it is running, then try again.")
  }
  if (!response.ok) throw new SourceError(response.status, await messageOf(response))
  return response
}

/** Sends and receives JSON. */
export const post = async (path: string, body: unknown): Promise<unknown> => {
  const response = await ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  return response.json()
}

interface Page {
  readonly data: ReadonlyArray<Summary>
  readonly has_more: boolean
  readonly last_id: string | null
}

/** Maximum number of runs in the list. */
export const maxRuns = 10_000

/** Requests runs: those of all keys if the key has the `admin` right, or the caller's own. */
const askRuns = async (query: string, signal: AbortSignal): Promise<Page> => {
  if (apiKey.peek() !== "" && mayListAll) {
    try {
      return (await (await ask(`v1/runs?${query}&owner=all`, { signal })).json()) as Page
    } catch (error) {
      if (!(error instanceof SourceError && error.status === 403)) throw error
      mayListAll = false
    }
  }
  return (await (await ask(`v1/runs?${query}`, { signal })).json()) as Page
}

/**
 * Loads the list page by page. Reports the runs after the first page, and again each time the list has doubled in size.
 */
export const listRuns = async (onPage: (runs: ReadonlyArray<Summary>) => void, signal: AbortSignal): Promise<void> => {
  const data = embedded()
  if (data !== undefined) return onPage(data.runs)
  const runs: Array<Summary> = []
  let passedOn = 0
  let after = ""
  for (;;) {
    const page = await askRuns(`limit=100${after}`, signal)
    if (signal.aborted) return
    runs.push(...page.data)
    const isLast = !page.has_more || page.last_id === null || runs.length >= maxRuns
    // Each reported list is filtered, sorted and counted as a whole, so 10,000 rows are reported 8 times instead of
    // 100.
    if (isLast || runs.length >= 2 * passedOn) {
      passedOn = runs.length
      onPage([...runs])
    }
    if (isLast) return
    after = `&after=${Format.segment(page.last_id ?? "")}`
  }
}

/** Loads the newest runs. */
export const newestRuns = async (signal: AbortSignal): Promise<ReadonlyArray<Summary>> => {
  const data = embedded()
  if (data !== undefined) return data.runs
  return (await askRuns("limit=50", signal)).data
}

/** Loads a run. */
export const readRun = async (id: string, signal: AbortSignal): Promise<Run> => {
  const data = embedded()
  if (data !== undefined) {
    const summary = data.runs.find((run) => run.id === id)
    if (summary === undefined) throw new SourceError(404, `This page has no run ${id}.`)
    return { summary, transcript: data.transcripts[id] }
  }
  const response = await ask(`v1/runs/${Format.segment(id)}`, { signal })
  const { transcript, ...summary } = (await response.json()) as Summary & {
    readonly transcript?: Transcript.Transcript
  }
  return { summary, transcript }
}
