/** JSON Schemas of clients whose references expand without end stop nothing on any wire. */
import { assert, describe, expect, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const question = [{ role: "user", content: "Greet" }]

const doubling = (keyword: string, under: string) => {
  const target = (at: number) => ({ $ref: `#/${under}/d${at}` })
  const levels = Array.from({ length: 40 }, (_, at) => [`d${at}`, { [keyword]: [target(at + 1), target(at + 1)] }])
  return { ...target(0), [under]: { ...Object.fromEntries(levels), d40: { type: "number" } } }
}

const schemas: ReadonlyArray<object> = [
  ...["anyOf", "oneOf", "allOf", "prefixItems"].map((keyword) => doubling(keyword, "$defs")),
  doubling("anyOf", "definitions"),
  { $ref: "#" }
]

const requests = (schema: object): ReadonlyArray<readonly [path: string, body: object]> => [
  [
    "chat/completions",
    { messages: question, response_format: { type: "json_schema", json_schema: { name: "s", schema } } }
  ],
  [
    "chat/completions",
    { messages: question, tools: [{ type: "function", function: { name: "f", parameters: schema } }] }
  ],
  ["responses", { input: "Greet", text: { format: { type: "json_schema", name: "s", schema } } }],
  ["responses", { input: "Greet", tools: [{ type: "function", name: "f", parameters: schema }] }],
  ["messages", { max_tokens: 9, messages: question, output_config: { format: { type: "json_schema", schema } } }],
  ["messages", { max_tokens: 9, messages: question, tools: [{ name: "f", input_schema: schema }] }]
]

describe("a schema that expands without end", () => {
  it("is refused as a shape on each wire, passed on as a tool, and stops nothing", () => {
    const a = worker("a", said("here"))
    return serving(alone(a), async ({ client, url }) => {
      for (const schema of schemas) {
        for (const [path, body] of requests(schema)) {
          const response = await fetch(`${url}/${path}`, {
            method: "POST",
            body: JSON.stringify({ model: "divisi", ...body })
          })
          const { error } = await response.json()
          if ("tools" in body) {
            // The client validates the input of its tools, so their schema is passed on unchanged.
            assert.strictEqual(response.status, 200, path)
            continue
          }
          assert.strictEqual(response.status, 400, path)
          expect(error.message).toMatch(/more than 10000 schemas|endless loop/)
        }
      }
      const answer = await client.chat.completions.create({
        model: "divisi",
        messages: [{ role: "user", content: "?" }]
      })
      assert.strictEqual(answer.choices[0]?.message.content, "here")
    })
  })
})
