/** Modules that do not depend on Node. Use them to tokenize and decode in a browser. */

export * as Decoder from "./Decoder.ts"
export * as Grammar from "./Grammar.ts"
export * as Tokenizer from "./Tokenizer.ts"
export * as WorkflowGrammar from "./WorkflowGrammar.ts"
