import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "../../src/providers.ts"

const description = {
  openapi: "3.1.0",
  paths: {
    "/chat/completions": {
      post: { requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Request" } } } } }
    },
    "/models/{model}:generate": {
      post: { requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Sampling" } } } } }
    }
  },
  components: {
    schemas: {
      Request: {
        allOf: [
          { $ref: "#/components/schemas/Sampling" },
          { type: "object", required: ["model"], properties: { model: { type: "string" } } }
        ]
      },
      Sampling: {
        type: "object",
        properties: {
          temperature: { type: "number", minimum: 0, exclusiveMinimum: true, nullable: true },
          stop: { nullable: true, oneOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
          tool: {
            oneOf: [
              { type: "object", required: ["name"] },
              { type: "object", required: ["type"] }
            ]
          }
        }
      }
    }
  }
}

const request = (body: unknown, path = "/v1/chat/completions?beta=true") => ({
  method: "POST",
  path,
  headers: {},
  text: JSON.stringify(body),
  body
})

const problems = (...requests: Parameters<typeof OpenApi.check>[1]) => OpenApi.check(description, requests).problems

describe("OpenApi", () => {
  it("passes what is described, nullable fields of 3.0 included", () => {
    const good = [{ model: "m" }, { model: "m", temperature: null, stop: ["a"] }, { model: "m", stop: null }]
    const report = OpenApi.check(
      description,
      good.map((body) => request(body))
    )
    assert.deepStrictEqual(report, { checked: 3, problems: [] })
  })

  it("names the field that is not as described", () => {
    assert.match(problems(request({ model: "m", temperature: "hot" }))[0] ?? "", /\/temperature must be number/)
    assert.match(problems(request({ model: "m", temperature: 0 }))[0] ?? "", /\/temperature must be > 0/)
    assert.match(problems(request({}))[0] ?? "", /must have required property 'model'/)
  })

  it("names a field that the description does not know, though it allows others", () => {
    assert.match(problems(request({ model: "m", tempreature: 1 }))[0] ?? "", /no field "tempreature"/)
  })

  it("passes what fits several forms that the description lists, and not what fits none", () => {
    assert.deepStrictEqual(problems(request({ model: "m", tool: { name: "clock", type: "function" } })), [])
    assert.match(problems(request({ model: "m", tool: {} })).join("\n"), /\/tool must match a schema in anyOf/)
  })

  it("finds paths with parameters, and misses those that are not there", () => {
    assert.deepStrictEqual(problems(request({ temperature: 1 }, "/v1beta/models/gemini:generate?alt=sse")), [])
    assert.match(problems(request({}, "/v1/completions"))[0] ?? "", /no such path/)
  })
})
