/** A policy that needs no model: the words of the question against the words of the workers' descriptions. */
export * as LexicalPolicy from "./LexicalPolicy.ts"
