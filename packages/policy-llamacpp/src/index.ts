export * as WorkflowGrammar from "./WorkflowGrammar.ts"
