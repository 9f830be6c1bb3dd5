/**
 * Compares the table of third-party packages and sizes in `docs/installation-size.md` with the installed packages.
 * Binaries differ between platforms and versions between installations, so sizes may deviate by 10 %.
 */
import fs from "node:fs"
import path from "node:path"
import { packages, root } from "../setup/workspace.mjs"
import type { Report } from "./Report.ts"

interface Row {
  readonly name: string
  readonly count: number
  readonly megabytes: number
}

/**
 * Returns the folder in which a package's dependency is resolved: the package's own folder in the workspace, or next to
 * it in pnpm's store.
 */
const placeOf = (folder: string, name: string): string | undefined => {
  const beside = folder.slice(0, folder.lastIndexOf(`${path.sep}node_modules${path.sep}`) + 1)
  const found = [folder, beside]
    .map((place) => path.join(place, "node_modules", name))
    .find((place) => fs.existsSync(place))
  return found && fs.realpathSync(found)
}

/** Returns all packages that are installed with a package. */
const closureOf = (folder: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(folder)) return found
  found.add(folder)
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
  const optional = manifest.peerDependenciesMeta ?? {}
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter((name) => optional[name]?.optional !== true)
  for (const name of [...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), ...peers]) {
    const at = placeOf(folder, name)
    if (at !== undefined) closureOf(at, found)
  }
  return found
}

const sizeOf = (folder: string): number =>
  fs.readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const at = path.join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === "node_modules" ? sum : sum + sizeOf(at)
    return entry.isFile() ? sum + fs.statSync(at).size : sum
  }, 0)

const rows = (): ReadonlyArray<Row> => {
  const sizes = new Map<string, number>()
  return packages().map(({ folder, manifest }) => {
    const others = [...closureOf(folder)].filter((at) => at.includes(`${path.sep}node_modules${path.sep}`))
    for (const at of others) if (!sizes.has(at)) sizes.set(at, sizeOf(at))
    const bytes = others.reduce((sum, at) => sum + sizes.get(at)!, 0)
    return { name: manifest.name, count: others.length, megabytes: Math.round(bytes / 1e6) }
  })
}

const page = "docs/installation-size.md"

const written = /^\| `(@divisi\/[\w-]+)` \| (\d+) \| (\d+) \|$/gm

const isNear = (now: number, then: number): boolean => Math.abs(now - then) <= Math.max(2, then / 10)

/** Compares the installed packages with the table. */
export const check = (): Report => {
  const text = fs.readFileSync(path.join(root, page), "utf8")
  const table = new Map([...text.matchAll(written)].map(([, name = "", ...row]) => [name, row.map(Number)]))
  const problems = rows().flatMap(({ count, megabytes, name }) => {
    const [thenCount = -1, thenMegabytes = -1] = table.get(name) ?? []
    return isNear(count, thenCount) && isNear(megabytes, thenMegabytes)
      ? []
      : [`${page}: the row of ${name} must be: | \`${name}\` | ${count} | ${megabytes} |`]
  })
  return { passed: packages().length - problems.length, problems }
}
