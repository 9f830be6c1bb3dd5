/**
 * `/openapi.json`: describes the server's own endpoints as OpenAPI 3.1. The model endpoints are documented by OpenAI
 * and Anthropic.
 */
import * as Wire from "@divisi/core/Wire"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../wire/Json.ts"
import { forkSchema } from "./Forks.ts"
import * as Operations from "./Operations.ts"
import * as OwnSchemas from "./OwnSchemas.ts"
import { planSchema, priceSchema } from "./PlanPrices.ts"
import { ratedSchema, ratingSchema } from "./Ratings.ts"
import { resumeSchema } from "./Resumes.ts"

// -------------------------------------------------------------------------------------------------------------------
// Schemas
// -------------------------------------------------------------------------------------------------------------------

const named = {
  Run: OwnSchemas.Run,
  WholeRun: OwnSchemas.WholeRun,
  Items: OwnSchemas.Items,
  Runs: OwnSchemas.Runs,
  RunEvent: Wire.RunEvent,
  Fork: forkSchema,
  Resume: resumeSchema,
  Plan: planSchema,
  Price: priceSchema,
  Rating: ratingSchema,
  Rated: ratedSchema,
  Operations: Operations.State,
  Health: OwnSchemas.Health,
  Failure: OwnSchemas.Failure
}

type Name = keyof typeof named

const place = "#/components/schemas/"

/** Returns a schema and its definitions as named components. Definitions are prefixed with the schema's name. */
const entriesOf = (name: string, schema: Schema.Constraint): ReadonlyArray<readonly [string, unknown]> => {
  const document = JSON.stringify(Schema.toJsonSchemaDocument(schema)).replaceAll('"#/$defs/', `"${place}${name}.`)
  const { definitions, schema: own } = JSON.parse(document)
  return [[name, own], ...Object.entries(definitions).map(([key, value]) => [`${name}.${key}`, value] as const)]
}

const schemasOf = (): JsonObject =>
  Object.fromEntries(Object.entries(named).flatMap(([name, schema]) => entriesOf(name, schema)))

const refTo = (name: Name): JsonObject => ({ $ref: `${place}${name}` })

// -------------------------------------------------------------------------------------------------------------------
// Paths
// -------------------------------------------------------------------------------------------------------------------

const content = (schema: JsonObject, type = "application/json"): JsonObject => ({ [type]: { schema } })

const text: JsonObject = { type: "string" }

const failures: Readonly<Record<string, string>> = {
  400: "The request cannot be read.",
  401: "A valid API key is required.",
  403: "The API key or the origin of the request does not allow it.",
  404: "Not found, or owned by another key.",
  413: "The request is too large.",
  429: "A rate limit is exceeded, or a budget is spent.",
  500: "Internal error, or the journal is unavailable."
}

const failing = (...statuses: ReadonlyArray<number>): JsonObject =>
  Object.fromEntries(
    statuses.map((status) => [status, { description: failures[status], content: content(refTo("Failure")) }])
  )

const ok = (description: string, body: JsonObject): JsonObject => ({ 200: { description, content: body } })

const inQuery = ({ description, name, schema }: OwnSchemas.Parameter): JsonObject => ({
  name,
  in: "query",
  description,
  schema: Schema.toJsonSchemaDocument(schema).schema
})

const theRun: JsonObject = {
  name: "id",
  in: "path",
  required: true,
  description: "The id from the response header x-divisi-run",
  schema: { type: "string", minLength: 1 }
}

