/** What others can build on: the config, and the views of a run as functions of its transcript. */
export * from "./config.ts"
export * as BlockView from "./view/BlockView.ts"
export * as Line from "./view/Line.ts"
export * as PlainView from "./view/PlainView.ts"
export * as StepGraph from "./view/StepGraph.ts"
