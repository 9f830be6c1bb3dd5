/** Cases for the shape that an answer must have. */
import assert from "node:assert/strict"
import type { Tool } from "@divisi/core"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertAccepts, assertFails, assertSucceeds, type Subject } from "../subject.ts"
import { weather } from "./tools.ts"

const city: Tool.JsonSchemaFormat = {
  type: "json-schema",
  name: "city",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, people: { type: "integer" } },
    required: ["name", "people"],
    additionalProperties: false
  }
}

const json = '{"name":"Ulm","people":128928}'

const sentOf = async ({ ask }: Subject, output: Tool.OutputFormat) => {
  const outcome = await ask([Script.answer([json.slice(0, 9), json.slice(9)])], { output })
  const { text } = output.type === "json" ? assertAccepts(outcome, "jsonOutput") : assertSucceeds(outcome)
  assert.deepEqual(JSON.parse(text), JSON.parse(json))
  return outcome.server.exchanges[0]?.sent.output
}

const shaped = (id: string, name: string, run: (subject: Subject) => Promise<void>): Case => ({
  id: `output/${id}`,
  name,
  needs: "jsonSchema",
  run
})

export const shapes: ReadonlyArray<Case> = [
  shaped("text", "asks for no shape where text is asked for", async (subject) => {
    assert.ok([undefined, "text"].includes((await sentOf(subject, { type: "text" }))?.type))
  }),
  shaped("json", "asks for JSON of any shape, or rejects it by name", async (subject) => {
    const expectation = subject.options.settings?.jsonOutput ?? "passed"
    if (expectation === "passed" || expectation.type !== "rejected") {
      const sent = await sentOf(subject, { type: "json" })
      if (expectation === "passed") assert.equal(sent?.type, "json")
      return
    }
    const outcome = await subject.ask([Script.answer(json)], { output: { type: "json" } })
    assert.match(assertFails(outcome, "InvalidRequest").message, /json|output/i)
    assert.equal(outcome.server.exchanges.length, 0, "A rejected request must not be sent.")
  }),
  shaped("json-schema", "asks for JSON of a schema", async (subject) => {
    const sent = await sentOf(subject, city)
    assert.equal(sent?.type, "json-schema")
    assert.deepEqual(sent?.type === "json-schema" && sent.schema, city.schema)
    // Some vendors have no name for a schema.
    assert.ok(sent?.type === "json-schema" && ["", city.name].includes(sent.name), "The schema has another name.")
  }),
  shaped("json-schema-with-tools", "asks for a shape beside tools", async ({ ask }) => {
    const outcome = await ask([Script.answer(json)], { output: city, tools: [weather] })
    assertSucceeds(outcome)
    const { output, tools } = outcome.server.exchanges[0]?.sent ?? {}
    assert.equal(output?.type, "json-schema")
    assert.deepEqual(
      tools?.map(({ name }) => name),
      [weather.name]
    )
  }),
  shaped("no-json", "gives an answer that is not of the shape as it is", async ({ ask }) => {
    for (const text of ["Ulm", '{"name":"Ul']) {
      assert.equal(assertSucceeds(await ask([Script.answer(text)], { output: city })).text, text)
    }
  }),
  shaped("refusal", "says that the model declined to answer in a shape", async ({ ask }) => {
    const { finish } = assertSucceeds(await ask([Script.answer("No.", { ending: "refusal" })], { output: city }))
    assert.equal(finish?.reason, "refusal")
  }),
  shaped("length", "says that an answer in a shape broke off at its limit", async ({ ask }) => {
    const { finish } = assertSucceeds(await ask([Script.answer('{"na', { ending: "length" })], { output: city }))
    assert.equal(finish?.reason, "length")
  }),
  shaped(
    "refused-schema",
    "fails with InvalidRequest, after one request, where a schema is refused",
    async ({ ask }) => {
      const outcome = await ask([Script.refusal("invalid-request", { echo: "the schema city is wrong" })], {
        output: { ...city, schema: { type: "oddity" } }
      })
      assert.match(assertFails(outcome, "InvalidRequest").message, /the schema city is wrong/)
      assert.equal(outcome.server.exchanges.length, 1)
    }
  )
]
