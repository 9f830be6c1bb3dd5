/**
 * Renders a run for a terminal, based on its transcript, the width and the time. The live view is limited to the
 * screen; the final view is complete.
 */

import type { Transcript, Workflow } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as Format from "./Format.ts"
import { blank, cut, fit, type Line, line, oneLine, type Span, span, toText, widthOf, wrap } from "./Line.ts"
import * as Records from "./Records.ts"
import * as StepGraph from "./StepGraph.ts"
import * as Totals from "./Totals.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The parameters of a view. */
export interface Screen {
  /** Number of columns. */
  readonly width: number
  /** Number of rows. Lines that exceed it are omitted. Default: unlimited. */
  readonly height?: number | undefined
  /** Current time in milliseconds since 1970, on the same clock as the events. */
  readonly now: number
}

/**
 * Level of detail for each step: 0 shows one line, 1 adds its subtask, 2 adds its answer, and 3 shows as much as fits.
 */
type Detail = 0 | 1 | 2 | 3

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

const tookFacts = (durationMillis: number | undefined): ReadonlyArray<string> =>
  durationMillis === undefined ? [] : [Format.duration(durationMillis)]

const costFacts = (costUsd: number | undefined, isPlay: boolean): ReadonlyArray<string> =>
  costUsd === undefined ? [] : [Format.cost(costUsd, isPlay)]

const answerFacts = (step: Transcript.StepRecord, isPlay: boolean): ReadonlyArray<string> => {
  if (step.unfolded !== undefined) return [Records.itemsOf(step), ...tookFacts(step.durationMillis)]
  const paid = Records.paidFor(step)
  return [
    ...tookFacts(step.durationMillis),
    ...(paid === undefined ? [] : [Format.count(paid.usage.inputTokens + paid.usage.outputTokens, "token")]),
    ...costFacts(paid?.costUsd, isPlay),
    ...Records.sourceOf(step)
  ]
}

const runningFacts = (step: Transcript.StepRecord, now: number): ReadonlyArray<Span> => {
  const setback = Records.itemsOf(step) || oneLine(Records.setback(step))
  const sign = spinner[Math.floor(now / 80) % spinner.length]
  const elapsed = Math.max(0, now - (step.startedAt ?? now))
  return [span(`${sign} ${Format.duration(elapsed)}`, "busy"), span(setback === "" ? "" : ` · ${setback}`, "dim")]
}

const stoppedFacts = ({ lost }: Transcript.StepRecord, isPlay: boolean): ReadonlyArray<Span> => [
  span("■ stopped", "busy"),
  ...costFacts(lost.at(-1)?.costUsd, isPlay).map((cost) => span(` · ${cost}`, "dim"))
]

const callFacts = ({ lost }: Transcript.StepRecord): ReadonlyArray<string> =>
  lost.length < 2 ? [] : [Format.count(lost.length, "call")]

const isRefusal = ({ finishReason }: Transcript.StepRecord): boolean => finishReason === "refusal"

/** `now` is undefined once the run has ended, since unfinished calls will never finish then. */
const facts = (step: Transcript.StepRecord, isPlay: boolean, now: number | undefined): ReadonlyArray<Span> => {
  switch (step.state) {
    case "waiting":
      return [span(now === undefined ? "– not run" : "· waiting", "dim")]
    case "running":
      if (Records.isStopped(step)) return stoppedFacts(step, isPlay)
      return now === undefined ? [span("■ stopped", "busy")] : runningFacts(step, now)
    case "suspended":
      return [span(`◦ waits for ${(step.waitingFor ?? []).map(({ call }) => oneLine(call.name)).join(", ")}`, "busy")]
    case "answered":
      return [
        ...(isRefusal(step) ? [span("✗ declined · ", "bad")] : [span("✓ ", "good")]),
        span(answerFacts(step, isPlay).join(" · "), "dim")
      ]
    case "failed":
      return [
        span("✗ ", "bad"),
        span(["failed", ...callFacts(step), ...tookFacts(step.durationMillis)].join(" · "), "bad")
      ]
    case "skipped":
      return [span(`– skipped: ${Records.skipReason(step)}`, "dim")]
  }
}

const lastLine = (text: string): string => oneLine(text.trimEnd().split("\n").at(-1) ?? "")

/** Returns the first lines of a text, at most `count`, with a sign before the first line. */
const excerpt = (
  sign: string,
  text: string,
  width: number,
  count: number,
  style: Span["style"]
): ReadonlyArray<Line> => {
  const indent = widthOf(sign)
  const lines = wrap(text, width - indent, count)
  const kept = lines.slice(0, count)
  const shown = lines.length > count ? kept.with(-1, cut(`${kept.at(-1)} …`, width - indent)) : kept
  return shown.map((text, index) => [span(index === 0 ? sign : " ".repeat(indent), "dim"), span(text, style)])
}

