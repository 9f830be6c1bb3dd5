/** `divisi runs compare`: compares two runs, or a fork with its original. */
import { Journal, RunEvent, Transcript } from "@divisi/core"
import { Comparison } from "@divisi/studio"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as Hint from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import * as Journals from "../stores/Journals.ts"
import * as Format from "../view/Format.ts"
import { clean, cut, oneLine } from "../view/Line.ts"
import * as Records from "../view/Records.ts"
import { table, toLeft } from "../view/Table.ts"
import type { CompareInput } from "./flags.ts"

/** A run with the state that `divisi runs` shows for it. */
interface Side {
  readonly state: string
  readonly transcript: Transcript.Transcript
}

const cellWidth = 40

const letters = ["A", "B"]

const figureRows = (sides: ReadonlyArray<Side>): ReadonlyArray<ReadonlyArray<string>> => {
  const figures = sides.map((side) => ({
    ...side,
    ...Comparison.figuresOf(side.transcript),
    isPlay: Transcript.isAllPlay(side.transcript.pool)
  }))
  const row = (name: string, text: (of: (typeof figures)[number]) => string) => [name, ...figures.map(text)]
  return [
    ["", ...letters],
    row("run", ({ transcript }) => transcript.runId),
    row("policy", ({ transcript }) => cut(oneLine(transcript.policy), cellWidth)),
    row("state", ({ state }) => state),
    row("cost", ({ costUsd, isPlay }) => (costUsd === undefined ? "unknown" : Format.cost(costUsd, isPlay))),
    row("time", ({ millis }) => Format.duration(millis)),
    row("calls", ({ calls }) => `${calls}`),
    row("tokens in", ({ inputTokens }) => Format.integer(inputTokens)),
    row("tokens out", ({ outputTokens }) => Format.integer(outputTokens)),
    row("steps", ({ steps }) => `${steps}`)
  ]
}

const cellOf = (side: Comparison.Side | undefined): string => {
  if (side === undefined) return "–"
  const { state, text, worker } = side.record
  return cut(
    oneLine(state === "answered" ? `${RunEvent.authorOf(side.record)}: ${text}` : `${worker}: ${state}`),
    cellWidth
  )
}

const stepRows = (pairs: ReadonlyArray<Comparison.Pair>): ReadonlyArray<ReadonlyArray<string>> => [
  ["step", ...letters, "differs in"],
  ...pairs.map(({ differs, name, one, other }) => [name, cellOf(one), cellOf(other), differs ?? ""])
]

const text = (sides: readonly [Side, Side]): string => {
  const [one, other] = sides.map(({ transcript }) => transcript) as [Transcript.Transcript, Transcript.Transcript]
  const [asked, second] = [Comparison.questionOf(one), Comparison.questionOf(other)]
  const forks = [one, other].map(({ forkOf }, index) =>
    forkOf === undefined
      ? []
      : [`${letters[index]} is a fork of ${oneLine(forkOf.runId)} from step ${Records.placeOf(forkOf)}.`]
  )
  const answers = [one, other].map(({ answer }, index) =>
    answer === undefined ? [] : [`${letters[index]}: ${clean(answer).trim()}`]
  )
  return [
    `${Comparison.findingOf(one, other)}.`,
    ...forks.flat(),
    ...(asked === second ? [] : ["The runs have different questions."]),
    "",
    table(figureRows(sides), toLeft),
    "",
    table(stepRows(Comparison.pairsOf(one, other)), toLeft),
    ...(one.answer?.trim() === other.answer?.trim() ? [] : ["", ...answers.flat()])
  ].join("\n")
}

/** Returns the comparison as data for `--json`. */
const dataOf = (sides: readonly [Side, Side]) => {
  const [one, other] = sides.map(({ transcript }) => transcript) as [Transcript.Transcript, Transcript.Transcript]
  return {
    finding: Comparison.findingOf(one, other),
    runs: sides.map(({ state, transcript }) => ({
      run: transcript.runId,
      question: Comparison.questionOf(transcript),
      policy: transcript.policy,
      state,
      answer: transcript.answer,
      forkOf: transcript.forkOf,
      ...Comparison.figuresOf(transcript)
    })),
    steps: Comparison.pairsOf(one, other).map(({ differs, name, one, other }) => ({
      step: name,
      differs,
      workers: [one?.record.worker, other?.record.worker],
      answers: [one?.record.text, other?.record.text]
    }))
  }
}

const sideOf = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  name: string,
  place: Hint.Place
): Effect.fn.Return<Side, Failure> {
  const summary = yield* Journals.find(journal, name, place)
  const transcript = Transcript.fromEvents(yield* Journals.events(journal, summary.run))
  if (transcript === undefined) return yield* usage(`Run ${summary.run} has no events yet.`)
  return { state: Journal.stateOf(summary), transcript }
})

/** Prints the comparison. */
export const compare = (input: CompareInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* Journals.open(input.journal, input.database)
      const named = yield* sideOf(journal, input.id, input)
      const original = named.transcript.forkOf?.runId
      if (Option.isNone(input.other) && original === undefined) {
        const { runId } = named.transcript
        return yield* usage(
          `Run ${runId} is not a fork. Pass the id of a second run: ${Hint.command(`divisi runs compare ${runId} <id>`, input)}`
        )
      }
      const sides: readonly [Side, Side] = Option.isSome(input.other)
        ? [named, yield* sideOf(journal, input.other.value, input)]
        : [yield* sideOf(journal, original!, input), named]
      stdout.write(`${input.json ? JSON.stringify(dataOf(sides), null, 2) : text(sides)}\n`)
    })
  )
