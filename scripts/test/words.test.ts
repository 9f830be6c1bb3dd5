import { describe, expect, it } from "vitest"
import { problemsOf, read } from "../checks/words.ts"

const found = (file: string, text: string) =>
  read(file, text).findings.map(({ found, kind, line }) => `${line} ${kind} ${found}`)

describe("words", () => {
  it("finds idiom in pages, with its line", () => {
    expect(found("docs/a.md", "# Runs\n\nA run is fine.\nThe policy is told. It goes on.\n")).toEqual([
      "4 idiom told",
      "4 idiom goes on"
    ])
    expect(found("docs/a.md", "| a | b |\n|---|---|\n| x | the answer is kept |\n")).toEqual(["3 idiom kept"])
  })

  it("finds sentences that begin with a free relative, but no questions and no headings", () => {
    expect(found("docs/a.md", "## What it costs\n\nWhat is it? What is full is evicted. Who plans decides.")).toEqual([
      "3 relative What",
      "3 relative Who"
    ])
  })

  it("finds long sentences in guides alone", () => {
    const long = `It is ${"very ".repeat(34)}long.`
    expect(found("docs/a.md", long)).toEqual(["1 long 37 words"])
    expect(found("docs/decisions/1.md", long)).toEqual([])
  })

  it("reads comments, docstrings and strings of programs", () => {
    const code = [
      "/** Whoever asks is told. */",
      "const pattern = /[/*]'/ // somebody",
      "const text = `The $" + "{name} is told of it at once.`",
      "const half = a / b / c // and nobody"
    ].join("\n")
    expect(found("packages/core/src/a.ts", code)).toEqual([
      "1 idiom told",
      "1 idiom Whoever asks",
      "1 idiom Whoever",
      "1 relative Whoever",
      "2 idiom somebody",
      "4 idiom nobody",
      "3 idiom told"
    ])
  })

  it("reads the names of tests, and no other strings of tests", () => {
    const code = 'it.effect("goes on after a crash", () => say("The run is told of it."))'
    expect(found("packages/core/test/a.test.ts", code)).toEqual(["1 idiom goes on"])
  })

  it("skips code, quoted words and what scripts write", () => {
    const page =
      '```ts\n// nobody\n```\n\nDo not write "told" or `told`.\n\n<!-- figures: a -->\nnobody\n<!-- /figures -->\n'
    expect(found("docs/a.md", page)).toEqual([])
  })

  it("leaves words in their plain meaning alone", () => {
    for (const text of [
      "There is no journal.",
      "It is no longer open.",
      "RPM stands for requests per minute.",
      "A stand-in answers.",
      "Tell them apart.",
      "The connection is kept open."
    ]) {
      expect(found("docs/a.md", text)).toEqual([])
    }
  })

  it("fails for a sentence beyond the ceiling, with file, line, sentence and suggestion", () => {
    const { findings } = read("docs/new.md", "The worker is told.")
    const problems = problemsOf("docs/new.md", findings, { idiom: 0, relative: 0, long: 0 })
    expect(problems.join("\n")).toContain(
      'docs/new.md:1: "told" in "The worker is told.". Use: reported, shown, notified.'
    )
    expect(problemsOf("docs/new.md", findings, { idiom: 1, relative: 0, long: 0 })).toEqual([])
  })
})
