/** Small Conductors: one that reads the descriptions of the workers, and a language model trained in the gym. */

export * as ChoiceHead from "./ChoiceHead.ts"
export type { ModelCard } from "./ModelCard.ts"
export * as ModelWorker from "./ModelWorker.ts"
export * as PartsPlan from "./PartsPlan.ts"
export * as ReadingPolicy from "./ReadingPolicy.ts"
export * as ReadingText from "./ReadingText.ts"
export * as TinyConductor from "./TinyConductor.ts"
export * as TinyPrompt from "./TinyPrompt.ts"
export * from "./tiny.ts"
