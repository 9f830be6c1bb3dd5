import fs from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { isSupported, minimum } from "../setup/node-version.mjs"

describe("isSupported", () => {
  it.each(["v22.19.0", "v22.20.1", "v23.0.0", "v24.1.0"])("takes %s", (version) =>
    expect(isSupported(version)).toBe(true)
  )

  it.each(["v22.18.0", "v20.19.0", "v4.0.0"])("refuses %s", (version) => expect(isSupported(version)).toBe(false))

  it("is what package.json says", () => expect(manifest.engines.node).toBe(`>=${minimum}.0`))

  it("and the newest are tested on three systems", () => {
    const workflow = fs.readFileSync(path.join(import.meta.dirname, "../../.github/workflows/ci.yml"), "utf8")
    expect(workflow).toContain("os: [ubuntu-latest, macos-latest, windows-latest]\n")
    expect(workflow).toContain(`node: ["${minimum}.0", latest]\n`)
  })
})
