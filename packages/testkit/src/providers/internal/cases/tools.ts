/** Cases for the tools offered to a worker. */
import assert from "node:assert/strict"
import type { Tool } from "@divisi/core"
import type { WorkerRequest } from "@divisi/core/Worker"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertAccepts, assertFails, assertSucceeds, type Subject } from "../subject.ts"

const ok = [Script.answer("ok")]

/** A tool with a schema that all vendors accept. */
export const weather: Tool.ToolDefinition = {
  name: "weather",
  description: "Weather of a city",
  input: {
    type: "object",
    properties: {
      city: { type: "string", description: 'A "name", e.g. Köln' },
      days: { type: "integer" },
      unit: { type: "string", enum: ["celsius", "kelvin"] }
    },
    required: ["city", "days", "unit"],
    additionalProperties: false
  }
}

export const clock: Tool.ToolDefinition = {
  name: "Clock_of-2",
  description: "The time",
  input: { type: "object", properties: {}, required: [], additionalProperties: false }
}

const plain = ({ description, input, name }: Tool.ToolDefinition) => ({ name, description, input })

const sentOf = async ({ ask }: Subject, request: Partial<WorkerRequest>) => {
  const outcome = await ask(ok, request)
  assertSucceeds(outcome)
  const [exchange] = outcome.server.exchanges
  assert.ok(exchange)
  return exchange
}

const choice = (id: string, name: string, toolChoice: Tool.ToolChoice, ...may: ReadonlyArray<unknown>): Case => ({
  id: `tool/choice-${id}`,
  name,
  needs: "tools",
  run: async (subject) => {
    const { sent } = await sentOf(subject, { tools: [weather, clock], toolChoice })
    const isSent = [toolChoice, ...may].some((one) => {
      try {
        assert.deepEqual(sent.toolChoice, one)
        return true
      } catch {
        return false
      }
    })
    assert.ok(isSent, `The choice was sent as ${JSON.stringify(sent.toolChoice)}.`)
  }
})

export const tools: ReadonlyArray<Case> = [
  {
    id: "tool/definition",
    name: "tells of a tool: its name, its description and its schema, as they are",
    needs: "tools",
    run: async (subject) => {
      const { sent } = await sentOf(subject, { tools: [weather] })
      assert.deepEqual(sent.tools?.map(plain), [plain(weather)])
    }
  },
  {
    id: "tool/definition-many",
    name: "tells of all tools, in order, also of one without a description",
    needs: "tools",
    run: async (subject) => {
      // Neither required fields nor additionalProperties: a provider that adds them changes what the tool takes.
      const input = { type: "object", properties: { city: { type: "string" } } }
      const { sent } = await sentOf(subject, { tools: [clock, { name: "bare", input }] })
      assert.deepEqual(
        sent.tools?.map(({ name }) => name),
        [clock.name, "bare"]
      )
      assert.deepEqual(sent.tools?.[1]?.input, input)
    }
  },
  {
    id: "tool/none",
    name: "tells of no tools, and makes no choice, where there are none",
    needs: "tools",
    run: async (subject) => {
      for (const request of [{}, { tools: [], toolChoice: "auto", parallelToolCalls: true } as const]) {
        const { sent } = await sentOf(subject, request)
        const { parallelToolCalls, toolChoice, tools } = sent
        assert.deepEqual(
          { tools, toolChoice, parallelToolCalls },
          { tools: undefined, toolChoice: undefined, parallelToolCalls: undefined }
        )
      }
    }
  },
  choice("auto", "lets the model choose whether it asks for a tool", "auto", undefined),
  choice("none", "tells the model that it may ask for none", "none"),
  choice("required", "tells the model that it must ask for one", "required"),
  choice("name", "tells the model which one it must ask for", { name: weather.name }),
  {
    id: "setting/parallelToolCalls",
    name: "passes on parallelToolCalls, or rejects it by name",
    needs: "tools",
    run: async ({ ask, options }) => {
      const expectation = options.settings?.parallelToolCalls ?? "passed"
      for (const parallelToolCalls of [false, true]) {
        const outcome = await ask(ok, { tools: [weather], parallelToolCalls })
        // A setting equal to the vendor's default need not be sent.
        if (expectation !== "passed" && expectation.type === "rejected" && !parallelToolCalls) {
          assert.match(assertFails(outcome, "InvalidRequest").message, /parallel/i, "The error must name the setting.")
          assert.equal(outcome.server.exchanges.length, 0, "A rejected request must not be sent.")
          continue
        }
        assertAccepts(outcome, "parallelToolCalls")
        const sent = outcome.server.exchanges[0]?.sent.parallelToolCalls
        if (expectation === "passed") assert.ok(sent === parallelToolCalls || (parallelToolCalls && sent === undefined))
      }
    }
  },
  {
    id: "tool/refused-schema",
    name: "fails with InvalidRequest, after one request, where the vendor refuses a schema",
    needs: "tools",
    run: async ({ ask }) => {
      const input = { type: "object", properties: { a: { $ref: "#/$defs/nowhere" } } }
      const outcome = await ask([Script.refusal("invalid-request", { echo: "the schema of odd is wrong" })], {
        tools: [{ name: "odd", input }]
      })
      const { message } = assertFails(outcome, "InvalidRequest")
      assert.match(message, /the schema of odd is wrong/)
      assert.equal(outcome.server.exchanges.length, 1)
    }
  }
]
