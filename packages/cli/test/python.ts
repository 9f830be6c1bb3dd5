/** A Python with packages of the index, for long tests that hold our formats to the libraries that read them. */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import path from "node:path"

/** Whether there is a Python to make environments with. */
export const hasPython = spawnSync("python3", ["-c", "import venv"]).status === 0

/**
 * The interpreter of an environment with the packages: that of `DIVISI_TEST_PYTHON`, which has them, or one that is made
 * in the folder by uv or pip.
 */
export const pythonWith = (folder: string, ...packages: ReadonlyArray<string>): string => {
  const given = process.env.DIVISI_TEST_PYTHON
  if (given !== undefined) return given
  const environment = path.join(folder, "python")
  const python = path.join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python")
  if (existsSync(python)) return python
  const hasUv = spawnSync("uv", ["--version"]).status === 0
  const [make, install] = hasUv
    ? [
        ["uv", "venv", environment],
        ["uv", "pip", "install", "--python", python]
      ]
    : [
        ["python3", "-m", "venv", environment],
        [python, "-m", "pip", "install", "--quiet"]
      ]
  for (const [command, ...args] of [make, [...install, ...packages]]) execFileSync(command!, args, { stdio: "pipe" })
  return python
}
