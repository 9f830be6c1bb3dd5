/** A policy without a model: it matches the words of the question with the workers' descriptions. */
export * as LexicalPolicy from "./LexicalPolicy.ts"
