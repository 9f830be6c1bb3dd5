/** Who was asked, over time and by kind of task: the paper's figures 3, 7 and 8. */
import type { Curves } from "./Curves.ts"
import { type Html, html } from "./Html.ts"
import type { Compared } from "./Overview.ts"
import * as Shares from "./Shares.ts"
import * as Windows from "./Windows.ts"

const kindsOf = ({ early, late }: Compared): ReadonlyArray<string> =>
  [...new Set([...late.kinds.keys(), ...early.kinds.keys()])].sort()

/** The section. */
export const workers = ({ buckets }: Curves, compared: Compared): Html => {
  const { early, late } = compared
  const named = Shares.nameWorkers([early, late])
  const kinds = kindsOf(compared).map((kind) =>
    Shares.earlyAndLate(
      kind,
      early.kinds.get(kind)?.workers ?? new Map(),
      late.kinds.get(kind)?.workers ?? new Map(),
      named
    )
  )
  return html`
<section><h2>Who is asked</h2>
<p class="note">The share of each worker in the steps of the workflows that could be read. Early: ${Windows.name(early)}; late: ${Windows.name(late)}.</p>
${Shares.key(named, [early, late])}
<div class="charts">
${Shares.overTime("All tasks, over time", buckets, named)}
${Shares.earlyAndLate("All tasks", Windows.workers(early), Windows.workers(late), named)}
${kinds}
</div></section>`
}
