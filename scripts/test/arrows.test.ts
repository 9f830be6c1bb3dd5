import { describe, expect, it } from "vitest"
import { layerProblems, pipelineProblems, rooms, type Subject, violations } from "../checks/arrows.ts"

const subject = (name: string, parts: Partial<Subject> = {}): Subject => ({
  name,
  manifest: {
    name: `@divisi/${name}`,
    dependencies: { "@divisi/core": "workspace:^" },
    peerDependencies: { effect: "4" }
  },
  sources: [],
  ...parts
})

const source = (text: string, file = "src/A.ts") => [{ file, text }]

describe("arrows", () => {
  it("lets a package use core and what others publish", () => {
    const sources = source(
      'import * as Task from "@divisi/core/Task"\nimport "effect/Effect"\nimport "node:fs"\nimport "./B.ts"'
    )
    expect(violations([subject("gym", { sources }), subject("providers-x", { sources })])).toEqual([])
  })

  it("reports an arrow in a manifest", () => {
    const manifest = { name: "@divisi/evals", dependencies: { "@divisi/trainer": "workspace:^" } }
    expect(violations([subject("evals", { manifest })])).toEqual([
      "packages/evals/package.json: evals may not depend on @divisi/trainer; see scripts/checks/arrows.ts."
    ])
  })

  it("lets the tests of a package use more than the package", () => {
    const arrows = [{ from: "report", to: ["core"], tests: ["evals"] }]
    const tested = { name: "@divisi/report", devDependencies: { "@divisi/evals": "*" } }
    expect(violations([subject("report", { manifest: tested })], arrows)).toEqual([])
    const used = { name: "@divisi/report", dependencies: { "@divisi/evals": "*" } }
    expect(violations([subject("report", { manifest: used })], arrows)).toHaveLength(1)
  })

  it.each([
    ["import", 'import { a } from "@divisi/gym/Task"'],
    ["type import", 'import type { A } from "@divisi/gym"'],
    ["export", 'export * from "@divisi/gym"'],
    ["dynamic import", 'const a = await import("@divisi/gym")']
  ])("reports an arrow drawn by an %s", (_, text) => {
    const manifest = { name: "@divisi/server", dependencies: { "@divisi/core": "*", "@divisi/gym": "*" } }
    expect(violations([subject("server", { manifest, sources: source(text) })])).toHaveLength(2)
  })

  it("reports an import that the manifest does not name", () => {
    expect(violations([subject("gym", { sources: source('import "left-pad"') })])).toEqual([
      "packages/gym/src/A.ts: left-pad is not in the dependencies of packages/gym/package.json."
    ])
  })

  it("reports a package that imports itself by its name, and no example that does", () => {
    const itself = source('import "@divisi/gym/Task"', "src/A.ts")
    const example = source('/**\n * import "@divisi/gym/Task"\n */\nexport const a = 1', "src/A.ts")
    expect(violations([subject("gym", { sources: itself })])).toEqual([
      'packages/gym/src/A.ts: "@divisi/gym/Task" is gym itself; import it by its path.'
    ])
    expect(violations([subject("gym", { sources: example })])).toEqual([])
  })

  it("reports an import that leaves the package", () => {
    const inside = source('import "../B.ts"\nimport "../../package.json"', "src/internal/A.ts")
    const outside = source('import "../../core/src/Task.ts"', "src/A.ts")
    expect(violations([subject("gym", { sources: inside })])).toEqual([])
    expect(violations([subject("gym", { sources: outside })])).toHaveLength(1)
  })

  it("lets no package take in the source of a sibling", () => {
    const borrowed = (from: string) => source(`import "../../${from}/src/internal/A.ts"`, "src/A.ts")
    for (const from of ["providers-genai", "provider-kit", "core"]) {
      expect(violations([subject("providers-google", { sources: borrowed(from) })])).toHaveLength(1)
    }
  })

  it("lets core use effect and nothing else", () => {
    const core = (dependencies: Record<string, string>) =>
      subject("core", { manifest: { name: "@divisi/core", dependencies } })
    expect(violations([core({ effect: "4" })])).toEqual([])
    expect(violations([core({ effect: "4", zod: "4" })])).toHaveLength(1)
    expect(violations([core({ "@divisi/gym": "*" })])).toHaveLength(1)
  })

  it("lets tests, and nothing else, use the testkit", () => {
    const user = (name: string, field: string) =>
      subject(name, { manifest: { name: `@divisi/${name}`, [field]: { "@divisi/testkit": "*" } } })
    expect(violations([user("providers-x", "devDependencies")])).toEqual([])
    expect(violations([user("providers-x", "dependencies")])).toHaveLength(1)
    // The testkit depends on this package.
    expect(violations([user("trainer", "devDependencies")])).toHaveLength(1)
  })

  it("asks for an arrow when a package is new", () => {
    expect(violations([subject("novelty")])[0]).toContain("no arrow is drawn for it yet")
  })
})

describe("core's folders", () => {
  it("import downwards alone", () => {
    const imports = (file: string, specifier: string) => layerProblems([{ file, text: `import "${specifier}"` }])
    expect(imports("src/run/Conductor.ts", "../policy/Policy.ts")).toEqual([])
    expect(imports("src/workflow/reader/lists.ts", "../Workflow.ts")).toEqual([])
    expect(imports("src/promise.ts", "./run/Conductor.ts")).toEqual([])
    expect(imports("src/policy/Policy.ts", "../run/Budget.ts")).toEqual([
      'packages/core/src/policy/Policy.ts: "../run/Budget.ts" points upwards: policy is below run.'
    ])
    expect(imports("src/events/RunEvent.ts", "../run/Conductor.ts")).toHaveLength(1)
  })

  it("only loop/pipeline.ts names the kernel of the run loop and its middleware", () => {
    const imports = (file: string, specifier: string) => pipelineProblems([{ file, text: `import "${specifier}"` }])
    expect(imports("src/loop/pipeline.ts", "../middleware/retry/retry.ts")).toEqual([])
    expect(imports("src/middleware/retry/retry.ts", "../../loop/call.ts")).toEqual([])
    expect(imports("src/middleware/replay/replay.ts", "./charges.ts")).toEqual([])
    expect(imports("src/loop/call.ts", "../middleware/retry/retry.ts")).toHaveLength(1)
    expect(imports("src/middleware/retry/retry.ts", "../cache/cache.ts")).toHaveLength(1)
  })

  it("no shared room of the CLI imports a command", () => {
    const imports = (file: string, specifier: string) =>
      layerProblems([{ file, text: `import "${specifier}"` }], "cli", rooms)
    expect(imports("src/run/Run.ts", "../team/RunOptions.ts")).toEqual([])
    expect(imports("src/team/RunOptions.ts", "../stores/Services.ts")).toEqual([])
    expect(imports("src/stores/OwnOutcomes.ts", "../eval/Evaluate.ts")).toHaveLength(1)
    expect(imports("src/invocation/flags.ts", "../vendors/Prices.ts")).toHaveLength(1)
  })
})
