/** Workflows side by side: what was written for a kind of task early, and what late. */
import type { Access } from "@divisi/core/Workflow"
import { type Html, html } from "./Html.ts"
import { short } from "./Numbers.ts"
import type { Sample } from "./Samples.ts"
import { workflowGraph } from "./WorkflowGraph.ts"

/** Samples by kind. */
export interface Samples {
  readonly early: ReadonlyMap<string, Sample>
  readonly late: ReadonlyMap<string, Sample>
}

const outcomes = {
  unreadable: ["unread", "could not be read"],
  wrong: ["wrong", "wrong"],
  correct: ["right", "right"]
} as const

const verdict = ({ outcome, reward }: Sample): Html => {
  const [style, text] = outcomes[outcome]
  return html`<span class="reward ${style}">${reward === undefined ? "dropped" : `reward ${short(reward)}`}: ${text}</span>`
}

const sees = (access: Access): string =>
  access === "all"
    ? "sees all before"
    : access.length === 0
      ? "sees none"
      : `sees ${access.map((step) => step + 1).join(", ")}`

const steps = ({ workers, workflow }: Sample): Html | undefined =>
  workflow === undefined || workflow.steps.length === 0
    ? undefined
    : html`<ol>${workflow.steps.map(
        ({ access, subtask, worker }, step) =>
          html`<li><b>${workers[step] ?? `worker ${worker}`}</b>: ${subtask || "(the question itself)"} <span class="sees">${step > 0 && sees(access)}</span></li>`
      )}</ol>`

const card = (when: string, sample: Sample | undefined): Html =>
  sample === undefined
    ? html`<article class="sample"><h4>${when}: no such task was asked</h4></article>`
    : html`
<article class="sample"><h4>${when}, iteration ${sample.iteration}</h4>
<p class="question">${sample.question}</p>
${verdict(sample)}
${sample.workflow !== undefined && workflowGraph(sample.workflow, sample.workers)}
${steps(sample)}
${sample.detail !== undefined && html`<p class="note">${sample.detail}</p>`}
<p>${sample.answer !== undefined && html`Answer: ${sample.answer}`}${
        sample.reference !== undefined && html` <span class="sees">(${"expected: "}${sample.reference})</span>`
      }</p>
<details><summary>As it was written</summary><pre>${sample.completion}</pre></details>
</article>`

/** The section; nothing where no rollouts were recorded. */
export const samples = ({ early, late }: Samples): Html | undefined => {
  const kinds = [...new Set([...early.keys(), ...late.keys()])].sort()
  if (kinds.length === 0) return undefined
  return html`
<section><h2>What it writes</h2>
<p class="note">One rollout of each kind of task from the beginning and one from the end, drawn at random among all of them, good or bad.</p>
${kinds.map(
  (kind) =>
    html`<h3>${kind}</h3><div class="pair">${card("Early", early.get(kind))}${card("Late", late.get(kind))}</div>`
)}
</section>`
}
