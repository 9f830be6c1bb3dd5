/**
 * The studio: a web app that displays runs. `Assets` provides its files to servers, `StudioServer` serves a source of
 * runs on this machine, `Export` creates pages that work without a server, and `Reports` creates the page for one
 * evaluation or training run. `Evaluations`, `Trainings` and `Summary` compute the entries of the app's lists.
 */

export * as Assets from "./Assets.ts"
export * as Export from "./Export.ts"
export * as Evaluations from "./evaluation/Listing.ts"
export * as Reports from "./Reports.ts"
export * as Summary from "./run/Summary.ts"
export * as StudioServer from "./StudioServer.ts"
export * as Trainings from "./training/Listing.ts"
