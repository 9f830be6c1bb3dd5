/**
 * Tools of the gym. Questions in the family `stock` are about a warehouse whose contents workers do not know. Workers
 * with the tool look items up; workers without it cannot answer.
 */
import type { Tool } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Stock from "./internal/stock.ts"

/**
 * Looks up an item in the warehouse. Returns the number of units in stock and the unit price.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as GymPool from "@divisi/gym/GymPool"
 * import { GymTools } from "@divisi/gym"
 * import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
 * import * as Effect from "effect/Effect"
 *
 * const conductor = Conductor.make({
 *   policy: LexicalPolicy.make(),
 *   pool: GymPool.make({ latencyMillis: 0, storekeeper: true }),
 *   tools: [GymTools.stock]
 * })
 * const run = conductor.run("How many copper kettles are in stock?")
 * const { answer } = await Effect.runPromise(run)
 * answer // => "6199"
 * ```
 */
export const stock: Tool.Tool<{ readonly article: string }> = {
  name: "stock",
  description: "What the warehouse has in stock of an article: how many pieces, and how many dollars one costs.",
  input: {
    type: "object",
    properties: { article: { type: "string", description: "Its name in the plural, such as copper kettles" } },
    required: ["article"],
    additionalProperties: false
  },
  execute: ({ article }) => {
    const found = Stock.of(article)
    return found === undefined
      ? Effect.fail(`The warehouse has no item "${article.slice(0, 100)}".`)
      : Effect.succeed(found)
  }
}

/** All tools of the gym. */
export const all: ReadonlyArray<Tool.Tool> = [stock]
