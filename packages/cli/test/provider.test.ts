import fs from "node:fs/promises"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { isName, manifestOf, renamed, write } from "../src/provider/New.ts"

const example = fileURLToPath(new URL("../../../examples/provider-plugin", import.meta.url))

describe("names of providers", () => {
  it("are those that a package and a function can have", () => {
    for (const name of ["acme", "acme-models", "a1-2"]) assert.isTrue(isName(name), name)
    for (const name of ["", "Acme", "acme_models", "-acme", "acme-", "../acme", "1acme", "a".repeat(61)]) {
      assert.isFalse(isName(name), name)
    }
  })
})

describe("divisi provider new", () => {
  let folder = ""
  beforeEach(async () => {
    folder = await fs.mkdtemp(path.join(os.tmpdir(), "divisi-provider-"))
  })
  afterEach(() => fs.rm(folder, { recursive: true, force: true }))

  const read = (file: string) => fs.readFile(path.join(folder, file), "utf8")

  it("renames what is called, and not the protocol that is spoken", async () => {
    await write({ name: "acme-models", from: example, to: folder, version: "1.2.3" })
    assert.include(await read("src/worker.ts"), "export const acmeModels = (model: string")
    assert.include(await read("src/worker.ts"), "id = `acme-models:$" + "{model}`")
    assert.include(await read("src/index.ts"), "acmeModels } from")
    assert.include(await read("test/contract.test.ts"), 'import { acmeModels } from "../src/index.ts"')
    assert.include(await read("test/contract.test.ts"), 'name: "acme-models"')
    assert.include(await read("README.md"), 'import { acmeModels } from "divisi-provider-acme-models"')
    assert.include(await read("src/request.ts"), "https://docs.ollama.com/api/chat")
  })

  it("asks for the version of Divisi that wrote it", () => {
    const template = {
      name: "divisi-provider-ollama",
      dependencies: { "@divisi/provider-kit": "^0.0.0" },
      peerDependencies: { "@divisi/core": "^0.0.0", effect: "~4.1.0" },
      devDependencies: { "@divisi/testkit": "^0.0.0" }
    }
    assert.deepInclude(JSON.parse(manifestOf(JSON.stringify(template), "acme", "1.2.3")), {
      name: "divisi-provider-acme",
      dependencies: { "@divisi/provider-kit": "^1.2.3" },
      peerDependencies: { "@divisi/core": "^1.2.3", effect: "~4.1.0" },
      devDependencies: { "@divisi/testkit": "^1.2.3" }
    })
  })

  it("brings the packages of a clone along, and takes them from their files", async () => {
    const from = path.join(folder, "template")
    const to = path.join(folder, "written")
    await fs.cp(example, from, { recursive: true, filter: (file) => !file.includes("node_modules") })
    await fs.rename(path.join(from, "package.json"), path.join(from, "package.json.template"))
    const pack = async (names: ReadonlyArray<string>, into: string) => {
      assert.sameMembers([...new Set(names)], ["@divisi/provider-kit", "@divisi/core", "@divisi/testkit"])
      await fs.mkdir(into, { recursive: true })
      const packed = { "@divisi/provider-kit": "kit.tgz", "@divisi/core": "core.tgz", "@divisi/trainer": "trainer.tgz" }
      for (const file of Object.values(packed)) await fs.writeFile(path.join(into, file), "")
      return packed
    }
    const files = await write({ name: "acme", from, to, version: "1.2.3", pack })
    const manifest = JSON.parse(await fs.readFile(path.join(to, "package.json"), "utf8"))
    assert.deepStrictEqual(manifest.dependencies, { "@divisi/provider-kit": "file:divisi-packages/kit.tgz" })
    assert.include(manifest.devDependencies, {
      "@divisi/core": "file:divisi-packages/core.tgz",
      "@divisi/trainer": "file:divisi-packages/trainer.tgz"
    })
    assert.strictEqual(manifest.peerDependencies["@divisi/core"], "^1.2.3")
    for (const file of files) await fs.access(path.join(to, file))
  })

  it("says nothing of the example's vendor where it says what the project is", () => {
    const readme = renamed("# divisi-provider-ollama\n\nDivisi workers for the models of ollama.\n", "acme")
    assert.strictEqual(readme, "# divisi-provider-acme\n\nDivisi workers for the models of acme.\n")
  })

  it("overwrites nothing", async () => {
    await fs.writeFile(path.join(folder, "README.md"), "mine")
    const written = await write({ name: "acme", from: example, to: folder, version: "1.0.0" }).then(
      () => true,
      () => false
    )
    assert.isFalse(written)
    assert.strictEqual(await read("README.md"), "mine")
  })

  it("leaves no name of the example behind in code that runs", async () => {
    for (const file of ["src/worker.ts", "src/index.ts", "test/contract.test.ts", "README.md"]) {
      const text = renamed(await fs.readFile(path.join(example, file), "utf8"), "acme")
      assert.notMatch(text, /\bollama\b(?!\.com)/, file)
    }
  })
})
