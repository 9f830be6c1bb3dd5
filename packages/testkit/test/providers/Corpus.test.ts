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
})