const paths = (): JsonObject => ({
  "/v1/runs": {
    get: {
      operationId: "listRuns",
      summary: "Lists the runs of the key, newest first",
      parameters: [
        inQuery(OwnSchemas.limit),
        { name: "after", in: "query", description: "Return the runs after the run with this id", schema: text },
        {
          name: "owner",
          in: "query",
          description: "The id of another key, or all; needs the right admin (default: the key itself)",
          schema: text
        }
      ],
      responses: { ...ok("A page of runs", content(refTo("Runs"))), ...failing(400, 401, 403, 429, 500) }
    }
  },
  "/v1/runs/{id}": {
    get: {
      operationId: "getRun",
      summary: "Returns a run with its transcript",
      parameters: [theRun],
      responses: { ...ok("The run", content(refTo("WholeRun"))), ...failing(401, 403, 404, 429, 500) }
    }
  },
  "/v1/runs/{id}/items": {
    get: {
      operationId: "listItems",
      summary: "Lists the items of a step, in their order",
      parameters: [
        theRun,
        { ...inQuery(OwnSchemas.round), required: true },
        { ...inQuery(OwnSchemas.step), required: true },
        inQuery(OwnSchemas.itemLimit),
        { name: "after", in: "query", description: "Return the items after the item with this name", schema: text },
        { name: "run", in: "query", description: "The id of a nested run (default: the run itself)", schema: text }
      ],
      responses: { ...ok("A page of items", content(refTo("Items"))), ...failing(400, 401, 403, 404, 429, 500) }
    }
  },
  "/v1/runs/{id}/events": {
    get: {
      operationId: "followRun",
      summary: "Streams the events of a run as server-sent events until the run ends; each data field is a RunEvent",
      parameters: [
        theRun,
        inQuery(OwnSchemas.from),
        { name: "last-event-id", in: "header", description: "The number of the last event received", schema: text }
      ],
      responses: { ...ok("The events", content(text, "text/event-stream")), ...failing(400, 401, 403, 404, 429, 500) }
    }
  },
  "/v1/runs/{id}/fork": {
    post: {
      operationId: "forkRun",
      summary: "Continues a run from one of its steps, as a new run of the key",
      parameters: [theRun],
      requestBody: { required: true, content: content(refTo("Fork")) },
      responses: {
        ...ok("The answer, in the form of Chat Completions", content({ type: "object" })),
        ...failing(400, 401, 403, 404, 413, 429, 500)
      }
    }
  },
  "/v1/runs/{id}/resume": {
    post: {
      operationId: "resumeRun",
      summary: "Continues a suspended, stopped or failed run of the key",
      parameters: [theRun],
      requestBody: { required: true, content: content(refTo("Resume")) },
      responses: {
        ...ok("The answer, in the form of Chat Completions", content({ type: "object" })),
        ...failing(400, 401, 403, 404, 413, 429, 500)
      }
    }
  },
  "/v1/runs/{id}/price": {
    post: {
      operationId: "pricePlan",
      summary: "Calculates the price of another plan for a round of a run, or of a fork, without a call",
      parameters: [theRun],
      requestBody: { required: true, content: content(refTo("Plan")) },
      responses: { ...ok("The price", content(refTo("Price"))), ...failing(400, 401, 403, 404, 413, 429, 500) }
    }
  },
  "/v1/runs/{id}/cancel": {
    post: {
      operationId: "cancelRun",
      summary: "Stops a run, or ends a suspended one",
      parameters: [theRun],
      responses: { ...ok("The run", content(refTo("Run"))), ...failing(400, 401, 403, 404, 429, 500) }
    }
  },
  "/v1/runs/{id}/rating": {
    post: {
      operationId: "rateRun",
      summary: "Rates an answer",
      parameters: [theRun],
      requestBody: { required: true, content: content(refTo("Rating")) },
      responses: { ...ok("The stored rating", content(refTo("Rated"))), ...failing(400, 401, 403, 404, 413, 429, 500) }
    }
  },
  "/v1/operations": {
    get: {
      operationId: "readOperations",
      summary: "Returns keys with their spending, closed providers, load and machines; needs the right admin",
      responses: { ...ok("The state of the server", content(refTo("Operations"))), ...failing(401, 403, 429, 500) }
    }
  },
  "/health/live": {
    get: {
      operationId: "isLive",
      summary: "Reports whether the process responds",
      security: [],
      responses: ok("The process responds", content(refTo("Health")))
    }
  },
  "/health/ready": {
    get: {
      operationId: "isReady",
      summary: "Reports whether the server accepts requests",
      security: [],
      responses: {
        ...ok("The server accepts requests", content(refTo("Health"))),
        503: {
          description: "The server is shutting down, or its database is unreachable",
          content: content(refTo("Health"))
        }
      }
    }
  },
  "/metrics": {
    get: {
      operationId: "readMetrics",
      summary: "Metrics for Prometheus",
      responses: { ...ok("Metrics", content(text, "text/plain")), ...failing(401, 403, 429) }
    }
  }
})

/** Creates the OpenAPI document. */
export const make = (): JsonObject => ({
  openapi: "3.1.0",
  info: {
    title: "Divisi",
    version: String(Wire.version),
    description: "The server's own endpoints. Models are available through Chat Completions, Responses and Messages."
  },
  // Keys are optional, since a server can run without them.
  security: [{}, { key: [] }],
  paths: paths(),
  components: { securitySchemes: { key: { type: "http", scheme: "bearer" } }, schemas: schemasOf() }
})
