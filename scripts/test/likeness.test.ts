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
    keywords: ["divisi", "offline", "gym"],
    license: "MIT",
    type: "module",
    engines,
    publishConfig: { access: "public" },
    files: ["dist", "src", "README.md", "LICENSE"],
    scripts: { build: "tsup", types: "tsc --noEmit", test: "vitest run" },
    exports: {
      ".": entry("index"),
      "./Family": entry("Family"),
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

  const withExports = (exports: Readonly<Record<string, unknown>>): Subject => ({
    ...alike,
    manifest: { ...alike.manifest, exports: { ...(alike.manifest.exports as object), ...exports } }
  })

  it("misses a public module in the index", () => {
    const files = [...alike.files, "src/split/Split.ts"]
    const entryOfSplit = { ...entry("Split"), "@divisi/source": "./src/split/Split.ts" }
    expect(differences({ ...withExports({ "./Split": entryOfSplit }), files }, engines)).toEqual([
      'packages/gym/src/index.ts: add: export * as Split from "./split/Split.ts"'
    ])
  })

  it("allows at most four entry points", () => {
    const names = ["a", "b", "c", "d"]
    const files = [...alike.files, ...names.map((name) => `src/${name}.ts`)]
    const exports = Object.fromEntries(names.map((name) => [`./${name}`, entry(name)]))
    expect(differences({ ...withExports(exports), files }, engines)[0]).toContain("entry points; at most 4")
  })

  it("leaves a module private that the manifest does not name", () => {
    expect(differences({ ...alike, files: [...alike.files, "src/split/Split.ts"] }, engines)).toEqual([])
  })

  it("reports an entry point without a source, or of another form", () => {
    expect(differences(withExports({ "./internal/*": null }), engines)[0]).toContain('must map "./internal/*" to')
    expect(differences(withExports({ "./gone": entry("gone") }), engines)).toEqual([
      'packages/gym/package.json: "exports" names ./src/gone.ts, which does not exist.'
    ])
    expect(differences(withExports({ "./family": entry("Family") }), engines)[0]).toContain(
      '"exports" must map "./family" to'
    )
  })

  it("reports a field that differs", () => {
    const manifest = { ...alike.manifest, license: "ISC", engines: { node: ">=20" } }
    expect(differences({ ...alike, manifest }, engines)).toHaveLength(2)
  })

  it("reports a repository, which a release takes from the root", () => {
    const manifest = { ...alike.manifest, repository: { type: "git", url: "git+https://example.org/choir.git" } }
    expect(differences({ ...alike, manifest }, engines)).toEqual([
      'packages/gym/package.json: "repository" stands in the root\'s manifest alone.'
    ])
  })
})
