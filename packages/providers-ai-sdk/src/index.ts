/** Any Vercel AI SDK model as a Divisi worker, and a Conductor as an AI SDK model. */
export * as AiSdkWorker from "./AiSdkWorker.ts"
export { aiSdk } from "./AiSdkWorker.ts"
export * as ConductorModel from "./ConductorModel.ts"
export { conductorModel } from "./ConductorModel.ts"
export * as UiMessages from "./UiMessages.ts"
export { questionOf, type TeamMessage, uiMessageResponse } from "./UiMessages.ts"
