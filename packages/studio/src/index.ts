/**
 * The studio: a page that shows runs. `Assets` has its files for servers, `StudioServer` serves a source of runs on
 * this machine, and `Export` writes pages without a server, and
 * `Reports` those of one evaluation or training. The other modules contain the page's computations as pure
 * functions.
 */

export * as Assets from "./Assets.ts"
export * as Export from "./Export.ts"
export * as Evaluations from "./evaluation/Listing.ts"
export * as Reports from "./Reports.ts"
export * as Comparison from "./run/Comparison.ts"
export * as Format from "./run/Format.ts"
export * as StepConversation from "./run/StepConversation.ts"
export * as Summary from "./run/Summary.ts"
export * as Waterfall from "./run/Waterfall.ts"
export * as StudioServer from "./StudioServer.ts"
export * as Trainings from "./training/Listing.ts"
