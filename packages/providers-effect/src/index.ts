/** Any Effect `LanguageModel` as a Divisi worker, and a Conductor as an Effect `LanguageModel`. */
export * as ConductorLanguageModel from "./ConductorLanguageModel.ts"
export * as LanguageModelWorker from "./LanguageModelWorker.ts"
export { fromLanguageModel } from "./LanguageModelWorker.ts"
