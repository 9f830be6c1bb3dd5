/** The calls of each worker, over time and by kind of task. Each worker has one colour on the whole page. */
import { svg } from "../chart/Axes.ts"
import { areas, standardHeight } from "../chart/Lines.ts"
import { bar, row } from "../chart/Rows.ts"
import { figure, legend } from "../page/Figure.ts"
import { type Html, html } from "../page/Html.ts"
import { percent } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { colours, rest } from "../page/Style.ts"
import { spread, table } from "../page/Table.ts"
import { buckets, endsOf, kinds, learned, middle, workers } from "./Curves.ts"
import type { Metrics } from "./Training.ts"
import * as Windows from "./Windows.ts"

/** Steps given to each worker. */
type Steps = ReadonlyMap<string, number>

const shareOf = (steps: Steps, id: string): number => {
  const all = [...steps.values()].reduce((sum, count) => sum + count, 0)
  return all === 0 ? 0 : (steps.get(id) ?? 0) / all
}

/** The workers with a colour of their own: those that do most of some kind of task, early or late. */
const namedIn = ({ early, late }: Windows.Compared): ReadonlyArray<string> => {
  const all = [early, late].flatMap((part) => [...kinds(part).values()].map(({ workers }) => workers))
  const ids = [...new Set(all.flatMap((workers) => [...workers.keys()]))]
  const most = new Map(ids.map((id) => [id, Math.max(...all.map((workers) => shareOf(workers, id)))]))
  return ids.sort((one, other) => most.get(other)! - most.get(one)! || (one < other ? -1 : 1)).slice(0, colours)
}

/** Returns the layers to draw: the named workers, and a layer for all others if there are any. */
const layersOf = (named: ReadonlyArray<string>, compared: Windows.Compared) => {
  const hasOthers = [compared.early, compared.late].some((part) =>
    [...workers(part).keys()].some((id) => !named.includes(id))
  )
  const layers = named.map((name, colour) => ({ name, colour }))
  return hasOthers ? [...layers, { name: "all others", colour: rest }] : layers
}

type Layers = ReturnType<typeof layersOf>

const sharesOf = (steps: Steps, layers: Layers): ReadonlyArray<number> => {
  const named = new Set(layers.flatMap(({ colour, name }) => (colour === rest ? [] : name)))
  const others = [...steps.keys()].filter((id) => !named.has(id)).reduce((sum, id) => sum + shareOf(steps, id), 0)
  return layers.map(({ colour, name }) => (colour === rest ? others : shareOf(steps, name)))
}

const mostColumns = 40
const mostRows = 8

/** The shares over the iterations; nothing when there is but one moment. */
const overTime = (title: string, metrics: ReadonlyArray<Metrics>, layers: Layers): Html | undefined => {
  const columns = buckets(learned(metrics), mostColumns).flatMap((part) => {
    const steps = workers(part)
    return steps.size === 0 ? [] : [{ x: middle(part), shares: sharesOf(steps, layers) }]
  })
  if (columns.length < 2) return undefined
  return figure({
    title,
    alternative: `${title}: the share of each worker, stacked.`,
    picture: svg(standardHeight, areas(columns, layers, percent)),
    table: table(title, spread(columns, mostRows), [
      { head: "iteration", cell: ({ x }) => Math.round(x) },
      ...layers.map(({ name }, index) => ({
        head: name,
        cell: ({ shares }: (typeof columns)[number]) => percent(shares[index]!)
      }))
    ])
  })
}

/** Less than this cannot be seen. */
const leastShare = 0.004

const sorted = (steps: Steps) =>
  [...steps.keys()].map((id) => ({ id, share: shareOf(steps, id) })).sort((one, other) => other.share - one.share)

const spoken = (steps: Steps): string =>
  sorted(steps)
    .slice(0, 3)
    .map(({ id, share }) => `${id} ${percent(share)}`)
    .join(", ") || "nobody"

/** The shares at the beginning and at the end, one above the other, with who does most in words. */
const earlyAndLate = (title: string, early: Steps, late: Steps, layers: Layers): Html => {
  const strip = (name: string, steps: Steps) => {
    const shares = sharesOf(steps, layers)
    const parts = layers.map((layer, index) => ({ ...layer, share: shares[index]! }))
    return row({ name, strip: bar(parts.filter(({ share }) => share >= leastShare)) })
  }
  const everyone = [...new Set([...sorted(late), ...sorted(early)].map(({ id }) => id))]
  return figure({
    title,
    alternative: `${title}. Early, most: ${spoken(early)}. Late, most: ${spoken(late)}.`,
    picture: [strip("early", early), strip("late", late)],
    below: note(`Late, most: ${spoken(late)}.`),
    table: table(`Steps assigned to each worker: ${title}`, everyone, [
      { head: "worker", cell: (id) => id },
      { head: "early", cell: (id) => percent(shareOf(early, id)) },
      { head: "late", cell: (id) => percent(shareOf(late, id)) }
    ])
  })
}

/** The section: the paper's figures 3, 7 and 8. */
export const workerSection = (metrics: ReadonlyArray<Metrics>, compared: Windows.Compared): Html => {
  const { early, late } = compared
  const [before, after] = [kinds(early), kinds(late)]
  const layers = layersOf(namedIn(compared), compared)
  const names = [...new Set([...after.keys(), ...before.keys()])].sort()
  const none: Steps = new Map()
  return section("workers", "Who is asked", [
    note(
      `The share of each worker in the steps of readable workflows. Early: ${Windows.name(endsOf(early))}; late: ${Windows.name(endsOf(late))}.`
    ),
    legend(layers),
    html`<div class="charts">
${overTime("All tasks, over time", metrics, layers)}
${earlyAndLate("All tasks", workers(early), workers(late), layers)}
${names.map((kind) => earlyAndLate(kind, before.get(kind)?.workers ?? none, after.get(kind)?.workers ?? none, layers))}
</div>`
  ])
}
