/**
 * `pnpm release`: builds every package and publishes those whose version the registry does not have. The workflow
 * `release.yml` calls it once the versions of the changesets are on the main branch.
 */
import { spawnSync } from "node:child_process"
import { withRepository } from "./release/repository.ts"
import { packages, root } from "./setup/workspace.mjs"

const pnpm = (...rest: ReadonlyArray<string>): boolean =>
  spawnSync("pnpm", rest, { cwd: root, stdio: "inherit", shell: process.platform === "win32" }).status === 0

const published = packages().filter(({ manifest }) => manifest.private !== true)
const isReleased =
  pnpm("run", "build") &&
  withRepository(
    root,
    published.map(({ folder }) => folder),
    () => pnpm("exec", "changeset", "publish")
  )
process.exitCode = isReleased ? 0 : 1
