/**
 * Writes the model file's figures into model/card.json, and CARD.md from it.
 *
 *     node --conditions=@divisi/source packages/policy-tiny/scripts/card.ts
 *
 * Both follow from model/divisi-tiny.gguf and the rest of model/card.json, so they cannot disagree; a test holds them to
 * it.
 */
import { createHash } from "node:crypto"
import fs from "node:fs"
import * as ModelCard from "../src/ModelCard.ts"

const at = (name: string) => new URL(`../${name}`, import.meta.url)

const model = fs.readFileSync(at("model/divisi-tiny.gguf"))

const card = ModelCard.decodeUnsafe({
  ...JSON.parse(fs.readFileSync(at("model/card.json"), "utf8")),
  file: {
    name: "divisi-tiny.gguf",
    bytes: model.length,
    sha256: createHash("sha256").update(model).digest("hex")
  }
})

fs.writeFileSync(at("model/card.json"), `${JSON.stringify(card, undefined, 2)}\n`)
fs.writeFileSync(at("CARD.md"), ModelCard.markdown(card))
