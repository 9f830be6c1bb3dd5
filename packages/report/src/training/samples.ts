/** Workflows as they were written, early and late: one of each kind of task, drawn at random. */

import type { Workflow } from "@divisi/core"
import { text } from "@divisi/core/Message"
import * as Hash from "effect/Hash"
import { place } from "../chart/Graph.ts"
import { excerpt, type Html, html, shortened } from "../page/Html.ts"
import { short } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { type Bucket, endsOf } from "./Curves.ts"
import type { CompletionRecord, GroupRecord, RolloutRecord } from "./Training.ts"
import type { Compared } from "./Windows.ts"

/** A completion with its question. */
export interface Sample {
  readonly group: GroupRecord
  readonly completion: CompletionRecord
}

const mostKinds = 24

/** The same for the same rollout, and like a random number from one to the next. */
const draw = ({ group, iteration, kind, rollout }: CompletionRecord): number =>
  Hash.string(`${kind} ${iteration} ${group} ${rollout}`)

/** Draws one completion of a first round for each kind of task, out of a part of the run. */
export const drawn = (rollouts: ReadonlyArray<RolloutRecord>, part: Bucket): ReadonlyMap<string, Sample> => {
  const { from, to } = endsOf(part)
  const groups = new Map<string, GroupRecord>()
  const found = new Map<string, Sample>()
  for (const record of rollouts) {
    if (record.iteration < from || record.iteration > to) continue
    const key = `${record.iteration} ${record.group}`
    if (record.type === "group") {
      groups.set(key, record)
      continue
    }
    const group = groups.get(key)
    if (group === undefined || record.round !== 0) continue
    const before = found.get(record.kind)
    if (before === undefined ? found.size < mostKinds : draw(record) > draw(before.completion)) {
      found.set(record.kind, { group, completion: record })
    }
  }
  return found
}

const boxHeight = 24
const mostLetters = 13

/** Layers run from left to right, so that even five steps are but a few lines high. The last step has its own frame. */
const graph = (workflow: Workflow.Workflow, nameOf: (step: number) => string): Html => {
  const measures = { along: () => 104, across: boxHeight, gapAlong: 26, gapAcross: 8, isSideways: true }
  const { boxes, edges, height, width } = place(workflow, measures)
  const last = boxes.length - 1
  return html`<svg class="graph" width="${width + 2}" height="${height + 2}" viewBox="-1 -1 ${width + 2} ${height + 2}" aria-hidden="true">${edges.map((path) => html`<path class="edge" d="${path}"/>`)}${boxes.map(
    ({ height, width, x, y }, step) =>
      html`<rect class="box${step === last && " last"}" x="${x}" y="${y}" width="${width}" height="${height}" rx="5"/><text text-anchor="middle" x="${x + width / 2}" y="${y + 16}">${shortened(nameOf(step), mostLetters)}</text>`
  )}</svg>`
}

const sees = (access: Workflow.Access): string =>
  access === "all"
    ? "sees all before"
    : access.length === 0
      ? "sees none"
      : `sees ${access.map((step) => step + 1).join(", ")}`

const mostSubtask = 600

const planned = (workflow: Workflow.Workflow, workers: ReadonlyArray<string>): Html => {
  const nameOf = (step: number) => workers[step] ?? `worker ${workflow.steps[step]!.worker}`
  return html`${graph(workflow, nameOf)}
<ol>${workflow.steps.map(
    ({ access, subtask }, step) =>
      html`<li><b>${nameOf(step)}</b>: ${excerpt(subtask, mostSubtask) || "(the question itself)"}${step > 0 && html` <span class="soft">${sees(access)}</span>`}</li>`
  )}</ol>`
}

const mostText = 4_000

const results = {
  unreadable: ["unread", "could not be read"],
  wrong: ["wrong", "wrong"],
  correct: ["right", "right"]
} as const

const verdict = ({ result, reward }: CompletionRecord): Html => {
  const [style, text] = results[result]
  return html`<span class="verdict ${style}">${reward === undefined ? "dropped" : `reward ${short(reward)}`}: ${text}</span>`
}

const paragraph = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : note(excerpt(text, mostSubtask))

const answered = ({ completion: { answer }, group: { reference } }: Sample): Html =>
  html`<p>${answer !== undefined && `Answer: ${excerpt(answer, mostSubtask)}`}${reference !== undefined && html` <span class="soft">(expected: ${excerpt(reference, mostSubtask)})</span>`}</p>`

const card = (when: string, sample: Sample | undefined): Html => {
  if (sample === undefined)
    return html`<article class="sample"><h4>${when}: no task of this kind was sampled</h4></article>`
  const { completion, group } = sample
  const question = text(group.messages.findLast(({ role }) => role === "user"))
  const { workflow } = completion
  return html`<article class="sample"><h4>${when}, iteration ${completion.iteration}</h4>
<p class="question">${excerpt(question, mostText)}</p>
${verdict(completion)}
${workflow !== undefined && workflow.steps.length > 0 && planned(workflow, completion.workers ?? [])}
${paragraph(completion.detail)}
${answered(sample)}
<details><summary>Raw text</summary><pre>${excerpt(completion.completion, mostText)}</pre></details>
</article>`
}

/** The section, or an empty string if no rollouts were recorded. */
export const samples = (rollouts: ReadonlyArray<RolloutRecord>, { early, late }: Compared): Html | undefined => {
  const [first, second] = [drawn(rollouts, early), drawn(rollouts, late)]
  const kinds = [...new Set([...first.keys(), ...second.keys()])].sort()
  if (kinds.length === 0) return undefined
  const pair = (kind: string) =>
    html`<h3>${kind}</h3><div class="pair">${card("Early", first.get(kind))}${card("Late", second.get(kind))}</div>`
  return section("samples", "What it writes", [
    note("For each kind of task, one rollout from the beginning and one from the end, chosen at random."),
    kinds.map(pair)
  ])
}
