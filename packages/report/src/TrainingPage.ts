/**
 * The page of a training run: what was learned, by whom the work was done, and what was written.
 *
 * It is one HTML file that needs no other, for print, phones, and a light and a dark theme. Under each picture are its
 * figures. Texts of models are shown, never run: the page allows no scripts at all.
 */
import { page } from "./page/Page.ts"
import { once } from "./training/Curves.ts"
import { learning, optimiser } from "./training/charts.ts"
import { overview, settings } from "./training/overview.ts"
import { samples } from "./training/samples.ts"
import type { Metrics, Training } from "./training/Training.ts"
import * as Windows from "./training/Windows.ts"
import { workerSection } from "./training/workers.ts"

export type * from "./training/Training.ts"

/**
 * The iterations from which the page samples rollouts: some from the beginning, and some from the end. A run of
 * any length has sixteen of them at most.
 */
export const sampled = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<number> => {
  const compared = Windows.make(metrics)
  return compared === undefined
    ? []
    : [...new Set([...Windows.sampled(compared.early), ...Windows.sampled(compared.late)])]
}

/**
 * Returns the page as the text of an HTML file.
 *
 * **Details**
 *
 * The same training gives the same text. Its length does not grow with the run: neighboring iterations of a long run
 * are combined.
 */
export const render = ({ config, metrics, rollouts = [] }: Training): string => {
  const done = once(metrics)
  const compared = Windows.make(done)
  return page(`${config.name}: training report`, overview(config, done, compared), [
    learning(done),
    compared && workerSection(done, compared),
    compared && samples(rollouts, compared),
    optimiser(done),
    settings(config)
  ])
}
