/**
 * Runs before a package is packed, in its folder: builds it with its declarations where they are missing or older than
 * its sources, as set-up leaves them out.
 */
import { SetUpError } from "./progress.mjs"
import { buildMissing } from "./set-up.mjs"
import { packages } from "./workspace.mjs"

try {
  await buildMissing(packages().filter(({ folder }) => folder === process.cwd()))
} catch (error) {
  if (!(error instanceof SetUpError)) throw error
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
}
