import { describe, expect, it } from "vitest"
import { differences, type Subject } from "../checks/likeness.ts"

const engines = { node: ">=22.19.0" }

const entry = (module: string) => ({
  "@divisi/source": `./src/${module}.ts`,
  types: `./dist/${module}.d.ts`,
  default: `./dist/${module}.js`
})

const alike: Subject = {
  name: "gym",
  manifest: {
    name: "@divisi/gym",
    description: "A world.",
    license: "MIT",
    type: "module",
    repository: { type: "git", url: "git+https://github.com/divisi-ai/divisi.git", directory: "packages/gym" },
    engines,
    publishConfig: { access: "public" },
    files: ["dist", "src", "README.md", "LICENSE"],
    scripts: { build: "tsup", types: "tsc --noEmit", test: "vitest run" },
    exports: {
      ".": entry("index"),
      "./Family": entry("Family"),
      "./internal/*": null,
      "./package.json": "./package.json"
    }
  },
  files: [
    ...["package.json", "README.md", "LICENSE", "tsconfig.json", "tsup.config.ts", "vitest.config.ts"],
    ...["src/index.ts", "src/Family.ts", "src/internal/draw.ts", "test/Family.test.ts"]
  ],
  index: 'export * as Family from "./Family.ts"\n'
}

describe("likeness", () => {
  it("finds nothing in a package that is like the others", () => {
    expect(differences(alike, engines)).toEqual([])
  })

  it("misses files and tests", () => {
    const files = alike.files.filter((file) => file !== "README.md" && !file.startsWith("test/"))
    expect(differences({ ...alike, files }, engines)).toEqual([
      "packages/gym: README.md is missing.",
      "packages/gym: there is no test in test/."
    ])
  })

  it("misses a module in the exports and in the index", () => {
    const problems = differences({ ...alike, files: [...alike.files, "src/Split.ts"] }, engines)
    expect(problems).toHaveLength(2)
    expect(problems[0]).toContain('"exports" must map "./Split"')
    expect(problems[1]).toBe('packages/gym/src/index.ts: add: export * as Split from "./Split.ts"')
  })

  it("reports an export of a module that is not there", () => {
    const manifest = { ...alike.manifest, exports: { ...(alike.manifest.exports as object), "./Gone": entry("Gone") } }
    expect(differences({ ...alike, manifest }, engines)).toEqual([
      'packages/gym/package.json: "exports" names "./Gone", which is not in src.'
    ])
  })

  it("does not ask a command for an export of each module", () => {
    const manifest = { ...alike.manifest, bin: { divisi: "./bin/divisi.js" } }
    expect(differences({ ...alike, manifest, files: [...alike.files, "src/main.ts"] }, engines)).toEqual([])
  })

  it("reports a field that differs", () => {
    const manifest = { ...alike.manifest, license: "ISC", engines: { node: ">=20" } }
    expect(differences({ ...alike, manifest }, engines)).toHaveLength(2)
  })
})
