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
      peerDependencies: { "@divisi/core": "^0.0.0", effect: "~4.1.0" },
      devDependencies: { "@divisi/testkit": "^0.0.0" }
    }
    assert.deepInclude(JSON.parse(manifestOf(JSON.stringify(template), "acme", "1.2.3")), {
      name: "divisi-provider-acme",
      peerDependencies: { "@divisi/core": "^1.2.3", effect: "~4.1.0" },
      devDependencies: { "@divisi/testkit": "^1.2.3" }
    })
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
