import fs from "node:fs"
import { Corpus } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"

describe("the corpus", () => {
  it("has rows of one form: unique ids that begin with their protocol and class, and a source each", () => {
    const ids = Corpus.rows.map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const { class: kind, direction, id, protocol, source, why } of Corpus.rows) {
      assert.isTrue(id.startsWith(`${protocol}/${direction === "request" ? direction : kind}/`), id)
      assert.isTrue(source.number !== undefined || source.repository.startsWith("https://"), id)
      assert.isAbove(source.subject.length, 10, id)
      assert.isAtLeast(why.length, 15, id)
    }
  })

  it("has as many rows of each class as the reference page says", () => {
    const page = fs.readFileSync(new URL("../../../../docs/reference/providers.md", import.meta.url), "utf8")
    const names: Readonly<Record<string, string>> = {
      ending: "endings",
      folding: "folding",
      usage: "usage",
      "null-and-lists": "`null` and lists",
      error: "errors",
      overflow: "overflow",
      thinking: "thinking",
      preference: "preferences",
      encoding: "encodings"
    }
    const answers = Corpus.rows.filter(({ direction }) => direction === "response")
    for (const [kind, name] of Object.entries(names)) {
      const count = answers.filter((row) => row.class === kind).length
      assert.match(page, new RegExp(`^\\| ${name} \\|.*\\| ${count} \\|$`, "m"), `${name}: ${count}`)
    }
    assert.include(page, `there were ${answers.length} rows, and ${Corpus.requestRows.length} rows with requests`)
    const threads = Corpus.rows.filter(({ source }) => source.number !== undefined)
    const distinct = new Set(threads.map(({ source }) => `${source.repository}#${source.number}`))
    assert.include(
      page,
      `${threads.length} of them come from ${distinct.size} public threads, ${Corpus.rows.length - threads.length} from`
    )
  })
})
