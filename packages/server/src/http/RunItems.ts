/**
 * Pages through the items of a step. A transcript includes only the first items of each step; `GET /v1/runs/{id}/items`
 * returns all of them in pages, so that no response contains thousands of records.
 */
import type { Transcript } from "@divisi/core"
import * as Effect from "effect/Effect"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import * as OwnSchemas from "./OwnSchemas.ts"

type MoreItems = typeof OwnSchemas.MoreItems.Type

const itemsOf = (
  run: string,
  round: number,
  step: Transcript.StepRecord,
  more: Array<MoreItems>
): Transcript.StepRecord => {
  const { items, nested } = step
  if (items === undefined && nested === undefined) return step
  const shown = items?.slice(0, OwnSchemas.mostItems)
  if (items !== undefined && shown!.length < items.length)
    more.push({ run, round, step: step.step, shown: shown!.length, total: items.length })
  return {
    ...step,
    ...(shown && { items: shown.map((item) => itemsOf(run, round, item, more)) }),
    ...(nested && { nested: runOf(nested, more) })
  }
}

const runOf = (run: Transcript.Transcript, more: Array<MoreItems>): Transcript.Transcript => ({
  ...run,
  rounds: run.rounds.map((round) => ({
    ...round,
    steps: round.steps.map((step) => itemsOf(run.runId, round.round, step, more))
  }))
})

/** Returns the transcript with only the first items of each step, and lists the steps that have more items. */
export const bounded = (transcript: Transcript.Transcript) => {
  const more: Array<MoreItems> = []
  const shown = runOf(transcript, more)
  return { transcript: shown, ...(more.length > 0 && { more_items: more }) }
}

/** Finds a run by id: the run itself, or a run nested in a step or an item. */
const find = (run: Transcript.Transcript, id: string): Transcript.Transcript | undefined => {
  if (run.runId === id) return run
  if (!id.startsWith(`${run.runId}/`)) return undefined
  for (const { steps } of run.rounds)
    for (const step of steps)
      for (const { nested } of [step, ...(step.items ?? [])]) {
        const found = nested && find(nested, id)
        if (found !== undefined) return found
      }
  return undefined
}

const number = (url: URL, name: "round" | "step"): Effect.Effect<number, ApiError> => {
  const text = url.searchParams.get(name) ?? ""
  return /^\d{1,9}$/.test(text)
    ? Effect.succeed(Number(text))
    : Effect.fail(invalid(name, `${name} must be the number of a ${name}, counted from 0.`))
}

/** Returns a page of a step's items, starting after the item in the query. */
export const page = Effect.fnUntraced(function* (
  transcript: Transcript.Transcript,
  url: URL,
  limit: number
): Effect.fn.Return<typeof OwnSchemas.Items.Type, ApiError> {
  const id = url.searchParams.get("run") ?? transcript.runId
  const [at, place] = [yield* number(url, "round"), yield* number(url, "step")]
  const run = find(transcript, id)
  if (run === undefined) return yield* Effect.fail(invalid("run", "This run has no nested run with this id."))
  const step = run.rounds[at]?.steps[place]
  if (step?.items === undefined)
    return yield* Effect.fail(invalid("step", `Step ${place} of round ${at} has no items.`))
  const after = url.searchParams.get("after")
  const before = after === null ? -1 : step.items.findIndex(({ item }) => item === after)
  if (after !== null && before < 0)
    return yield* Effect.fail(invalid("after", "after must be the name of an item of this step, such as 3 or 3.1."))
  const more: Array<MoreItems> = []
  const data = step.items.slice(before + 1, before + 1 + limit).map((item) => itemsOf(id, at, item, more))
  return {
    object: "list",
    data,
    has_more: before + 1 + data.length < step.items.length,
    last_id: data.at(-1)?.item ?? null,
    total: step.items.length,
    ...(more.length > 0 && { more_items: more })
  }
})
