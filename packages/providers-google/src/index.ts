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
  type Rates
} from "@divisi/provider-kit/Gemini"
export { type GoogleOptions, google } from "./google.ts"
