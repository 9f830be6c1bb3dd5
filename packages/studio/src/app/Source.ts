/** Loads the runs for the app, from the `/v1/runs` routes of a server or from the data of an exported page. */

import type { Transcript } from "@divisi/core"
import { signal } from "@preact/signals"
import * as ExportedPage from "../run/ExportedPage.ts"
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
const exported = ((): ExportedPage.Exported | undefined => {
  const element = globalThis.document?.getElementById(ExportedPage.elementId)
  return element === null || element === undefined ? undefined : JSON.parse(element.textContent)
})()

/** The run of one worker that an exported run is compared with, if there is one. */
export const exportedAlone = (): ReadonlyArray<Summary> =>
  (exported?.data.alone as ReadonlyArray<Summary> | undefined) ?? []

/** Whether the app runs as an exported page without a server. */
export const isExported = (): boolean => exported !== undefined

/**
 * Returns the initial path of an exported page: its only run, evaluation, training run or session, or otherwise the
 * first list.
 */
export const firstPath = (): ReadonlyArray<string> | undefined => {
  if (exported === undefined) return undefined
  const [run, ...others] = exported.runs
  if (run !== undefined) return others.length === 0 ? ["runs", run.id] : ["runs"]
  if (!mayHave("v1/evaluations") && !mayHave("v1/trainings") && mayHave("v1/costs")) return ["costs"]
  const name = mayHave("v1/evaluations") ? "evaluations" : "trainings"
  const { data: lines = [] } = (exported.data[`v1/${name}`] ?? {}) as {
    readonly data?: ReadonlyArray<{ readonly id: string }>
  }
  const page = name === "trainings" ? "training" : name
  return lines.length === 1 ? [page, lines[0]!.id] : [page]
}

/** Whether runs may be available. The exported page of an evaluation, a training run or a session contains none. */
export const mayHaveRuns = (): boolean => exported?.runs.length !== 0

/** Whether the server or the exported page provides the data at a path. */
export const mayHave = (path: string): boolean =>
  exported === undefined ? !isMounted() : Object.hasOwn(exported.data, path)

/** Loads JSON from an API path, or from the data of an exported page. */
export const readData = async (path: string, signal: AbortSignal): Promise<unknown> => {
  if (exported === undefined) return askJson(path, { signal })
  if (!mayHave(path)) throw new SourceError(404, "This page was exported without this data.")
  return exported.data[path]
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

/** Whether the server answered the last request. */
export const isReached = signal(true)

/** Sends a request. Throws an error with the server's message if it fails. */
export const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const given = init.headers as Record<string, string> | undefined
  let response: Response
  try {
    response = await fetch(new URL(path, root()), { ...init, headers: headers(given) })
    isReached.value = true
  } catch {
    if (init.signal?.aborted !== true) isReached.value = false
    throw new SourceError(0, "The server cannot be reached. Check that it is running, then try again.")
  }
  if (!response.ok) throw new SourceError(response.status, await messageOf(response))
  return response
}

/** Sends a request and parses the response. */
export const askJson = async (path: string, init: RequestInit = {}): Promise<unknown> => {
  const response = await ask(path, init)
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    const message = "The answer of the server cannot be read. Check that this is the address of a Divisi server."
    throw new SourceError(response.status, message)
  }
}

/** Sends and receives JSON. */
export const post = (path: string, body: unknown): Promise<unknown> =>
  askJson(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

interface Page {
  readonly data: ReadonlyArray<Summary>
  readonly has_more: boolean
  readonly last_id: string | null
}

/** Maximum number of runs in the list. */
export const maxRuns = 10_000

/** Whether the list contains the runs of all keys. */
export const listsAll = (): boolean => apiKey.peek() !== "" && mayListAll

/** Requests runs: those of all keys if the key has the `admin` right, or the caller's own. */
const askRuns = async (query: string, signal: AbortSignal): Promise<Page> => {
  if (listsAll()) {
    try {
      return (await askJson(`v1/runs?${query}&owner=all`, { signal })) as Page
    } catch (error) {
      if (!(error instanceof SourceError && error.status === 403)) throw error
      mayListAll = false
    }
  }
  return (await askJson(`v1/runs?${query}`, { signal })) as Page
}

/**
 * Loads the list page by page. Reports the runs after the first page, and again each time the list has doubled in size.
 */
export const listRuns = async (onPage: (runs: ReadonlyArray<Summary>) => void, signal: AbortSignal): Promise<void> => {
  if (exported !== undefined) return onPage(exported.runs)
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

/** Maximum number of runs that {@link newestRuns} loads. */
export const maxNewest = 50

/** Loads the newest runs. */
export const newestRuns = async (signal: AbortSignal): Promise<ReadonlyArray<Summary>> => {
  if (exported !== undefined) return exported.runs
  return (await askRuns(`limit=${maxNewest}`, signal)).data
}

/** Loads a run of an exported page. */
export const exportedRun = (id: string): Run => {
  const summary = exported?.runs.find((run) => run.id === id)
  if (summary === undefined) throw new SourceError(404, `This page has no run ${id}.`)
  return { summary, transcript: exported?.transcripts[id] }
}
