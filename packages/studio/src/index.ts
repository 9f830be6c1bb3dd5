/**
 * The studio: a web app that displays runs. `Assets` provides its files to servers, `StudioServer` serves a source of
 * runs on this machine, `Export` creates pages that work without a server, and `Reports` creates the page for one
 * evaluation, training run or session. `Comparison`, `Evaluations`, `Trainings`, `Sessions` and `Summary` compute the
 * app's data.
 */

export * as Assets from "./Assets.ts"
export * as Export from "./Export.ts"
export * as Evaluations from "./evaluation/Listing.ts"
export * as Reports from "./Reports.ts"
export * as Comparison from "./run/Comparison.ts"
export * as Summary from "./run/Summary.ts"
export * as StudioServer from "./StudioServer.ts"
export * as Sessions from "./session/Session.ts"
export * as Trainings from "./training/Listing.ts"
