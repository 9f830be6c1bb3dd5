/** Prints the entry points of the published packages, for `docs/public.md`: `node scripts/entries.ts`. */
import { packages } from "./setup/workspace.mjs"

const rows = packages()
  .filter(({ manifest }) => manifest.private !== true)
  .map(({ manifest }) => {
    const paths = Object.keys((manifest as { exports?: Record<string, unknown> }).exports ?? {})
    const entries = paths.filter((path) => path !== "./package.json" && !path.includes("internal"))
    return `| \`${manifest.name}\` | ${entries.map((path) => (path === "." ? "the package" : `\`${path.slice(2)}\``)).join(", ")} |`
  })
process.stdout.write(`${["| package | entry points |", "|---|---|", ...rows].join("\n")}\n`)
