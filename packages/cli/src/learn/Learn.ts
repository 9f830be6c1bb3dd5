/** `divisi learn`: learns a routing table from the log of outcomes, and shows the result. */

import { Strongest } from "@divisi/core"
import { WholeFile } from "@divisi/files"
import { Learned, Replay, Table } from "@divisi/policy-router"
import { RouterPicture } from "@divisi/report"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as NoEffect from "../invocation/NoEffect.ts"
import { stdout } from "../invocation/Output.ts"
import * as OwnOutcomes from "../stores/OwnOutcomes.ts"
import { clean } from "../view/Line.ts"
import { table as rows } from "../view/Table.ts"
import type { LearnInput } from "./command.ts"
import { dateOf, examplesOf, missing, nothingRated } from "./Examples.ts"
import { learnHead } from "./LearnHead.ts"

// -------------------------------------------------------------------------------------------------------------------
// Showing
// -------------------------------------------------------------------------------------------------------------------

const standingsOf = (workers: ReadonlyArray<string>, standings: ReadonlyArray<Table.Standing>, chosen: string) =>
  workers.map((worker) => {
    const { mean = null, questions = 0 } = standings.find((one) => one.worker === worker) ?? {}
    return { mean, questions, isChosen: worker === chosen }
  })

/** Returns the workers' scores over all questions, followed by the scores per kind of question. */
const shown = ({ best, kinds, workers }: Table.Table): RouterPicture.Standings => {
  const ids = workers.map(({ worker }) => worker)
  return {
    workers: ids,
    rows: [
      { name: "all questions", cells: standingsOf(ids, workers, best) },
      ...kinds.map(({ choices, name, workers }) => ({ name, cells: standingsOf(ids, workers, choices.best) }))
    ]
  }
}

const countOf = (questions: number): string => (questions === 1 ? "1 question" : `${questions} questions`)

const cellText = ({ isChosen, mean, questions }: RouterPicture.Cell): string => {
  if (mean === null || questions === 0) return "-"
  const error = Math.sqrt((mean * (1 - mean)) / questions)
  return `${isChosen ? "* " : ""}${(100 * mean).toFixed(0)} ± ${(100 * error).toFixed(0)} (${questions})`
}

const textOf = ({ rows: kinds, workers }: RouterPicture.Standings): string =>
  [
    rows([["kind", ...workers], ...kinds.map(({ cells, name }) => [name, ...cells.map(cellText)])]),
    "Accuracy in percent, ± standard error (questions); * marks the chosen worker."
  ].join("\n")

/** Formats the public benchmark records that the router uses until it has learned from outcomes. */
const recordsText = (): string => {
  const known = Strongest.records.map((record) => {
    const { questions } = record
    const standings = record.workers.map((worker, at) => {
      const mean = record.right[at]! / questions
      return { worker, mean, error: Math.sqrt((mean * (1 - mean)) / questions) }
    })
    return { record, questions, standings: standings.sort((left, right) => right.mean - left.mean) }
  })
  return [
    "Until a table is learned, routing uses the published results below if they cover all workers in the pool, and prices otherwise:",
    "",
    rows([
      ["source", "worker", "correct %", "±"],
      ...known.flatMap(({ record, standings }) =>
        standings.map(({ error, mean, worker }) => [
          record.name,
          worker,
          (100 * mean).toFixed(1),
          (100 * error).toFixed(1)
        ])
      )
    ]),
    "",
    ...known.map(
      ({ questions, record: { date, licence, name, repository } }) =>
        `${name}: ${questions} questions, https://github.com/${repository.replace("@", "/tree/")} (${licence}), read ${date}`
    )
  ].join("\n")
}

const show = (input: LearnInput, promoted: Learned.Promoted | undefined): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const picture = Option.getOrUndefined(input.picture)
    if (promoted === undefined) {
      if (picture !== undefined) return yield* usage("No learned routing table is in use, so there is nothing to draw.")
      stdout.write(input.json ? "null\n" : `No learned routing table is in use yet. ${recordsText()}\n`)
      return
    }
    const { at, table, why } = promoted
    if (picture !== undefined) {
      const drawn = RouterPicture.render("Best workers by kind of question", shown(table))
      yield* Effect.mapError(WholeFile.write(picture, drawn), ({ message }) => failed(message))
    }
    const head = `In use since ${dateOf(at)}, from ${countOf(table.questions)}: ${why}.`
    stdout.write(
      input.json ? `${JSON.stringify({ at, why, ...shown(table) })}\n` : `${clean(head)}\n\n${textOf(shown(table))}\n`
    )
  })

// -------------------------------------------------------------------------------------------------------------------
// Learning
// -------------------------------------------------------------------------------------------------------------------

const refit = (input: LearnInput, file: string) =>
  Effect.gen(function* () {
    const embedder = yield* OwnOutcomes.embedder
    const examples = yield* examplesOf(input, embedder)
    const by = { embedder: embedder.name }
    const fitted = Table.fit(examples, by)
    if (Result.isFailure(fitted)) {
      return yield* nothingRated(examples)
    }
    const old = Learned.current(yield* Learned.read(file))
    // A table from a different embedder cannot route these questions, so the comparison uses the best single worker.
    const before = old?.table.embedder === embedder.name ? old.table : undefined
    const verdict = Replay.compare(examples, before, by)
    const { isPromoted, why } = verdict
    const promoted = { at: yield* Clock.currentTimeMillis, why, table: fitted.success }
    if (isPromoted) yield* Learned.promote(file, promoted)
    if (input.json) {
      stdout.write(`${JSON.stringify({ ...verdict, missing: missing(examples), ...shown(fitted.success) })}\n`)
      return
    }
    const said = isPromoted
      ? "The new table is in use"
      : old === undefined
        ? "The new table is not used"
        : "The current table remains in use"
    const lines = [`Learned from ${countOf(examples.length)}. ${said}: ${why}.`, ...missing(examples)]
    stdout.write(`${lines.map(clean).join("\n")}\n\n${textOf(shown(fitted.success))}\n`)
  })

const revert = (input: LearnInput, file: string) =>
  Effect.gen(function* () {
    const taken = yield* Learned.revert(file)
    if (taken === undefined) return yield* usage("No learned routing table is in use, so there is nothing to revert.")
    const { at, table } = taken
    if (!input.json) stdout.write(`Reverted the table learned on ${dateOf(at)} from ${countOf(table.questions)}.\n\n`)
    yield* show(input, Learned.current(yield* Learned.read(file)))
  })

/** Learns a table, shows the current one, or reverts to the previous one. */
export const learn = (input: LearnInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    if (input.show && input.revert) return yield* usage("Use either --show or --revert.")
    if (input.head) {
      yield* NoEffect.besides("head", { show: input.show, revert: input.revert, picture: input.picture })
      return yield* learnHead(input)
    }
    yield* NoEffect.without("head", { embeddings: input.embeddings, evolve: input.evolve, "max-cost": input.maxCost })
    if (input.show) yield* NoEffect.besides("show", { from: input.from })
    if (input.revert) yield* NoEffect.besides("revert", { from: input.from })
    const file = yield* Learned.defaultFile
    if (input.revert) return yield* revert(input, file)
    if (!input.show) {
      yield* refit(input, file)
      if (Option.isNone(input.picture)) return
    }
    if (input.show || Option.isSome(input.picture)) yield* show(input, Learned.current(yield* Learned.read(file)))
  }).pipe(
    Effect.scoped,
    Effect.mapError((error) =>
      error._tag === "Failure" ? error : error._tag === "OutcomesError" ? usage(error.message) : failed(error.message)
    )
  )
