import { enableCompileCache } from "node:module"
import "./garbage.js"

// Node keeps the compiled code between calls, which halves the time to the first output.
enableCompileCache()
await import("../dist/main.js")
