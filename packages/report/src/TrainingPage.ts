/**
 * The page of a training run: its learning curves, the workers' shares of the work, and sample completions.
 *
 * It is one self-contained HTML file for print and phones, with a light and a dark theme. The figures of each picture
 * are below it. The page does not allow scripts, so model output is never executed.
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
 * Returns the iterations from which the page samples rollouts: some from the start and some from the end, at most
 * sixteen.
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
 * Equal trainings give equal text. Its length does not grow with the run, because neighboring iterations of a long run
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