/** Formats a tool call as one line. */
const toolLine = (step: Transcript.StepRecord, tool: Transcript.ToolRecord, width: number): Line => {
  if (tool.endedAt === undefined) {
    const isWaiting = step.waitingFor?.some(({ call }) => call.id === tool.call.id) === true
    const sign = span(isWaiting ? "◦ " : "… ", "busy")
    const progress = Records.toolProgress(tool)
    if (progress === "") return [sign, span(Records.toolCall(tool), "dim")]
    const [call, shown] = Records.fitting(tool, progress, width - widthOf("… : "))
    return [sign, span(`${call}: `, "dim"), span(shown, "dim")]
  }
  const isError = tool.isError === true
  const [call, result] = Records.toolTexts(tool, width - widthOf("✓  → "))
  return [
    span(isError ? "✗ " : "✓ ", isError ? "bad" : "good"),
    span(`${call} → `, "dim"),
    span(result, isError ? "bad" : "dim")
  ]
}

/** Maximum number of tools to show for each level of detail. The most recent ones are shown. */
const mostTools = { 0: 0, 1: 1, 2: 3, 3: Number.POSITIVE_INFINITY } as const

const tools = (step: Transcript.StepRecord, width: number, detail: Detail): ReadonlyArray<Line> => {
  const asked = (step.turns ?? []).flatMap((turn) => turn.tools)
  return asked.slice(Math.max(0, asked.length - mostTools[detail])).map((tool) => toolLine(step, tool, width))
}

/** Returns the results of the checks on a step's answers. */
const checks = ({ checks = [] }: Transcript.StepRecord, width: number): ReadonlyArray<Line> =>
  checks.map((check) => [
    span(check.passed ? "✓ " : "✗ ", check.passed ? "good" : "bad"),
    span(cut(oneLine(Records.checked(check)), width - 2), "dim")
  ])

/** Returns the lines below a step's own line. */
const stepDetail = (
  step: Transcript.StepRecord,
  subtask: string,
  width: number,
  now: number | undefined,
  detail: Detail
): ReadonlyArray<Line> => {
  const most = detail === 3 ? 6 : 1
  const isWriting = step.state === "running" && !Records.isStopped(step) && Records.written(step) !== ""
  return [
    ...(detail >= 1 && subtask !== "" ? excerpt("", subtask, width, most, "dim") : []),
    ...(detail < 3 ? [] : (step.notices ?? []).map((notice) => line(`note: ${oneLine(notice)}`, "dim"))),
    ...tools(step, width, detail),
    ...(detail === 0 ? [] : checks(step, width)),
    ...(step.nested === undefined ? [] : rounds(step.nested, width, now, detail)),
    ...(detail >= 2 && step.state === "answered" ? excerpt("→ ", step.text, width, most, "plain") : []),
    ...(detail >= 1 && step.state === "failed" ? excerpt("✗ ", step.detail ?? "", width, most, "bad") : []),
    ...(detail >= 2 && isWriting ? [line(cut(`… ${lastLine(Records.written(step))}`, width), "dim")] : [])
  ]
}

/**
 * Returns the steps of a plan with the topology drawn next to them or, if the drawing does not fit, with a list of
 * inputs for each step.
 */
