/**
 * The studio: a web app that displays runs. `Assets` provides its files to servers, `StudioServer` serves a source of
 * runs on this machine, `Export` creates pages that work without a server, and `Reports` creates the page for one
 * evaluation or training run. The other modules contain the app's computations as pure functions.
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
