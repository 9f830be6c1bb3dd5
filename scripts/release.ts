/**
 * `pnpm release`: if there are pending changesets, creates versions and changelogs to be committed. Otherwise, builds
 * all packages and publishes those whose version is not in the registry. The workflow `release.yml` does the first in a
 * pull request, and the second after it was merged.
 */
import { spawnSync } from "node:child_process"
import { pending } from "./release/changesets.ts"
import { asPublished } from "./release/published.ts"
import { packages, root } from "./setup/workspace.mjs"

const pnpm = (...rest: ReadonlyArray<string>): boolean =>
  spawnSync("pnpm", rest, { cwd: root, stdio: "inherit", shell: process.platform === "win32" }).status === 0

const published = packages().filter(({ manifest }) => manifest.private !== true)

const version = (): boolean => {
  if (!pnpm("exec", "changeset", "version")) return false
  const now = packages().find(({ manifest }) => manifest.name === "@divisi/core")?.manifest.version
  process.stdout.write(`Versions and changelogs are those of ${now}. Commit them; \`pnpm release\` then publishes.\n`)
  return true
}

/** Whether packages have a version. Packages with the placeholder version are never published. */
const isVersioned = (): boolean => {
  const unversioned = published.filter(({ manifest }) => manifest.version === "0.0.0")
  if (unversioned.length > 0) process.stderr.write("No version was ever made: write a changeset (`pnpm changeset`).\n")
  return unversioned.length === 0
}

const publish = (): boolean =>
  isVersioned() &&
  pnpm("run", "build") &&
  asPublished(
    root,
    published.map(({ folder }) => folder),
    () => pnpm("exec", "changeset", "publish")
  )

process.exitCode = (pending(root).length > 0 ? version() : publish()) ? 0 : 1