const plan = (
  run: Transcript.Transcript,
  round: Transcript.RoundRecord,
  width: number,
  now: number | undefined,
  detail: Detail
): ReadonlyArray<Line> => {
  const { steps, workflow } = round
  if (workflow === undefined || steps.length === 0) return []
  const graph = StepGraph.make(workflow)
  const drawing = graph.rows[0]!.node.length
  const isDrawn = drawing <= width / 3
  const names = Math.min(Math.max(...steps.map((step) => widthOf(oneLine(step.worker)))), Math.floor(width / 2))
  const digits = String(steps.length - 1).length
  const lines = steps.flatMap((step, index): ReadonlyArray<Line> => {
    const row = graph.rows[index]!
    const { access, subtask } = workflow.steps[index]!
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
      ...facts(step, Records.isPlay(run, step.worker), now)
    ]
    return [
      head,
      ...stepDetail(step, subtask, Math.max(8, width - margin.length - 1), now, detail).map(
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

/** Returns the end of the plan text that the policy has written. */
const writing = (
  { policy }: Transcript.Transcript,
  round: Transcript.RoundRecord,
  width: number,
  lines: number
): ReadonlyArray<Line> => {
  const completion = round.completions.at(-1)
  const attempt = completion?.attempt ?? 0
  const text = completion === undefined ? "" : Records.written(completion)
  const unreadable = Records.unreadable(round)
  return [
    line(`${oneLine(policy)} writes a plan${attempt === 0 ? "" : ` (attempt ${attempt + 1})`} …`, "busy"),
    ...(unreadable === undefined ? [] : [line(oneLine(unreadable), "dim")]),
    ...(text === ""
      ? []
      : wrap(text, width - 2)
          .slice(-lines)
          .map((text) => line(`  ${text}`, "dim")))
  ]
}

/** Returns the names of the failed checks. */
const whyOf = ({ steps }: Transcript.RoundRecord): string => {
  const why = steps.flatMap(({ checks = [], step }) =>
    checks.flatMap(({ objection, passed }) => (passed ? [] : [`step ${step}: ${objection}`]))
  )
  return why.length === 0 ? "" : ` · ${why.at(-1)}`
}

const roundTitle = ({ isOwn, policy = "", round }: Transcript.RoundRecord, workflow: Workflow.Workflow): Line => [
  span(round === 0 ? "Plan" : `Round ${round}`, "bold"),
  span(` by ${oneLine(policy)}: `),
  span(isOwn === true ? Records.ownAnswer : Records.shapeOf(workflow))
]

const roundLines = (
  run: Transcript.Transcript,
  round: Transcript.RoundRecord,
  width: number,
  now: number | undefined,
  detail: Detail
): ReadonlyArray<Line> => {
  const { notes, workflow } = round
  if (workflow === undefined) return run.ending === undefined ? writing(run, round, width, detail * 3) : []
  const isBefore = round.round < run.rounds.length - 1
  const verdict = Records.verdict(round)
  const approval = Records.approval(round)
  return [
    roundTitle(round, workflow),
    ...(approval === undefined ? [] : [line(cut(`  ${approval}`, width), "busy")]),
    ...(detail < 3 ? [] : notes.map((note) => line(`  note: ${oneLine(note)}`, "dim"))),
    ...(detail < 3 && isBefore ? [] : plan(run, round, width, now, detail)),
    ...(round.revisions ?? []).map((revision) =>
      line(cut(oneLine(`${revision.policy} ${Records.revised(revision)}${whyOf(round)}`), width), "busy")
    ),
    ...(verdict === undefined ? [] : [line(oneLine(verdict), "dim")])
  ]
}

const rounds = (
  run: Transcript.Transcript,
  width: number,
  now: number | undefined,
  detail: Detail
): ReadonlyArray<Line> => run.rounds.flatMap((round) => roundLines(run, round, width, now, detail))

// -------------------------------------------------------------------------------------------------------------------
// The whole
// -------------------------------------------------------------------------------------------------------------------

const ending = (run: Transcript.Transcript, width: number): ReadonlyArray<Line> => [
  ...(run.answer === undefined
    ? []
    : [blank, line("Answer", "bold"), ...wrap(run.answer, width).map((text) => line(text))]),
  ...(run.partial === undefined
    ? []
    : [
        blank,
        line(cut(Records.partialOf(run.partial), width), "bold"),
        ...excerpt("", run.partial.text, width, 6, "dim")
      ]),
  blank,
  ...Totals.lines(run).flatMap(({ style, text }) => wrap(text, width).map((text) => line(text, style)))
]

const draw = (run: Transcript.Transcript, screen: Screen, detail: Detail): ReadonlyArray<Line> => {
  const { now, width } = screen
  const most = detail === 3 ? Number.POSITIVE_INFINITY : detail + 1
  const question = wrap(Task.question(run.task), width, most)
  const shown =
    question.length > most ? question.slice(0, most).with(-1, cut(`${question[most - 1]} …`, width)) : question
  const forked = Records.forked(run)
  const lines = [
    ...shown.map((text) => line(text, "bold")),
    ...(forked === undefined || detail === 0 ? [] : wrap(`Fork ${forked}`, width).map((text) => line(text, "dim"))),
    ...(run.reason === undefined || detail === 0
      ? []
      : wrap(`${oneLine(run.policy)}: ${oneLine(run.reason)}`, width).map((text) => line(text, "dim"))),
    ...(detail === 0 ? [] : [blank]),
    ...rounds(run, width, run.ending === undefined ? now : undefined, detail),
    ...(run.ending === undefined ? [line(Totals.running(run, now), "dim")] : ending(run, width))
  ]
  return lines.map((line) => fit(line, width))
}

/**
 * Returns the live view, with as many details as fit the height. If even the shortest view is too long, only its end is
 * shown.
 *
 * **Example**
 *
 * ```ts
 * import { BlockView } from "@divisi/cli"
 * import { Transcript } from "@divisi/core"
 *
 * const run = Transcript.fromEvents([
 *   {
 *     type: "run-started",
 *     version: 1,
 *     runId: "run-1",
 *     at: 0,
 *     task: { id: "task-1", messages: [{ role: "user", content: "Why?" }] },
 *     pool: [{ id: "a" }],
 *     policy: "lexical",
 *     seed: 0
 *   }
 * ])!
 * BlockView.toPlainText(BlockView.live(run, { width: 80, now: 5 })) // => "Why?\n\n5 ms · 0 calls · 0 tokens · $0"
 * ```
 */
export const live = (run: Transcript.Transcript, screen: Screen): ReadonlyArray<Line> => {
  const height = screen.height ?? Number.POSITIVE_INFINITY
  for (const detail of [2, 1, 0] as const) {
    const lines = draw(run, screen, detail)
    if (lines.length <= height) return lines
    if (detail === 0) return [line("…", "dim"), ...lines.slice(lines.length - Math.max(0, height - 1))].slice(0, height)
  }
  return []
}

/** Returns the final view, complete and regardless of its length. */
export const final = (run: Transcript.Transcript, width: number): ReadonlyArray<Line> =>
  draw(run, { width, now: run.startedAt + (run.durationMillis ?? 0) }, 3)

/** Returns the view as plain text. */
export const toPlainText = (lines: ReadonlyArray<Line>): string => lines.map(toText).join("\n")
