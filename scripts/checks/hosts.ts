/**
 * No tracked file names a package registry: everybody installs from the one that their own npm is set to.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { root } from "../setup/workspace.mjs"
import { fromProblems, type Report } from "./Report.ts"

const publicHosts = /\b(?:registry\.(?:npmjs|yarnpkg)\.(?:org|com)|registry\.npmmirror\.com|npm\.pkg\.github\.com)\b/

/** The lines of a text that name a registry: a public one, or one of `hosts`. */
export const findHosts = (text: string, hosts: ReadonlyArray<string> = []): ReadonlyArray<number> =>
  text
    .split("\n")
    .flatMap((line, index) => (publicHosts.test(line) || hosts.some((host) => line.includes(host)) ? [index + 1] : []))

/** The host that this machine's npm installs from. */
const configuredHost = (): ReadonlyArray<string> => {
  const registry = execFileSync("npm", ["config", "get", "registry"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "ignore"]
  })
  return URL.canParse(registry.trim()) ? [new URL(registry.trim()).host] : []
}

/** Reads every tracked file. */
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
