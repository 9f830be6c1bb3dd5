import type { Transcript } from "@divisi/core"
import { describe, expect, it } from "vitest"
import * as BlockView from "../src/view/BlockView.ts"
import * as PlainView from "../src/view/PlainView.ts"
import { complete, events, fold, running } from "./fixture.ts"

type Shown = "both" | "plain" | "block" | "hidden"

/** The views that show a field of a step's record. A field that is added does not compile until it is decided here. */
const ofStep: { readonly [Field in keyof Transcript.StepRecord]-?: Shown } = {
  step: "both",
  item: "both",
  items: "both",
  unfolded: "both",
  without: "hidden",
  worker: "both",
  state: "both",
  startedAt: "both",
  endedAt: "plain",
  durationMillis: "both",
  text: "both",
  reasoning: "block",
  finishReason: "both",
  model: "hidden",
  cached: "both",
  origin: "both",
  paid: "both",
  turns: "both",
  waitingFor: "both",
  notices: "both",
  checks: "both",
  checkAnswers: "both",
  lost: "both",
  reassigned: "both",
  detail: "both",
  reason: "both",
  nested: "both"
}

/** The same of a round's record. */
const ofRound: { readonly [Field in keyof Transcript.RoundRecord]-?: Shown } = {
  round: "both",
  startedAt: "plain",
  completions: "both",
  lost: "both",
  policy: "both",
  plannedAt: "plain",
  planningMillis: "hidden",
  workflow: "both",
  waitingFor: "both",
  decision: "both",
  notes: "both",
  probability: "hidden",
  steps: "both",
  revisions: "both",
  grade: "both",
  criticAnswers: "both",
  endedAt: "both",
  answer: "hidden",
  isOwn: "both",
  isLast: "hidden",
  confirmed: "both"
}

/** A record that notes which of its fields are read. */
const watched = <A extends object>(record: A, read: Set<string>): A =>
  new Proxy(record, {
    get: (target, field) => {
      read.add(String(field))
      return Reflect.get(target, field)
    }
  })

const readBy = (show: (run: Transcript.Transcript) => unknown) => {
  const steps = new Set<string>()
  const rounds = new Set<string>()
  for (const run of [running, complete].map((parts) => fold(events(parts)))) {
    show({
      ...run,
      rounds: run.rounds.map((round) =>
        watched({ ...round, steps: round.steps.map((step) => watched(step, steps)) }, rounds)
      )
    })
  }
  return { steps, rounds }
}

const block = (run: Transcript.Transcript) =>
  run.ending === undefined ? BlockView.live(run, { width: 80, now: 2_000 }) : BlockView.final(run, 80)

const hiddenIn = (view: "plain" | "block", read: ReadonlySet<string>, fields: Readonly<Record<string, Shown>>) =>
  [...read].filter((field) => fields[field] !== "both" && fields[field] !== view)

describe("the fields of records that views show", () => {
  it.each([
    ["plain", PlainView.entries],
    ["block", block]
  ] as const)("in the %s view are in the table", (view, show) => {
    const { rounds, steps } = readBy(show)
    expect(hiddenIn(view, steps, ofStep)).toEqual([])
    expect(hiddenIn(view, rounds, ofRound)).toEqual([])
  })
})
