/** Inspects the folder in which `divisi init` writes: its module type and its package manager. */
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import type { Language } from "./Team.ts"

/** Returns the folder's package.json, or `undefined` if it is missing or invalid. */
const manifestOf = (folder: string): { readonly type?: unknown; readonly packageManager?: unknown } | undefined => {
  try {
    return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"))
  } catch {
    return undefined
  }
}

/** Whether the folder needs a package.json. Without one, the module type is undefined, and Node prints a warning. */
export const needsManifest = (folder: string): boolean => !existsSync(path.join(folder, "package.json"))

/** The package.json to write if it is missing. */
export const manifest = `${JSON.stringify({ private: true, type: "module" }, undefined, 2)}\n`

/** Returns the file extension to use in the folder, so that files are ES modules in any project. */
export const extensionOf = (folder: string, language: Language): string => {
  const isModule = needsManifest(folder) || manifestOf(folder)?.type === "module"
  return `${isModule ? "" : "m"}${language === "typescript" ? "ts" : "js"}`
}

const lockFiles = [
  ["pnpm-lock.yaml", "pnpm"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["yarn.lock", "yarn"],
  ["package-lock.json", "npm"]
] as const

export type PackageManager = (typeof lockFiles)[number][1]

const named = (text: unknown): PackageManager | undefined =>
  lockFiles.map(([, name]) => name).find((name) => typeof text === "string" && new RegExp(`^${name}[@/]`).test(text))

/**
 * Detects the package manager from a lock file in the folder or its parents, the package.json, or the process that
 * started this one (`npm_config_user_agent`). Defaults to npm.
 */
export const packageManagerOf = (folder: string, userAgent: string | undefined): PackageManager => {
  const locked = lockFiles.find(([file]) => existsSync(path.join(folder, file)))?.[1]
  const declared = locked ?? named(manifestOf(folder)?.packageManager)
  if (declared !== undefined) return declared
  const above = path.dirname(folder)
  const isLast = above === folder || existsSync(path.join(folder, ".git"))
  return isLast ? (named(userAgent) ?? "npm") : packageManagerOf(above, userAgent)
}

const adding: Readonly<Record<PackageManager, ReadonlyArray<string>>> = {
  npm: ["npm", "install"],
  pnpm: ["pnpm", "add"],
  yarn: ["yarn", "add"],
  bun: ["bun", "add"]
}

/** Returns the command for installing packages. */
export const addCommand = (manager: PackageManager, packages: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...adding[manager],
  ...packages
]
