import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { extract } from "../documentation/Block.ts"
import { calls, commands, consoleProblems, matches } from "../documentation/Console.ts"

const page = (text: string) => extract("page.md", text)

describe("commands", () => {
  it("are the lines with a dollar, with the output below them and lines that go on", () => {
    const [block] = page("```console\n$ a \\\n  b\none\n\ntwo\n$ c\n```\n")
    expect(commands(block!)).toEqual([
      { line: 2, text: "a \\\n  b", output: "one\n\ntwo" },
      { line: 7, text: "c", output: "" }
    ])
  })
})

describe("matches", () => {
  it.each([
    ["the same text", "a\nb", "a\nb\n", true],
    ["another text", "a\nb", "a\nc\n", false],
    ["more than is shown", "a", "a\nb\n", false],
    ["any text in a line", "took … of it", "took 3.2 % of it\n", true],
    ["any lines", "a\n…\nd", "a\nb\nc\nd\n", true],
    ["other lengths of time", "a ✓ 306 ms, in 2.4 s", "a ✓ 12 ms, in 11 s\n", true],
    ["other figures", "cost $0.3", "cost $0.4\n", false],
    ["signs that patterns know", "(a+b)*", "(a+b)*\n", true]
  ])("knows %s", (_, shown, printed, expected) => {
    expect(matches(shown, printed)).toBe(expected)
  })
})

describe("consoleProblems", () => {
  it("runs the commands of a page in a folder with its files, and says what is not as shown", async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-"))
    const text = `\`\`\`js title="two.mjs"
console.log(1 + 1)
\`\`\`

\`\`\`console
$ node two.mjs
2
$ node two.mjs
3
$ node three.mjs 2> /dev/null
\`\`\`
`
    const { passed, problems } = await consoleProblems(page(text), folder, {})
    fs.rmSync(folder, { recursive: true })
    expect(passed).toBe(1)
    expect(problems.map((problem) => problem.split("\n")[0])).toEqual([
      "page.md:8: `node two.mjs` prints something else:",
      "page.md:10: `node three.mjs 2> /dev/null` ended with 1:"
    ])
  })

  it("has the lines of both outputs in the order in which they were printed", async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-"))
    const turns = Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? `out ${at}` : `error ${at}`))
    const command = "for i in $(seq 0 2 198); do echo out $i; echo error $((i + 1)) >&2; done"
    const text = `\`\`\`console\n$ ${command}\n${turns.join("\n")}\n\`\`\`\n`
    const { problems } = await consoleProblems(page(text), folder, {})
    fs.rmSync(folder, { recursive: true })
    expect(problems).toEqual([])
  })
})

describe("calls", () => {
  it("are those of divisi, with their words, flags and questions", () => {
    const text = `\`\`\`sh
npm start -- "What is 6 times 7?"
cat a.txt | npx divisi run - --json | tail -1   # with --comment
divisi train export runs/mine --to gguf
divisi run "… --not-a-flag" --policy single:0
pnpm --filter @divisi/tiny-conductor headroom --table
\`\`\`
`
    expect(
      calls(page(text)).map(({ flags, line, question, words }) => [line, words.join(" "), flags, question])
    ).toEqual([
      [2, "run", [], "What is 6 times 7?"],
      [3, "run", ["--json"], undefined],
      [4, "train export", ["--to"], undefined],
      [5, "run", ["--policy"], undefined]
    ])
  })
})
