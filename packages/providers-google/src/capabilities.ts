export * from "../../providers-genai/src/capabilities.ts"
