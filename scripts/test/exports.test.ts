import { describe, expect, it } from "vitest"
import { type Subject, unused } from "../checks/exports.ts"

const gym: Subject = {
  name: "@divisi/gym",
  folder: "packages/gym",
  entries: new Map([
    ["@divisi/gym", "packages/gym/src/index.ts"],
    ["@divisi/gym/Gym", "packages/gym/src/Gym.ts"]
  ])
}

const index = 'export * as Gym from "./Gym.ts"\nexport { leap } from "./leap.ts"\n'

/** Returns the unused names of a package with the given module, next to files outside it. */
const names = (module: string, others: Readonly<Record<string, string>> = {}): ReadonlyArray<string> =>
  unused(
    [gym],
    new Map(
      Object.entries({
        "packages/gym/src/index.ts": index,
        "packages/gym/src/Gym.ts": module,
        "packages/gym/src/leap.ts": "export const leap = 1",
        "examples/a/src/main.ts": 'import { leap } from "@divisi/gym"',
        ...others
      })
    )
  ).map((problem) => /exports (\S+),/.exec(problem)![1]!)

describe("exports", () => {
  it("reports each form of declaration that only its package uses", () => {
    const module = [
      "export const a = 1",
      "export const { b, c: [d] } = a",
      "export function e() {}",
      "export class F {}",
      "export interface G {}",
      "export type H = 1",
      "export enum I {}",
      "const j = 1",
      "export { j as k }"
    ].join("\n")
    const own = {
      "packages/gym/src/Own.ts": 'import * as Gym from "./Gym.ts"\nGym.a',
      "packages/gym/test/a.ts": "Gym.a"
    }
    expect(names(module, own)).toEqual([
      "Gym.a",
      "Gym.b",
      "Gym.d",
      "Gym.e",
      "Gym.F",
      "Gym.G",
      "Gym.H",
      "Gym.I",
      "Gym.k"
    ])
  })

  it("names what to do", () => {
    const files = new Map([
      ["packages/gym/src/index.ts", 'export { a } from "./Gym.ts"'],
      ["packages/gym/src/Gym.ts", "export const a = 1"]
    ])
    expect(unused([gym], files)).toEqual([
      "packages/gym/src/Gym.ts: @divisi/gym exports a, but only @divisi/gym uses it. Do not export it, mark it @internal, or give it an example."
    ])
  })

  it.each([
    ["a named import", 'import { make } from "@divisi/gym/Gym"'],
    ["a renamed import", 'import { make as gym } from "@divisi/gym/Gym"'],
    ["an import of its module", 'import * as G from "@divisi/gym/Gym"\nG.make()'],
    ["an import of the package's namespace", 'import { Gym } from "@divisi/gym"\nGym.make()'],
    ["a namespace in a namespace", 'import * as all from "@divisi/gym"\nall.Gym.make()'],
    ["a pattern", 'import { Gym } from "@divisi/gym"\nconst { make } = Gym'],
    ["a type", 'import type * as G from "@divisi/gym/Gym"\nlet a: ReturnType<typeof G.make>'],
    ["a module that is loaded on demand", 'const { Gym } = await import("@divisi/gym")\nGym.make()'],
    ["the type of a module", 'declare const gym: typeof import("@divisi/gym")\ngym.Gym.make()'],
    ["an export", 'export { make } from "@divisi/gym/Gym"']
  ])("finds uses through %s", (_, text) => {
    const module = "export const make = () => 1"
    expect(names(module, { "packages/cli/src/A.ts": text })).toEqual([])
    // Tests of the package do not count.
    expect(names(module, { "packages/gym/test/A.ts": text })).toEqual(["Gym.make"])
  })

  it("finds the uses of a module that another file of the package loads", () => {
    const loads = 'export const load = () => import("@divisi/gym")'
    const uses = 'import { load } from "./Load.ts"\nconst { Gym } = await load()\nGym.make()'
    const module = "export const make = () => 1\nexport const other = 1"
    expect(names(module, { "packages/cli/src/Load.ts": loads, "packages/cli/src/A.ts": uses })).toEqual(["Gym.other"])
  })

  it("does not take equal names of others for uses", () => {
    const text = 'import { Gym } from "@divisi/gym"\nimport { make } from "./Own.ts"\nmake()\nOther.make()\nGym.run()'
    expect(names("export const make = 1\nexport const run = 2", { "packages/cli/src/A.ts": text })).toEqual([
      "Gym.make"
    ])
  })

  it.each([
    ["pages", { "docs/gym.md": "Call `Gym.make()`." }],
    ["the readme of the package, without the module", { "packages/gym/README.md": "| `make` | makes |" }],
    ["code on pages", { "docs/gym.md": '```ts\nimport { Gym } from "@divisi/gym"\nGym.make()\n```' }],
    [
      "examples",
      { "packages/gym/src/B.ts": '/**\n * ```ts\n * import { Gym } from "@divisi/gym"\n * Gym.make()\n * ```\n */' }
    ]
  ])("counts %s", (_, files) => {
    expect(names("export const make = () => 1", files)).toEqual([])
  })

  it("does not count a name in another package's readme", () => {
    expect(names("export const make = () => 1", { "packages/cli/README.md": "`make`" })).toEqual(["Gym.make"])
  })

  it("counts names in signatures of used names, in any number of steps, but not in bodies", () => {
    const module = [
      'import type { Deep } from "./deep.ts"',
      "export interface Options { readonly inner: Inner }",
      "export interface Inner extends Base { readonly deep: Deep }",
      "export interface Base {}",
      "export interface Unrelated {}",
      "export const make = (options: Options) => { const hidden: Unrelated = options; return hidden }",
      "export class Late { value: Value; method(): Result { return new Body() } }",
      "export type Value = 1; export type Result = 1; export class Body {}"
    ].join("\n")
    const files = {
      "packages/gym/src/deep.ts": "export interface Deep { readonly leap: 1 }",
      "docs/gym.md": "`Gym.make` `Gym.Late`"
    }
    expect(names(module, files)).toEqual(["Gym.Unrelated", "Gym.Body"])
  })

  it("counts types in signatures of other files, which the published declarations need", () => {
    const module = "export interface State {}\nexport const none: State = {}"
    const text = 'import { none, type State } from "../Gym.ts"\nexport const run = (state: State = none) => 1'
    expect(names(module, { "packages/gym/src/internal/run.ts": text })).toEqual(["Gym.none"])
    expect(names(module, { "packages/gym/src/internal/run.ts": text.replace("export const", "const") })).toEqual([
      "Gym.State",
      "Gym.none"
    ])
  })

  it("leaves out @internal names, and re-exports of them", () => {
    const module =
      '/**\n * Text.\n *\n * @internal\n */\nexport const a = 1\n/** @internal */\nexport { b } from "./b.ts"'
    expect(names(module, { "packages/gym/src/b.ts": "export const b = 1" })).toEqual([])
  })

  it("leaves out error classes, and names of other packages", () => {
    const core: Subject = {
      name: "@divisi/core",
      folder: "packages/core",
      entries: new Map([["@divisi/core", "packages/core/src/index.ts"]])
    }
    const files = new Map([
      ["packages/gym/src/index.ts", 'export class GymError {}\nexport { other } from "@divisi/core"'],
      ["packages/core/src/index.ts", "export const other = 1"]
    ])
    expect(unused([gym, core], files)).toEqual([])
  })
})
