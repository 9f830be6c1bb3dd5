/** Requests that control a run. They need a server and use the tab's API key. */
import * as Format from "../run/Format.ts"
import { ask, askJson, isExported, isMounted } from "./Source.ts"

/** Whether runs can be controlled. Folders and exported pages are read-only. */
export const canSteer = (): boolean => isMounted() && !isExported()

/** The caller's response to a pending call: a result, or a decision. */
export type Given =
  | string
  | { readonly approved: boolean; readonly reason?: string }
  | { readonly content: string; readonly is_error: boolean }

const path = (run: string, verb: string): string => `v1/runs/${Format.segment(run)}/${verb}`

const send = (run: string, verb: string, body: unknown): Promise<Response> =>
  ask(path(run, verb), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

/** Continues a run with the results of pending calls. Returns once the server has started the continuation. */
export const resume = async (run: string, results: Readonly<Record<string, Given>> = {}): Promise<void> => {
  await send(run, "resume", { results, background: true })
}

/** Stops an active run, or ends a suspended one. */
export const cancel = async (run: string): Promise<void> => {
  await send(run, "cancel", {})
}

/** The step to fork from, and the changes to make. */
export interface Fork {
  readonly at: string
  readonly answer?: string
  readonly worker?: string
  readonly subtask?: string
  /** The text of a new plan for the round. */
  readonly plan?: string
  readonly policy?: string
}

/** Forks a run. Returns the id of the new run. */
export const fork = async (run: string, change: Fork): Promise<string> => {
  const response = await send(run, "fork", { ...change, background: true })
  return response.headers.get("x-divisi-run") ?? ""
}

interface Amount {
  readonly calls: number
  readonly tokens: number
  /** `null` if it is not known in advance. */
  readonly cost_usd: number | null
}

/** The price of a plan or of a fork. */
export interface PlanPrice {
  readonly least: Amount
  readonly likely: Amount
  readonly most: Amount
}

/** Requests the price of another plan for a round, or of a fork. */
export const priceOf = async (
  run: string,
  of: { readonly plan: string; readonly round: number } | Omit<Fork, "policy">
): Promise<PlanPrice> => (await send(run, "price", of)).json()

/** Models, policies and tools that the server offers for the tab's API key. */
export interface Offer {
  readonly models: ReadonlyArray<string>
  readonly policies: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
}

/** Loads the models, policies and tools that the server offers. */
export const readOffer = async (signal: AbortSignal): Promise<Offer> => {
  const { data, divisi } = (await askJson("v1/models", { signal })) as {
    readonly data: ReadonlyArray<{ readonly id: string }>
    readonly divisi?: Pick<Offer, "policies" | "tools">
  }
  return { models: data.map(({ id }) => id), policies: divisi?.policies ?? [], tools: divisi?.tools ?? [] }
}

/** Returns the worker behind a model name: `openai:gpt-6.1-sol` for `worker/openai:gpt-6.1-sol`. */
export const workersIn = ({ models }: Offer): ReadonlyArray<string> =>
  models.flatMap((name) => (name.startsWith("worker/") ? [name.slice("worker/".length)] : []))
