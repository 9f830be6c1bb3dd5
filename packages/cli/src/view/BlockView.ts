/**
 * The view of a run for a terminal: `(state, width, now) => lines`. The live one fits the screen and leaves out what
 * does not; the final one holds everything.
 */
import * as Topology from "@divisi/core/Topology"
import * as Format from "./Format.ts"
import { blank, cut, fit, type Line, line, oneLine, type Span, span, toText, widthOf, wrap } from "./Line.ts"
import type { RoundView, RunView, StepView } from "./RunView.ts"
import * as StepGraph from "./StepGraph.ts"
import * as Totals from "./Totals.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The screen at one moment. */
export interface Screen {
  /** Columns. */
  readonly width: number
  /** Rows; lines beyond are left out. As many as it takes when absent. */
  readonly height?: number
  /** The time in milliseconds since 1970, on the clock of the events. */
  readonly now: number
}

/** How much is said of each step: one line; its subtask, too; its answer, too; or as much as there is room for. */
type Detail = 0 | 1 | 2 | 3

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

/** A plan in a few words: `3 steps, best-of-n, 2 at once`. */
export const shapeOf = (round: RoundView): string => {
  const { workflow } = round
  if (workflow === undefined || workflow.steps.length === 0) return "no steps: the answer stands"
  const topology = Topology.make(workflow)
  const atOnce = Topology.width(topology)
  const shape = Topology.shape(topology)
  return [
    Format.count(workflow.steps.length, "step"),
    ...(shape === "single" ? [] : [shape]),
    ...(atOnce > 1 ? [`${atOnce} at once`] : [])
  ].join(", ")
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

const paidFacts = (step: StepView): ReadonlyArray<string> => [
  ...(step.durationMillis === undefined ? [] : [Format.duration(step.durationMillis)]),
  ...(step.usage === undefined ? [] : [Format.count(step.usage.inputTokens + step.usage.outputTokens, "token")]),
  ...(step.costUsd === undefined ? [] : [Format.cost(step.costUsd)]),
  ...(step.cached ? ["cached"] : [])
]

/** `now` is absent once the run has ended: what has not ended by then never will. */
const facts = (step: StepView, now: number | undefined): ReadonlyArray<Span> => {
  const message = step.message === undefined ? "" : oneLine(step.message)
  switch (step.state) {
    case "waiting":
      return [span(now === undefined ? "– not run" : "· waiting", "dim")]
    case "running": {
      if (now === undefined) return [span("■ stopped", "busy")]
      const elapsed = Math.max(0, now - (step.startedAt ?? now))
      const sign = spinner[Math.floor(now / 80) % spinner.length]
      return [span(`${sign} ${Format.duration(elapsed)}`, "busy"), span(message === "" ? "" : ` · ${message}`, "dim")]
    }
    case "done":
      return [span("✓ ", "good"), span(paidFacts(step).join(" · "), "dim")]
    case "failed":
      return [span("✗ ", "bad"), span(["failed", ...paidFacts(step)].join(" · "), "bad")]
    case "skipped":
      return [span(`– skipped: ${message}`, "dim")]
    case "stopped":
      return [
        span("■ stopped", "busy"),
        span(
          paidFacts(step)
            .map((fact) => ` · ${fact}`)
            .join(""),
          "dim"
        )
      ]
  }
}

const lastLine = (text: string): string => oneLine(text.trimEnd().split("\n").at(-1) ?? "")

/** The lines of a text with a sign before the first, at most `count` of them. */
const excerpt = (
  sign: string,
  text: string,
  width: number,
  count: number,
  style: Span["style"]
): ReadonlyArray<Line> => {
  const indent = widthOf(sign)
  const lines = wrap(text, width - indent)
  const kept = lines.slice(0, count)
  const shown = lines.length > count ? kept.with(-1, cut(`${kept.at(-1)} …`, width - indent)) : kept
  return shown.map((text, index) => [span(index === 0 ? sign : " ".repeat(indent), "dim"), span(text, style)])
}

/** What stands under a step's own line. */
const stepDetail = (step: StepView, width: number, now: number | undefined, detail: Detail): ReadonlyArray<Line> => {
  const most = detail === 3 ? 6 : 1
  return [
    ...(detail >= 1 && step.subtask !== "" ? excerpt("", step.subtask, width, most, "dim") : []),
    ...(step.nested === undefined ? [] : rounds(step.nested, width, now, detail)),
    ...(detail >= 2 && step.answer !== undefined ? excerpt("→ ", step.answer, width, most, "plain") : []),
    ...(detail >= 1 && step.state === "failed" ? excerpt("✗ ", step.message ?? "", width, most, "bad") : []),
    ...(detail >= 2 && step.state === "running" && step.streamed !== ""
      ? [line(cut(`… ${lastLine(step.streamed)}`, width), "dim")]
      : [])
  ]
}

/** The steps of a plan with its topology drawn beside them; where there is no room for that, with what each sees. */
const plan = (round: RoundView, width: number, now: number | undefined, detail: Detail): ReadonlyArray<Line> => {
  const { steps, workflow } = round
  if (workflow === undefined || steps.length === 0) return []
  const graph = StepGraph.make(workflow)
  const drawing = graph.rows[0]!.node.length
  const isDrawn = drawing <= width / 3
  const names = Math.min(Math.max(...steps.map((step) => widthOf(oneLine(step.worker)))), Math.floor(width / 2))
  const digits = String(steps.length - 1).length
  const lines = steps.flatMap((step, index): ReadonlyArray<Line> => {
    const row = graph.rows[index]!
    const access = workflow.steps[index]!.access
    const isAll = access === "all" || (access.length > 0 && access.length === index)
    const sees = isDrawn || access.length === 0 ? "" : `sees ${isAll ? "all" : access.join(", ")} · `
    const name = cut(oneLine(step.worker), names)
    const margin = isDrawn ? `${row.below}   ` : "  "
    const head: Line = [
      ...(isDrawn ? [span(`${row.node}  `)] : []),
      span(`${String(index).padStart(digits)} `, "dim"),
      span(name, "name"),
      span(" ".repeat(names - widthOf(name) + 1)),
      span(sees, "dim"),
      ...facts(step, now)
    ]
    return [
      head,
      ...stepDetail(step, Math.max(8, width - margin.length - 1), now, detail).map(
        (line): Line => [span(`${margin} `), ...line]
      )
    ]
  })
  const vote = graph.vote
  return vote === undefined ? lines : [...lines, [span(isDrawn ? `${vote.node}  ` : ""), span("majority vote", "dim")]]
}

// -------------------------------------------------------------------------------------------------------------------
// Rounds
// -------------------------------------------------------------------------------------------------------------------

/** The end of what the policy has written of its plan so far. */
const writing = (round: RoundView, width: number, lines: number): ReadonlyArray<Line> => [
  line(`${round.policy} writes a plan${round.attempt === 0 ? "" : ` (attempt ${round.attempt + 1})`} …`, "busy"),
  ...(round.unreadable === undefined ? [] : [line(oneLine(round.unreadable), "dim")]),
  ...(round.completion === ""
    ? []
    : wrap(round.completion, width - 2)
        .slice(-lines)
        .map((text) => line(`  ${text}`, "dim")))
]

const roundTitle = (round: RoundView, index: number): Line => [
  span(index === 0 ? "Plan" : `Round ${index + 1}`, "bold"),
  span(` by ${oneLine(round.policy)}: `),
  span(round.confirmed ? "the answer stands" : shapeOf(round))
]

const rounds = (view: RunView, width: number, now: number | undefined, detail: Detail): ReadonlyArray<Line> =>
  view.rounds.flatMap((round, index) => {
    if (round.workflow === undefined) return view.outcome === undefined ? writing(round, width, detail * 3) : []
    return [
      roundTitle(round, index),
      ...(detail < 3 ? [] : round.notes.map((note) => line(`  note: ${oneLine(note)}`, "dim"))),
      ...(detail < 3 && index < view.rounds.length - 1 ? [] : plan(round, width, now, detail)),
      ...(round.verdict === undefined ? [] : [line(oneLine(round.verdict), "dim")])
    ]
  })

// -------------------------------------------------------------------------------------------------------------------
// The whole
// -------------------------------------------------------------------------------------------------------------------

const ending = (view: RunView, width: number): ReadonlyArray<Line> => [
  ...(view.answer === undefined
    ? []
    : [blank, line("Answer", "bold"), ...wrap(view.answer, width).map((text) => line(text))]),
  blank,
  ...Totals.lines(view).flatMap(({ style, text }) => wrap(text, width).map((text) => line(text, style)))
]

const draw = (view: RunView, screen: Screen, detail: Detail): ReadonlyArray<Line> => {
  const { now, width } = screen
  const question = wrap(view.question, width)
  const most = detail === 3 ? question.length : detail + 1
  const shown =
    question.length > most ? question.slice(0, most).with(-1, cut(`${question[most - 1]} …`, width)) : question
  const lines = [
    ...shown.map((text) => line(text, "bold")),
    ...(detail === 0 ? [] : [blank]),
    ...rounds(view, width, view.outcome === undefined ? now : undefined, detail),
    ...(view.outcome === undefined ? [line(Totals.running(view, now), "dim")] : ending(view, width))
  ]
  return lines.map((line) => fit(line, width))
}

/**
 * The view as it changes: of the details as much as fits the height, and where even the least is too much, its end.
 */
export const live = (view: RunView, screen: Screen): ReadonlyArray<Line> => {
  const height = screen.height ?? Number.POSITIVE_INFINITY
  for (const detail of [2, 1, 0] as const) {
    const lines = draw(view, screen, detail)
    if (lines.length <= height) return lines
    if (detail === 0) return [line("…", "dim"), ...lines.slice(lines.length - Math.max(0, height - 1))].slice(0, height)
  }
  return []
}

/** The view that stays: everything, however long. */
export const final = (view: RunView, width: number): ReadonlyArray<Line> =>
  draw(view, { width, now: view.startedAt + (view.durationMillis ?? 0) }, 3)

/** The view as plain text. */
export const toPlainText = (lines: ReadonlyArray<Line>): string => lines.map(toText).join("\n")
