/**
 * Runs in a package's folder before it is packed. Builds the package with its declarations, if they are missing or
 * outdated, because set-up skips declarations.
 */
import { report } from "./progress.mjs"
import { buildMissing } from "./set-up.mjs"
import { packages } from "./workspace.mjs"

try {
  await buildMissing(packages().filter(({ folder }) => folder === process.cwd()))
} catch (error) {
  report(error)
}
