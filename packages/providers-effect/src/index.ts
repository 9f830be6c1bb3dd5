/** Any `LanguageModel` of Effect as a Divisi worker, and a Conductor as a `LanguageModel` of Effect. */
export * as ConductorLanguageModel from "./ConductorLanguageModel.ts"
export * as LanguageModelWorker from "./LanguageModelWorker.ts"
export { fromLanguageModel } from "./LanguageModelWorker.ts"
