/** The composition of workflows: the number of steps, the workers, the shapes. One bar for each policy. */
import { bar, row } from "../chart/Rows.ts"
import { figure, legend } from "../page/Figure.ts"
import type { Html } from "../page/Html.ts"
import { counted, decimal, inPercent } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { colourOf } from "../page/Style.ts"
import { table } from "../page/Table.ts"
import type { BenchmarkRecord, Cell, Evaluation, Share } from "./Evaluation.ts"

interface Subject {
  readonly id: string
  readonly title: string
  readonly remark: string
  readonly sharesOf: (cell: Cell) => ReadonlyArray<Share>
  readonly valueOf: (cell: Cell) => string
  /** Whether a policy is left out. */
  readonly isPlain: (cell: Cell) => boolean
  /** Returns the name of a part, for the legend and the table. */
  readonly nameOf: (name: string) => string
  /** Returns the text in the bar for a part, from its name and its position in the legend. */
  readonly markOf: (name: string, place: number) => string | undefined
  /** The order of parts; the most frequent first when absent. */
  readonly compare?: (left: string, right: string) => number
}

const isSingle = ({ stepCounts }: Cell): boolean => stepCounts.every(({ name }) => name === "1" || name === "0")

const steps: Subject = {
  id: "steps",
  title: "Steps per workflow",
  remark: "Number of steps that a run executed. Policies that always use one step are left out.",
  sharesOf: ({ stepCounts }) => stepCounts,
  valueOf: (cell) => `mean ${decimal(cell.steps.mean)}`,
  isPlain: isSingle,
  nameOf: (name) => (name === "1" ? "1 step" : `${name} steps`),
  markOf: (name) => name,
  compare: (left, right) => Number(left) - Number(right)
}

const workers: Subject = {
  id: "workers",
  title: "Worker shares",
  remark: "Workers that executed the steps. Policies that always use the same worker are left out.",
  sharesOf: ({ workers }) => workers,
  valueOf: ({ workers }) => counted(workers.length, "worker"),
  isPlain: ({ workers }) => workers.length <= 1,
  nameOf: (name) => name,
  markOf: (_, place) => String(place)
}

const shapes: Subject = {
  id: "shapes",
  title: "Shapes",
  remark: "The topology of the workflows. Policies that always make one call are left out.",
  sharesOf: ({ shapes }) => shapes,
  valueOf: ({ shapes }) => counted(shapes.length, "shape"),
  isPlain: isSingle,
  nameOf: (name) => name,
  markOf: (_, place) => String(place)
}

/** Names of parts in the order in which they are drawn. */
const namesOf = (cells: ReadonlyArray<Cell>, { compare, sharesOf }: Subject): ReadonlyArray<string> => {
  const totals = new Map<string, number>()
  for (const { name, share } of cells.flatMap(sharesOf)) totals.set(name, (totals.get(name) ?? 0) + share)
  return [...totals.keys()].sort(compare ?? ((left, right) => totals.get(right)! - totals.get(left)!))
}

const shareOf = (cell: Cell, { sharesOf }: Subject, name: string): number =>
  sharesOf(cell).find((one) => one.name === name)?.share ?? 0

const figures = (title: string, cells: ReadonlyArray<Cell>, names: ReadonlyArray<string>, subject: Subject) =>
  table(title, cells, [
    { head: "policy", cell: ({ policy }) => policy },
    ...names.map((name) => ({
      head: `${subject.nameOf(name)}, %`,
      cell: (cell: Cell) => inPercent(shareOf(cell, subject, name))
    }))
  ])

const ofBenchmark = (evaluation: Evaluation, { benchmark, title }: BenchmarkRecord, subject: Subject): Html => {
  const own = evaluation.cells.filter((cell) => cell.benchmark === benchmark)
  const cells = own.filter((cell) => !subject.isPlain(cell) && subject.sharesOf(cell).length > 0)
  if (cells.length === 0) {
    const isEmpty = own.every((cell) => subject.sharesOf(cell).length === 0)
    return note(`${title}: ${isEmpty ? "no run has executed a step" : "all policies are of that kind"}.`)
  }
  const names = namesOf(cells, subject)
  const items = names.map((name, place) => {
    const mark = subject.markOf(name, place + 1)
    return { key: name, name: subject.nameOf(name), colour: colourOf(place), mark }
  })
  const parts = (cell: Cell) =>
    items.map((item) => ({ ...item, share: shareOf(cell, subject, item.key) })).filter(({ share }) => share > 0)
  return figure({
    title,
    legend: legend(items.map((item) => (item.mark === item.key ? { ...item, mark: undefined } : item))),
    alternative: `${subject.title} on ${title}, for ${cells.length} policies; most frequent: ${names.slice(0, 3).map(subject.nameOf).join(", ")}.`,
    picture: cells.map((cell) =>
      row({
        name: cell.policy,
        value: subject.valueOf(cell),
        strip: bar(parts(cell)),
        isReference: cell.policy === evaluation.config.policies[0]?.name
      })
    ),
    table: figures(`${subject.title} on ${title}`, cells, names, subject)
  })
}

const sectionOf =
  (subject: Subject) =>
  (evaluation: Evaluation, more?: Html): Html =>
    section(subject.id, subject.title, [
      note(subject.remark),
      evaluation.benchmarks.map((benchmark) => ofBenchmark(evaluation, benchmark, subject)),
      more
    ])

export const stepsSection = sectionOf(steps)
export const workersSection = sectionOf(workers)
export const shapesSection = sectionOf(shapes)
