/** Installation folders for the clients. They are separate, because developers of the packages do not need them. */
import { spawnSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { type Finished, run } from "./Check.ts"

export const root = path.resolve(import.meta.dirname, "..")

/** A folder of clients. */
export const folder = (name: string): string => path.join(root, name)

/** The version of an installed package. */
export const versionOf = (of: string, name: string): string =>
  JSON.parse(fs.readFileSync(path.join(folder(of), "node_modules", name, "package.json"), "utf8")).version

const must = async (what: string, finished: Promise<Finished>) => {
  const { code, output } = await finished
  if (code !== 0) throw new Error(`${what} failed:\n${output.slice(-2_000)}`)
}

/** Installs a folder of packages according to its lock file. */
export const installPackages = async (name: string): Promise<void> => {
  const command = ["pnpm", "install", "--frozen-lockfile", "--prefer-offline"] as const
  await must(`Installing ${name}`, run(command, { cwd: folder(name), seconds: 600 }))
}

/** Whether this machine has a Python that packages can be installed for. */
export const hasPython = (): boolean => spawnSync("python3", ["-m", "venv", "--help"]).status === 0

/** Installs the packages that files of requirements name into a virtual environment. */
export const installPython = async (environment: string, files: ReadonlyArray<string>): Promise<void> => {
  const cwd = folder("python")
  if (!fs.existsSync(path.join(cwd, environment))) {
    await must("Making a virtual environment", run(["python3", "-m", "venv", environment], { cwd, seconds: 120 }))
  }
  const requirements = files.flatMap((file) => ["--requirement", file])
  const pip = [`${environment}/bin/python`, "-m", "pip", "install", "--quiet", ...requirements] as const
  await must("Installing packages of Python", run(pip, { cwd, seconds: 900 }))
}
