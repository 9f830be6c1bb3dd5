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
  prices
} from "@divisi/provider-kit/Gemini"
export { type GenaiOptions, genai } from "./genai.ts"
