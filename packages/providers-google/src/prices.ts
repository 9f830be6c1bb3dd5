export * from "../../providers-genai/src/prices.ts"
