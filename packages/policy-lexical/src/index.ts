/** A policy without a model, which matches the words of a question with the workers' descriptions. */
export * as LexicalPolicy from "./LexicalPolicy.ts"
