import { createHash } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import * as ModelCard from "../src/ModelCard.ts"
import * as TinyConductor from "../src/TinyConductor.ts"

const inPackage = (name: string) => path.join(import.meta.dirname, "..", name)

describe("what comes with the package", () => {
  it("is where source and build look for it, and is published", () => {
    assert.strictEqual(TinyConductor.file, inPackage("model/divisi-tiny.gguf"))
    const { files } = JSON.parse(fs.readFileSync(inPackage("package.json"), "utf8"))
    assert.includeMembers(files, ["model", "CARD.md"])
  })

  it("has a card that is whole, of this very file, and says on its page what it says", () => {
    const card = ModelCard.decodeUnsafe(TinyConductor.card())
    const model = fs.readFileSync(TinyConductor.file)
    assert.deepStrictEqual(card.file, {
      name: path.basename(TinyConductor.file),
      bytes: model.length,
      sha256: createHash("sha256").update(model).digest("hex")
    })
    assert.strictEqual(fs.readFileSync(inPackage("CARD.md"), "utf8"), ModelCard.markdown(card))
  })
})
