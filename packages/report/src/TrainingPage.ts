/**
 * The page of a training run: what was learned, by whom the work was done, and what was written.
 *
 * It is one HTML file that asks for nothing else, in print, on a phone, by day and by night. Under each picture stand its
 * figures. What models wrote is shown, never run: the page allows no scripts at all.
 */
import { page } from "./page/Page.ts"
import * as Curves from "./training/Curves.ts"
import { learning, optimiser } from "./training/charts.ts"
import { overview, settings } from "./training/overview.ts"
import { samples } from "./training/samples.ts"
import type { Metrics, Training } from "./training/Training.ts"
import * as Windows from "./training/Windows.ts"
import { workers } from "./training/workers.ts"

export type * from "./training/Training.ts"

/**
 * The iterations whose rollouts the page draws its samples from: some of the beginning, and some of the end. A run of any
 * length has sixteen of them at most.
 */
export const sampled = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<number> => {
  const compared = Windows.make(Curves.make(metrics))
  return compared === undefined
    ? []
    : [...new Set([...Windows.sampled(compared.early), ...Windows.sampled(compared.late)])]
}

/**
 * The page, as the text of an HTML file.
 *
 * **Details**
 *
 * The same training gives the same text. Its length does not grow with the run: neighbouring iterations of a long one are
 * drawn together.
 */
export const render = ({ config, metrics, rollouts = [] }: Training): string => {
  const curves = Curves.make(metrics)
  const compared = Windows.make(curves)
  return page(`${config.name}: training report`, overview(config, curves, compared), [
    learning(curves),
    compared && workers(curves, compared),
    compared && samples(rollouts, compared),
    optimiser(curves),
    settings(config)
  ])
}
