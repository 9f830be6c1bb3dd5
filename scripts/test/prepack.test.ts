import { spawnSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { buildMissing } from "../setup/set-up.mjs"
import { packages, root, stateFolder } from "../setup/workspace.mjs"

const exports = {
  ".": { "@divisi/source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" }
}

let folder: string
beforeEach(() => {
  fs.mkdirSync(stateFolder, { recursive: true })
  folder = fs.mkdtempSync(path.join(stateFolder, "package-"))
  fs.mkdirSync(path.join(folder, "src"))
  fs.writeFileSync(path.join(folder, "src/index.ts"), 'export { answer } from "./answer.ts"\n')
  fs.writeFileSync(path.join(folder, "src/answer.ts"), "export const answer: number = 42\n")
  fs.writeFileSync(path.join(folder, "src/internal.ts"), "export const secret = 42\n")
  fs.writeFileSync(
    path.join(folder, "tsup.config.ts"),
    'export default { entry: ["src/index.ts"], format: "esm", clean: true, silent: true }\n'
  )
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "small", type: "module", exports }))
  fs.copyFileSync(path.join(root, "tsconfig.base.json"), path.join(folder, "tsconfig.json"))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const inDist = (file: string) => fs.readFileSync(path.join(folder, "dist", file), "utf8")
const declarations = () => path.join(folder, "dist/index.d.ts")

describe("packing a package of a clone", () => {
  it("builds its declarations where they are missing or old, and only there", async () => {
    const member = { folder, manifest: { name: "small" } }
    fs.mkdirSync(path.join(folder, "dist"))
    fs.writeFileSync(path.join(folder, "dist/index.js"), "export const answer = 42\n")
    await buildMissing([member])
    expect(fs.readFileSync(declarations(), "utf8")).toBe('export * from "./types/index.js"\n')
    expect(inDist("types/index.d.ts")).toContain('from "./answer.js"')
    expect(inDist("types/answer.d.ts")).toContain("declare const answer: number")
    expect(fs.existsSync(path.join(folder, "dist/types/internal.d.ts"))).toBe(false)

    fs.appendFileSync(declarations(), "// as it was\n")
    await buildMissing([member])
    expect(fs.readFileSync(declarations(), "utf8")).toContain("// as it was")

    fs.utimesSync(path.join(folder, "src/index.ts"), new Date(), new Date(Date.now() + 60_000))
    await buildMissing([member])
    expect(fs.readFileSync(declarations(), "utf8")).not.toContain("// as it was")
  }, 120_000)

  it("is what every published package does first", () => {
    for (const { folder, manifest } of packages()) {
      expect(manifest.scripts?.prepack, manifest.name).toBe("node ../../scripts/setup/prepack.mjs")
      expect(fs.existsSync(path.resolve(folder, "../../scripts/setup/prepack.mjs"))).toBe(true)
    }
    const outside = spawnSync(process.execPath, [path.join(root, "scripts/setup/prepack.mjs")], { cwd: folder })
    expect(outside.status).toBe(0)
  })
})
