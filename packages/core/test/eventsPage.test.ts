import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { assert, describe, expect, it } from "vitest"
import { events } from "../src/events/RunEvent.schema.ts"
import { isTransient } from "../src/events/RunEvent.ts"

const introduction = `# Events of a run

A run reports everything that happens through one stream of events. The transcript, the terminal view, server-sent events, telemetry and journals are derived from it. \`conduct({ …, onEvent })\` receives each event as it happens, \`divisi run --json\` prints them as JSON Lines, and [\`Wire\`](../../packages/core/README.md) parses such lines.

Each event has \`type\`, \`runId\` and \`at\` (milliseconds since 1970). Rounds, steps, turns, attempts and indices count from 0. Events of a nested run are in the same stream under their own \`runId\`. \`usage\` and \`costUsd\` are what a call used; \`costUsd\` is absent if the price is unknown. A field with \`?\` may be absent.

Within version 1, fields and event types may be added, so ignore those that you do not know.
`

const isOptional = (field: Schema.Top): boolean => SchemaAST.isOptional(field.ast)

const rows = events.map(({ ast, fields }) => {
  const { at: _, runId: __, type, ...own } = fields as Readonly<Record<string, Schema.Top>>
  const names = Object.entries(own).map(([name, field]) => `\`${name}${isOptional(field) ? "?" : ""}\``)
  const { literal } = type as Schema.Literal<string>
  return { type: literal, description: String(ast.annotations?.description), names }
})

const page = [
  introduction,
  "| event | when it is emitted | fields |",
  "|---|---|---|",
  ...rows.map(({ description, names, type }) => `| \`${type}\` | ${description} | ${names.join(", ")} |`),
  ""
].join("\n")

describe("the page of events", () => {
  // `npx vitest run packages/core/test/eventsPage.test.ts -u` writes the page.
  it("lists every event with its fields", async () => {
    await expect(page).toMatchFileSnapshot("../../../docs/reference/events.md")
  })

  it("states for each event whether journals leave it out", () => {
    for (const { description, type } of rows) {
      const isLeftOut = description.includes("Journals do not store it.")
      assert.strictEqual(isLeftOut, isTransient({ type } as Parameters<typeof isTransient>[0]), type)
    }
  })
})
