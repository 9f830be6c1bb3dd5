/**
 * Public modules for other programs: the config and its reader, and the views of a run as functions of its transcript.
 */
export * as ConfigFile from "./config/ConfigFile.ts"
export * from "./config.ts"
export * as BlockView from "./view/BlockView.ts"
export * as Line from "./view/Line.ts"
export * as PlainView from "./view/PlainView.ts"
export * as StepGraph from "./view/StepGraph.ts"
