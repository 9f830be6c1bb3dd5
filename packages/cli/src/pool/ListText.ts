/** Formats the output of `divisi pool list`. */
import * as Format from "../view/Format.ts"
import { table, toLeft } from "../view/Table.ts"
import { price } from "./CheckText.ts"
import type { ListedVendor, Listing } from "./List.ts"

const keyOf = ({ keySet, keys, needsKey }: ListedVendor): string => {
  if (keySet !== undefined) return `✓ ${keySet} is set`
  if (!needsKey) return "✓ no key needed"
  return `✗ set ${keys.join(" or ")}`
}

const vendorsOf = ({ vendors }: Listing): string =>
  table(
    [
      ["vendor", "key", "base URL"],
      ...vendors.map((one) => [one.name, keyOf(one), one.baseUrlSet === undefined ? "" : `of ${one.baseUrlSet}`])
    ],
    toLeft
  )

const serversOf = ({ servers }: Listing): string =>
  servers.length === 0
    ? "No model server responds on this machine (Ollama, vLLM, SGLang, llama-server, LM Studio)."
    : table(
        [
          ["on this machine", "models"],
          ...servers.map(({ baseURL, models, vendor }) => [
            `${vendor} at ${baseURL}`,
            models.map((model) => `${vendor}:${model}`).join(", ") || "none"
          ])
        ],
        toLeft
      )

const modelsOf = ({ models }: Listing): string =>
  models.length === 0
    ? "No prices are known. Install vendor packages, such as @divisi/providers-openai, to get their list prices."
    : table(
        [
          ["model", "in / out per million", "as of", ""],
          ...models.map(({ date = "", description = "", inputPerMillion, name, outputPerMillion }) => [
            name,
            [inputPerMillion, outputPerMillion].map((usd) => Format.cost(usd)).join(" / "),
            date,
            description
          ])
        ],
        toLeft
      )

const configOf = ({ config: { file, policy, workers } }: Listing): string => {
  if (file === undefined)
    return "There is no config. Without --pool, the built-in demo workers (the offline gym) are used."
  if (workers.length === 0)
    return `${file} has no pool. Without --pool, the built-in demo workers (the offline gym) are used.`
  const rows = workers.map(({ description = "", id, pricing }) => [id, price(pricing), description])
  const plan = policy === undefined ? "" : `\nPolicy: ${policy}`
  return `${table([[`worker of ${file}`, "in / out per million", ""], ...rows], toLeft)}${plan}`
}

/** Formats each section of the listing as a table. */
export const text = (listing: Listing): string =>
  [configOf(listing), vendorsOf(listing), serversOf(listing), modelsOf(listing)].join("\n\n")
