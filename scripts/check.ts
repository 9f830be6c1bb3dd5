/**
 * Runs checks of the workspace by name, all of them when none is named: `node scripts/check.ts arrows likeness`.
 * The last line is `N passed, N failed`.
 */
import type { Report } from "./checks/Report.ts"

const checks: Readonly<Record<string, () => Promise<{ readonly check: () => Report | Promise<Report> }>>> = {
  /** Packages depend on each other only as the design draws it. */
  arrows: () => import("./checks/arrows.ts"),
  /** Packages have the same files and manifests. */
  likeness: () => import("./checks/likeness.ts"),
  /** No tracked file names a package registry. */
  hosts: () => import("./checks/hosts.ts"),
  /** Prose gains no idiom, no free relatives and no long sentences: `words.json` has the ceilings. */
  words: () => import("./checks/words.ts"),
  /** Every change to the sources of a published package has a changeset. */
  changes: () => import("./checks/changes.ts"),
  /** Code in docstrings and pages type-checks and does what it says. */
  documentation: () => import("./checks/documentation.ts"),
  /** Commands that pages show print what the pages say, and their flags are there. */
  commands: () => import("./checks/commands.ts"),
  /** Figures on pages are those that the commands beside them print. */
  figures: () => import("./checks/figures.ts"),
  /** The same for commands that take half a minute or more. CI leaves it out. */
  longFigures: async () => ({ check: (await import("./checks/figures.ts")).checkLong }),
  /** Three seeds of the day do not contradict published figures. */
  claims: () => import("./checks/claims.ts"),
  /** Pages of the examples work in a real browser. */
  browser: () => import("./checks/browser.ts"),
  /** The studio is small, has no violation of axe, and runs no text of a model. */
  studio: () => import("./checks/studio.ts"),
  /** Third-party packages and their size are those of `docs/installation-size.md`. */
  sizes: () => import("./checks/sizes.ts"),
  /** What a page in a browser loads for `conduct` is what the docs say. Needs `pnpm build`. */
  bundle: () => import("./checks/bundle.ts"),
  /** Packed packages pass publint and arethetypeswrong. Needs `pnpm build`. */
  tarballs: () => import("./checks/tarballs.ts"),
  /** A strict project that checks libraries' declarations can use every type of the packed packages. Needs `pnpm build`. */
  types: () => import("./checks/types.ts"),
  /** Packed packages work in an empty folder with plain npm. Needs `pnpm build`. */
  installation: () => import("./checks/installation.ts"),
  /** Installed packages load on the oldest Node, and every command of `divisi` works there. Needs `pnpm build`. */
  everyCommand: () => import("./checks/everyCommand.ts"),
  /** What `divisi provider new` writes installs, builds and passes the contract with plain npm. Needs `pnpm build`. */
  plugin: () => import("./checks/plugin.ts"),
  /** Packages published to a registry on this machine install, work, and upgrade with stored data. Needs `pnpm build`. */
  release: () => import("./checks/release.ts"),
  /** An app with providers runs bundled by esbuild and Vite, and on Bun and Deno. Needs `pnpm build`. */
  bundlers: () => import("./checks/bundlers.ts"),
  /** The same app runs as a route of Next. CI leaves it out. Needs `pnpm build`. */
  next: async () => ({ check: (await import("./checks/bundlers.ts")).checkNext })
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(checks)
let passed = 0
let failed = 0
for (const name of names) {
  const load = checks[name]
  if (load === undefined) {
    process.stderr.write(`There is no check "${name}". These exist: ${Object.keys(checks).join(", ")}.\n`)
    process.exit(2)
  }
  const report = await (await load()).check()
  passed += report.passed
  failed += report.problems.length
  for (const problem of report.problems) process.stdout.write(`${name}: ${problem}\n`)
}
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
