import module from "node:module"
import "./garbage.js"

// Node keeps the compiled code between calls, which halves the time to the first output.
module.enableCompileCache?.()
// Bun and Deno have no hooks.
if (module.registerHooks !== undefined) await import("./effect.js")
await import("../dist/main.js")
