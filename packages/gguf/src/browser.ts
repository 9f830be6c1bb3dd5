/** The modules that need nothing of Node: they tokenize and decode in a browser, too. */

export * as Decoder from "./Decoder.ts"
export * as Grammar from "./Grammar.ts"
export * as Tokenizer from "./Tokenizer.ts"
export * as WorkflowGrammar from "./WorkflowGrammar.ts"
