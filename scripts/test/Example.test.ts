import { describe, expect, it } from "vitest"
import { extract, toRunnable } from "../documentation/Example.ts"

const example = (code: string, line = 1) => ({ file: "A.ts", line, code, isRun: true })

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

describe("extract", () => {
  it("takes the code of a docstring, with the line on which it begins", () => {
    expect(extract("add.ts", docstring)).toEqual([
      { file: "add.ts", line: 6, code: 'import { add } from "./add.ts"\n\nadd(1, 2) // => 3\n', isRun: true }
    ])
  })

  it("takes blocks of a page, those of a list item too, and leaves other languages alone", () => {
    const page =
      "```sh\nnpm start\n```\n\n- so:\n\n  ```ts\n  if (true) {\n    f()\n  }\n  ```\n\n```ts no-run\ng()\n```\n"
    expect(extract("page.md", page)).toEqual([
      { file: "page.md", line: 8, code: "if (true) {\n  f()\n}\n", isRun: true },
      { file: "page.md", line: 14, code: "g()\n", isRun: false }
    ])
  })
})

describe("toRunnable", () => {
  it.each([
    ["an expression", "f(1) // => [1]", ";__claim(f(1), ([1]), 1);"],
    ["an awaited expression", "await f() // => 1", ";__claim(await f(), (1), 1);"],
    ["a logged value", "console.log(f()) // => 1", ";__claim(f(), (1), 1);"],
    ["a constant", "const a = f() // => 1", "const a = f() ;__claim(a, (1), 1);"]
  ])("checks %s", (_, code, runnable) => {
    expect(toRunnable(example(`${code}\n`))).toEqual({ code: `${runnable}\n`, claims: 1, idle: [] })
  })

  it("keeps lines where they are and counts from the line of the file", () => {
    const { code } = toRunnable(example("f(\n  1\n)\ng() // => 2\n", 10))
    expect(code).toBe("f(\n  1\n)\n;__claim(g(), (2), 13);\n")
  })

  it("takes a claim in a text for text", () => {
    expect(toRunnable(example('f("// => 1")\n')).claims).toBe(0)
  })

  it("reports a claim that nothing can be asked about", () => {
    expect(toRunnable(example("// => 1\nimport { a } from 'a' // => 2\n")).idle).toEqual([1, 2])
  })
})
