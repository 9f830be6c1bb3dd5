/** Modules for use by other programs: the config and its loader, and views that render a run from its transcript. */
export * as ConfigFile from "./config/ConfigFile.ts"
export * from "./config.ts"
export * as BlockView from "./view/BlockView.ts"
export * as Line from "./view/Line.ts"
export * as PlainView from "./view/PlainView.ts"
export * as StepGraph from "./view/StepGraph.ts"
