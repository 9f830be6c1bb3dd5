import { execFileSync } from "node:child_process"
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { inFolder } from "./process.ts"

const packageFolder = path.resolve(import.meta.dirname, "..")

/** Copies the bundle and its hook into a folder in which the same packages are installed. */
const copied = (folder: string): void => {
  for (const name of ["bin", "dist/effect"]) {
    cpSync(path.join(packageFolder, name), path.join(folder, name), { recursive: true })
  }
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }))
  symlinkSync(path.join(packageFolder, "node_modules"), path.join(folder, "node_modules"))
}

/** Prints whether a module, its export by another that is not bundled, and its import by CommonJS are the bundle's. */
const program = `
  import { createRequire } from "node:module"
  const { succeed } = await import("./dist/effect/effect/Effect.js")
  const imported = [await import("effect/Effect"), (await import("effect")).Effect, createRequire(import.meta.url)("effect/Effect")]
  console.log(...imported.map((module) => module.succeed === succeed))`

const run = (folder: string): string => {
  writeFileSync(path.join(folder, "program.mjs"), program)
  const args = ["--import", "./bin/effect.js", "program.mjs"]
  return execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" }).trim()
}

describe.skipIf(process.env.DIVISI_TEST_BUILT === undefined)("the bundled Effect", () => {
  it("is the only one, for all importers", () =>
    inFolder(async (folder) => {
      copied(folder)
      expect(run(folder)).toBe("true true true")
    }))

  it("is not used if another version is installed", () =>
    inFolder(async (folder) => {
      copied(folder)
      const file = path.join(folder, "dist/effect/modules.json")
      writeFileSync(file, readFileSync(file, "utf8").replaceAll(/"version":"[^"]*"/g, '"version":"0.0.0"'))
      expect(run(folder)).toBe("false false false")
    }))
})
