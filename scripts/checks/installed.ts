/** Installs packages with npm in an empty folder outside the workspace, and inspects the result. */
import fs from "node:fs"
import { createServer } from "node:net"
import os from "node:os"
import path from "node:path"
import { type Finished, run } from "./command.ts"

/** The content of an installation. */
export interface Tree {
  /** Number of packages, including those from this workspace. */
  readonly packages: number
  /** Number of third-party packages. */
  readonly others: number
  readonly bytes: number
  /** Packages that run an install script. */
  readonly scripted: ReadonlyArray<string>
}

/** Creates an empty project in a folder, which is removed after `use`. */
export const inProject = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-installation-"))
  try {
    fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    return await use(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Returns the `npm install` command for packages, given by name or tarball. npm reuses packages that another check has
 * already downloaded.
 */
export const npmInstall = (...packages: ReadonlyArray<string>) =>
  ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", ...packages] as const

/** Installs packages by name or tarball in a folder. */
export const install = (folder: string, packages: ReadonlyArray<string>): Promise<Finished> =>
  run(npmInstall(...packages), { cwd: folder })

/** Returns a free port, for servers that cannot report the port that they selected. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const size = (folder: string): number =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0)

/** Returns the packages installed in a project. */
export const treeOf = (folder: string): Tree => {
  const modules = path.join(folder, "node_modules")
  // npm's record of the installed packages, by folder.
  const lock: { readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>> } = JSON.parse(
    fs.readFileSync(path.join(modules, ".package-lock.json"), "utf8")
  )
  // Packages for other platforms are listed but not on the disk.
  const found = Object.entries(lock.packages).filter(([place]) => fs.existsSync(path.join(folder, place)))
  const nameOf = (place: string) => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length)
  return {
    packages: found.length,
    others: found.filter(([place]) => !nameOf(place).startsWith("@divisi/")).length,
    bytes: size(modules),
    scripted: found.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([place]) => nameOf(place))
  }
}
