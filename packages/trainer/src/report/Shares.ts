/** Who works: the shares of the workers in the steps of workflows. Each worker has one colour on the whole page. */
import { type Bucket, regroup } from "./Curves.ts"
import { type Html, html } from "./Html.ts"
import { legend } from "./Legend.ts"
import { axes, picture, scales } from "./LineChart.ts"
import { percent, place } from "./Numbers.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"
import * as Windows from "./Windows.ts"

// -------------------------------------------------------------------------------------------------------------------
// Colours
// -------------------------------------------------------------------------------------------------------------------

/** The workers with a colour of their own, most used first. */
export type Named = ReadonlyArray<string>

const shareOf = (workers: ReadonlyMap<string, number>, id: string): number => {
  const all = [...workers.values()].reduce((sum, steps) => sum + steps, 0)
  return all === 0 ? 0 : (workers.get(id) ?? 0) / all
}

/** Names those workers that do most of some kind of task, at the beginning or at the end. */
export const nameWorkers = (windows: ReadonlyArray<Windows.Window>): Named => {
  const all = windows.flatMap((window) => [...window.kinds.values()].map(({ workers }) => workers))
  const ids = [...new Set(all.flatMap((workers) => [...workers.keys()]))]
  const most = new Map(ids.map((id) => [id, Math.max(...all.map((workers) => shareOf(workers, id)))]))
  return ids
    .sort((left, right) => most.get(right)! - most.get(left)! || (left < right ? -1 : 1))
    .slice(0, Style.colours)
}

interface Share {
  readonly name: string
  readonly colour: number
  readonly share: number
}

/** The shares of the named workers, and of all others together. */
const sharesOf = (workers: ReadonlyMap<string, number>, named: Named): ReadonlyArray<Share> => {
  const known = named.map((name, colour) => ({ name, colour, share: shareOf(workers, name) }))
  const rest = [...workers.keys()].filter((id) => !named.includes(id))
  const share = rest.reduce((sum, id) => sum + shareOf(workers, id), 0)
  return rest.length === 0 ? known : [...known, { name: "all others", colour: Style.rest, share }]
}

/** The colours of the workers. */
export const key = (named: Named, windows: ReadonlyArray<Windows.Window>): Html => {
  const hasOthers = windows.some((window) => Windows.workers(window).size > named.length)
  const items = named.map((name, colour) => ({ name, colour }))
  return legend(hasOthers ? [...items, { name: "all others", colour: Style.rest }] : items)
}

// -------------------------------------------------------------------------------------------------------------------
// Over time
// -------------------------------------------------------------------------------------------------------------------

const mostColumns = 40

interface Column {
  readonly at: number
  readonly shares: ReadonlyArray<Share>
  /** Where each share ends, from the bottom. */
  readonly ends: ReadonlyArray<number>
}

const columnsOf = (buckets: ReadonlyArray<Bucket>, named: Named): ReadonlyArray<Column> =>
  regroup(buckets, mostColumns).flatMap((bucket) => {
    const workers = Windows.workers(bucket)
    if (workers.size === 0) return []
    const known = sharesOf(workers, named)
    const shares =
      known.length > named.length ? known : [...known, { name: "all others", colour: Style.rest, share: 0 }]
    let end = 0
    const ends = shares.map(({ share }) => {
      end += share
      return end
    })
    return [{ at: (bucket.from + bucket.to) / 2, shares, ends }]
  })

/** The stacked shares of the workers over the iterations; nothing when there is but one moment. */
const stacked = (title: string, columns: ReadonlyArray<Column>): Html | undefined => {
  if (columns.length < 2) return undefined
  const { x, y } = scales(
    columns.map(({ at }) => at),
    [0, 1]
  )
  const layer = ({ colour, name }: Share, index: number): Html => {
    const upper = columns.map(({ at, ends }) => `${place(x.at(at))},${place(y.at(ends[index]!))}`)
    const lower = columns.map(({ at, ends }) => `${place(x.at(at))},${place(y.at(index === 0 ? 0 : ends[index - 1]!))}`)
    const corners = [...upper, ...lower.reverse()].join(" ")
    return html`<polygon class="c${colour} area" points="${corners}"><title>${name}</title></polygon>`
  }
  return picture(title, html`${columns[0]!.shares.map(layer)}${axes(x, y, percent)}`)
}

/** The shares of the workers over the iterations, with their numbers. */
export const overTime = (title: string, buckets: ReadonlyArray<Bucket>, named: Named): Html | undefined => {
  const learned = buckets.filter(({ isGrpo }) => isGrpo)
  const columns = columnsOf(learned, named)
  const drawn = stacked(title, columns)
  if (drawn === undefined) return undefined
  const rows = Table.spread(columns, 8).map(({ at, shares }) => [
    String(Math.round(at)),
    ...shares.map(({ share }) => percent(share))
  ])
  return html`
<figure>
<figcaption><h3>${title}</h3></figcaption>
${drawn}
${Table.folded({ caption: title, columns: ["iteration", ...columns[0]!.shares.map(({ name }) => name)], rows })}
</figure>`
}

// -------------------------------------------------------------------------------------------------------------------
// Early against late
// -------------------------------------------------------------------------------------------------------------------

/** Less than this cannot be seen. */
const leastShare = 0.004

const spoken = (shares: ReadonlyArray<Pick<Share, "name" | "share">>): string =>
  shares.map(({ name, share }) => `${name} ${percent(share)}`).join(", ")

const bar = (label: string, workers: ReadonlyMap<string, number>, named: Named): Html => {
  const shares = sharesOf(workers, named).filter(({ share }) => share >= leastShare)
  return html`
<span>${label}</span>
<div class="bar" role="img" aria-label="${label}: ${spoken(shares) || "no steps"}">${shares.map(
    ({ colour, name, share }) =>
      html`<span class="b${colour}" style="flex:${share.toFixed(4)} 1 0" title="${name} ${percent(share)}"></span>`
  )}</div>`
}

const sorted = (workers: ReadonlyMap<string, number>) =>
  [...workers.keys()]
    .map((name) => ({ name, share: shareOf(workers, name) }))
    .sort((left, right) => right.share - left.share)

const everyWorker = (early: ReadonlyMap<string, number>, late: ReadonlyMap<string, number>): Table.Table["rows"] =>
  [...new Set([...sorted(late), ...sorted(early)].map(({ name }) => name))].map((id) => [
    id,
    percent(shareOf(early, id)),
    percent(shareOf(late, id))
  ])

/** The shares at the beginning and at the end, one above the other, with who does most in words. */
export const earlyAndLate = (
  title: string,
  early: ReadonlyMap<string, number>,
  late: ReadonlyMap<string, number>,
  named: Named
): Html => html`
<figure>
<figcaption><h3>${title}</h3></figcaption>
<div class="shares">${bar("early", early, named)}${bar("late", late, named)}</div>
<p class="note">Late, most: ${spoken(sorted(late).slice(0, 3)) || "nobody"}.</p>
${Table.folded({
  caption: `Steps given to each worker: ${title}`,
  columns: ["worker", "early", "late"],
  rows: everyWorker(early, late)
})}
</figure>`
