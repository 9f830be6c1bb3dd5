/**
 * Checks that no tracked file contains the host of a package registry, because users install from the registry
 * configured for their npm.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { root } from "../setup/workspace.mjs"
import { fromProblems, type Report } from "./Report.ts"

const publicHosts = /\b(?:registry\.(?:npmjs|yarnpkg)\.(?:org|com)|registry\.npmmirror\.com|npm\.pkg\.github\.com)\b/

/** Returns the lines that contain a registry: a public one, or one in `hosts`. */
export const findHosts = (text: string, hosts: ReadonlyArray<string> = []): ReadonlyArray<number> =>
  text
    .split("\n")
    .flatMap((line, index) => (publicHosts.test(line) || hosts.some((host) => line.includes(host)) ? [index + 1] : []))

/** Returns the host from which npm installs on this machine. */
const configuredHost = (): ReadonlyArray<string> => {
  const registry = execFileSync("npm", ["config", "get", "registry"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "ignore"]
  })
  return URL.canParse(registry.trim()) ? [new URL(registry.trim()).host] : []
}

/** Checks every tracked file. */
export const check = (): Report => {
  const hosts = configuredHost()
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean)
  return fromProblems(
    tracked.flatMap((file) => {
      const at = path.join(root, file)
      if (!fs.existsSync(at)) return []
      return findHosts(fs.readFileSync(at, "utf8"), hosts).map((line) => `${file}:${line}: names a package registry.`)
    })
  )
}
