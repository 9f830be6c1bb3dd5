export {
  type Capabilities,
  type Choice,
  capabilitiesOf,
  type Defaults,
  type Effort,
  type Family,
  families,
  type GeminiOptions,
  type ListPrice,
  limitsOf,
  priceOf,
  prices,
  type WorkerOptions
} from "@divisi/provider-kit/Gemini"
export { type GenerativeModel, generativeModel } from "./generativeModel.ts"
export { type GoogleOptions, google } from "./google.ts"
