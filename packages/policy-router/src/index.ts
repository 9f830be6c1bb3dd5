/** Policies that choose a worker, or the worker of the next turn, by past accuracy on similar questions. */

export * as Drift from "./Drift.ts"
export * as Evolution from "./head/Evolution.ts"
export * as Head from "./head/Head.ts"
export * as HeadPolicy from "./head/HeadPolicy.ts"
export * as SepCmaEs from "./head/SepCmaEs.ts"
export * as Learned from "./Learned.ts"
export * as OutcomeLog from "./OutcomeLog.ts"
export * as Outcomes from "./Outcomes.ts"
export * as Replay from "./Replay.ts"
export { type Options as RoutedOptions, routed } from "./Routed.ts"
export * as Router from "./Router.ts"
export * as Table from "./Table.ts"
