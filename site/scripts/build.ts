/** Makes the pages, builds the site from them, and looks at what was built. */
import path from "node:path"

process.env.ASTRO_TELEMETRY_DISABLED = "1"
await import("./pages.ts")
const { build } = await import("astro")
await build({ root: path.resolve(import.meta.dirname, ".."), logLevel: "warn" })
await import("./check.ts")
