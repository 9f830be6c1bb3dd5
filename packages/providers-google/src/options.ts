export type * from "../../providers-genai/src/options.ts"
