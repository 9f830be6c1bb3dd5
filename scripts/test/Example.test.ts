import { describe, expect, it } from "vitest"
import { extract, title } from "../documentation/Block.ts"
import { fromBlock, mentions, toRunnable } from "../documentation/Example.ts"

const example = (code: string, line = 1) => ({ file: "A.ts", line, code, isRun: true })

const examples = (file: string, text: string) =>
  extract(file, text)
    .map(fromBlock)
    .filter((one) => one !== undefined)

const docstring = `
/**
 * Adds.
 *
 * \`\`\`ts
 * import { add } from "./add.ts"
 *
 * add(1, 2) // => 3
 * \`\`\`
 */
export const add = (a: number, b: number) => a + b
`

describe("examples", () => {
  it("takes the code of a docstring, with the line on which it begins", () => {
    expect(examples("add.ts", docstring)).toEqual([
      { file: "add.ts", line: 6, code: 'import { add } from "./add.ts"\n\nadd(1, 2) // => 3\n', isRun: true }
    ])
  })

  it("takes blocks of a page, those of a list item too, and leaves other languages alone", () => {
    const page =
      "```sh\nnpm start\n```\n\n- so:\n\n  ```ts\n  if (true) {\n    f()\n  }\n  ```\n\n```ts no-run\ng()\n```\n"
    expect(examples("page.md", page)).toEqual([
      { file: "page.md", line: 8, code: "if (true) {\n  f()\n}\n", isRun: true },
      { file: "page.md", line: 14, code: "g()\n", isRun: false }
    ])
  })

  it("takes a block with a longer fence, which may hold fences itself", () => {
    expect(examples("page.md", '````ts\nf("\n```\n")\n````\n').map(({ code }) => code)).toEqual(['f("\n```\n")\n'])
  })

  it("knows the file that a block shows", () => {
    const [block] = extract("page.md", '```ts no-run title="divisi.config.ts"\nexport default {}\n```\n')
    expect([title(block!), fromBlock(block!)?.isRun]).toEqual(["divisi.config.ts", false])
  })
})

describe("toRunnable", () => {
  it.each([
    ["an expression", "f(1) // => [1]", ";__claim(f(1), ([1]), 1);"],
    ["an awaited expression", "await f() // => 1", ";__claim(await f(), (1), 1);"],
    ["a logged value", "console.log(f()) // => 1", ";__claim(f(), (1), 1);"],
    ["a constant", "const a = f() // => 1", "const a = f() ;__claim(a, (1), 1);"]
  ])("checks %s", (_, code, runnable) => {
    expect(toRunnable(example(`${code}\n`))).toEqual({ code: `${runnable}\n`, claims: [1], faults: [] })
  })

  it("keeps lines where they are and counts from the line of the file", () => {
    const { code } = toRunnable(example("f(\n  1\n)\ng() // => 2\n", 10))
    expect(code).toBe("f(\n  1\n)\n;__claim(g(), (2), 13);\n")
  })

  it("checks a claim behind a template, and one that holds a template", () => {
    const code = `const a = [\`\${f(\`\${1}\`)} and \${2}\`]\na // => [\`1\`]\nf(\`x\`) // => \`\${1}\`\n`
    expect(toRunnable(example(code)).claims).toEqual([2, 3])
  })

  it("checks a claim inside of a function and behind a call of many lines", () => {
    expect(toRunnable(example("const f = () => {\n  g() // => 1\n}\nf(\n  1\n) // => 2\n")).claims).toEqual([2, 6])
  })

  it("takes a claim in a text or a template for text", () => {
    const code = `f("// => 1")\nf(\`// => 1\n  // => 2 \${3} // => 4\`)\n`
    expect(toRunnable(example(code))).toEqual({ code, claims: [], faults: [] })
  })

  it.each([
    ["that stands alone", "// => 1\n"],
    ["behind an import", "import { a } from 'a' // => 2\n"],
    ["behind several names", "const a = 1, b = 2 // => 2\n"],
    ["inside of an expression", "f({\n  a: 1, // => 1\n})\n"],
    ["of no value", "f() // => prints 1\n"],
    ["of two values", "f() // => 1) ; (2\n"],
    ["with more behind it", "f() // => 1 // so it is\n"],
    ["in a comment of another kind", "f() /* => 1 */\n"],
    ["without a space", "f() //=> one or two\n"]
  ])("reports a claim %s", (_, code) => {
    const { claims, faults } = toRunnable(example(code))
    expect([claims.length, faults.length]).toEqual([0, 1])
  })

  it("reports a claim of an example that is not run", () => {
    expect(toRunnable({ ...example("f() // => 1\n", 7), isRun: false }).faults).toEqual([
      { line: 7, message: '"// =>" stands in an example that is not run.' }
    ])
  })
})

describe("mentions", () => {
  it("finds what looks like a claim on a page, but for code in a sentence", () => {
    expect(mentions("page.md", "A `// => value`.\n\n```js\nf() // => 1\n```\nf() //=> 2\n")).toEqual([4, 6])
  })

  it("finds it in the comments of a program, and not in its texts", () => {
    expect(mentions("A.ts", `f("// => 1") // => 2\n/**\n * g() // => 3\n */\nconst a = \`// => \${4}\`\n`)).toEqual([
      1, 3
    ])
  })
})
