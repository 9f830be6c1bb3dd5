import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"

const packages = path.join(import.meta.dirname, "../..")

/** Returns the source that an import names, or `undefined` for third-party packages. */
const sourceOf = (specifier: string, from: string): string | undefined => {
  if (specifier.startsWith(".")) return path.join(path.dirname(from), specifier)
  const [, name, module] = /^@divisi\/([^/]+)\/?(.*)$/.exec(specifier) ?? []
  if (name === undefined) return undefined
  const { exports } = JSON.parse(fs.readFileSync(path.join(packages, name, "package.json"), "utf8"))
  return path.join(packages, name, exports[module === "" ? "." : `./${module}`]["@divisi/source"])
}

/** Every module of ours that a module loads, and everything else that these name. */
const loadedBy = (entry: string) => {
  const sources = new Set([entry])
  const others = new Set<string>()
  for (const source of sources) {
    for (const [, type, specifier] of fs
      .readFileSync(source, "utf8")
      .matchAll(/^(?:import|export)\s+(type\s)?[^"']*?from "([^"]+)"/gm)) {
      if (type !== undefined) continue
      const found = sourceOf(specifier!, source)
      if (found === undefined) others.add(specifier!)
      else sources.add(found)
    }
  }
  return { sources: [...sources].map((source) => path.basename(source)), others: [...others] }
}

describe("what runs the model", () => {
  it("needs nothing of Node, so it runs in a browser", () => {
    const { others, sources } = loadedBy(path.join(import.meta.dirname, "../src/ModelWorker.ts"))
    assert.includeMembers(sources, ["Decoder.ts", "kernels.ts", "WorkflowGrammar.ts", "Worker.ts"])
    const strange = others.filter((name) => !name.startsWith("effect/") && name !== "tinyqueue")
    assert.deepStrictEqual(strange, [])
  })
})
