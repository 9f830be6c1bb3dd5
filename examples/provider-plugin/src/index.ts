export { type Options, ollama } from "./worker.ts"
