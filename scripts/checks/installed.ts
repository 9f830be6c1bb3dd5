/** Installing with plain npm into an empty folder outside the workspace, and what is there afterwards. */
import fs from "node:fs"
import { createServer } from "node:net"
import os from "node:os"
import path from "node:path"
import { type Finished, run } from "./command.ts"

/** What an installation has brought. */
export interface Tree {
  /** Packages, those of this workspace among them. */
  readonly packages: number
  /** Packages of others. */
  readonly others: number
  readonly bytes: number
  /** Packages that run a script of theirs when they are installed. */
  readonly scripted: ReadonlyArray<string>
}

/** Makes an empty project in a folder that goes when `use` is done. */
export const inProject = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-installation-"))
  try {
    fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    return await use(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** `npm install` of packages by name or tarball. Npm asks for nothing again that another check has installed. */
export const npmInstall = (...packages: ReadonlyArray<string>) =>
  ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", ...packages] as const

/** Installs packages by name or tarball in a folder. */
export const install = (folder: string, packages: ReadonlyArray<string>): Promise<Finished> =>
  run(npmInstall(...packages), { cwd: folder })

/** A port of this machine that nothing listens on, for a server that cannot say which one it took. */
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

/** What is installed in a project. */
export const treeOf = (folder: string): Tree => {
  const modules = path.join(folder, "node_modules")
  // Npm keeps in it what it has installed, by folder.
  const lock: { readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>> } = JSON.parse(
    fs.readFileSync(path.join(modules, ".package-lock.json"), "utf8")
  )
  // A package for another machine is in the list, and not on the disk.
  const found = Object.entries(lock.packages).filter(([place]) => fs.existsSync(path.join(folder, place)))
  const nameOf = (place: string) => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length)
  return {
    packages: found.length,
    others: found.filter(([place]) => !nameOf(place).startsWith("@divisi/")).length,
    bytes: size(modules),
    scripted: found.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([place]) => nameOf(place))
  }
}
