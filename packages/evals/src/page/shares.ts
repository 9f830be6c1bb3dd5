/** What workflows are made of: how many steps, which workers, which shapes. One bar for each policy. */
import { decimal, percent } from "../report/format.ts"
import type { Cell, Report, Share } from "../report/Report.ts"
import { across, figure, row, table } from "./chart.ts"
import { html, type Markup } from "./markup.ts"
import { colours, restColour } from "./style.ts"

interface Subject {
  readonly title: string
  readonly caption: string
  readonly sharesOf: (cell: Cell) => ReadonlyArray<Share>
  readonly valueOf: (cell: Cell) => string
  /** What a part is called, in the legend and in the table. */
  readonly nameOf: (name: string) => string
  /** What stands in the bar for a part, from its name and its place in the legend. */
  readonly markOf: (name: string, place: number) => string
  /** The order of parts; the most frequent first when absent. */
  readonly compare?: (left: string, right: string) => number
}

const steps: Subject = {
  title: "Steps per workflow",
  caption: "How many steps a run carried out. Policies that always take one step are left out.",
  sharesOf: ({ stepCounts }) => stepCounts,
  valueOf: (cell) => `mean ${decimal(cell.steps.mean)}`,
  nameOf: (name) => (name === "1" ? "1 step" : `${name} steps`),
  markOf: (name) => name,
  compare: (left, right) => Number(left) - Number(right)
}

const workers: Subject = {
  title: "Worker shares",
  caption: "Who carried the steps out. Policies that always ask one and the same worker are left out.",
  sharesOf: ({ workers }) => workers,
  valueOf: ({ workers }) => (workers.length === 1 ? "1 worker" : `${workers.length} workers`),
  nameOf: (name) => name,
  markOf: (_, place) => String(place)
}

const shapes: Subject = {
  title: "Shapes",
  caption: "The topology of the workflows. Policies that only ever ask once are left out.",
  sharesOf: ({ shapes }) => shapes,
  valueOf: ({ shapes }) => (shapes.length === 1 ? "1 shape" : `${shapes.length} shapes`),
  nameOf: (name) => name,
  markOf: (_, place) => String(place)
}

/** Names with how much they have in all, in the order in which they are drawn. */
const namesOf = (cells: ReadonlyArray<Cell>, { compare, sharesOf }: Subject): ReadonlyArray<string> => {
  const totals = new Map<string, number>()
  for (const cell of cells) {
    for (const { name, share } of sharesOf(cell)) totals.set(name, (totals.get(name) ?? 0) + share)
  }
  const names = [...totals.keys()]
  return compare === undefined
    ? names.sort((left, right) => totals.get(right)! - totals.get(left)!)
    : names.sort(compare)
}

const colourOf = (names: ReadonlyArray<string>, name: string): string => colours[names.indexOf(name)] ?? restColour

const bar = (cell: Cell, names: ReadonlyArray<string>, { markOf, nameOf, sharesOf }: Subject) => {
  const shares = new Map(sharesOf(cell).map(({ name, share }) => [name, share]))
  let start = 0
  return names.map((name, index) => {
    const share = shares.get(name) ?? 0
    const from = start
    start += share
    if (share === 0) return ""
    const label =
      share >= 0.055
        ? html`<text class="inside" x="${across(from + share / 2)}" y="15" text-anchor="middle">${markOf(name, index + 1)}</text>`
        : ""
    return html`<rect x="${across(from)}" width="${across(share)}" y="2" height="18" fill="${colourOf(names, name)}" stroke="var(--ground)"><title>${nameOf(name)}: ${percent(share)} %</title></rect>${label}`
  })
}

const legend = (names: ReadonlyArray<string>, { markOf, nameOf }: Subject) =>
  html`<ul class="legend">${names.map((name, index) => {
    const mark = markOf(name, index + 1)
    const text = mark === name ? nameOf(name) : `${mark} ${nameOf(name)}`
    return html`<li><i style="background:${colourOf(names, name)}"></i>${text}</li>`
  })}</ul>`

const figures = (title: string, cells: ReadonlyArray<Cell>, names: ReadonlyArray<string>, subject: Subject) =>
  table(title, cells, [
    { head: "policy", cell: ({ policy }) => policy },
    ...names.map((name) => ({
      head: `${subject.nameOf(name)}, %`,
      cell: (cell: Cell) => percent(subject.sharesOf(cell).find((share) => share.name === name)?.share ?? 0)
    }))
  ])

const isPlain = ({ stepCounts, workers }: Cell, subject: Subject): boolean =>
  subject === workersSubject ? workers.length <= 1 : stepCounts.every(({ name }) => name === "1" || name === "0")

const workersSubject = workers

const ofBenchmark = (report: Report, benchmark: string, title: string, subject: Subject): Markup => {
  const cells = report.cells.filter((cell) => cell.benchmark === benchmark && !isPlain(cell, subject))
  if (cells.length === 0) return html`<h3>${title}</h3><p class="soft">All policies are of that kind.</p>`
  const names = namesOf(cells, subject)
  const reference = report.config.policies[0]?.name
  return html`<h3>${title}</h3>${figure({
    caption: legend(names, subject),
    alternative: `${subject.title} on ${title}, for ${cells.length} policies; most frequent: ${names.slice(0, 3).map(subject.nameOf).join(", ")}.`,
    picture: cells.map((cell) =>
      row({
        name: cell.policy,
        value: subject.valueOf(cell),
        strip: bar(cell, names, subject),
        isReference: cell.policy === reference
      })
    ),
    table: figures(`${subject.title} on ${title}`, cells, names, subject)
  })}`
}

const section =
  (id: string, subject: Subject) =>
  (report: Report, more?: Markup): Markup =>
    html`<section id="${id}"><h2>${subject.title}</h2><p class="soft">${subject.caption}</p>${report.benchmarks.map(
      ({ benchmark, title }) => ofBenchmark(report, benchmark, title, subject)
    )}${more}</section>`

export const stepsSection = section("steps", steps)
export const workersSection = section("workers", workers)
export const shapesSection = section("shapes", shapes)
