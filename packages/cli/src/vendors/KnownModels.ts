/**
 * Descriptions of well-known models, so that a policy can choose among models specified on the command line, and a
 * model name without its vendor can be resolved. The descriptions are general expectations; `--profiles` provides
 * measured strengths.
 */
import { Nearest } from "@divisi/core"
import { vendors } from "./Vendors.ts"

const vendorNames = vendors.map(({ name }) => name)

interface Family {
  /** The vendor that serves the model under this name. Not set if several vendors do. */
  readonly vendor?: string | undefined
  readonly models: RegExp
  readonly description: string
}

/** Families in order of precedence: the first match applies. */
const families: ReadonlyArray<Family> = [
  {
    vendor: "openai",
    models: /^gpt-[\d.]+.*nano/,
    description: "Very small, fast and cheap: short questions, extraction, classification."
  },
  {
    vendor: "openai",
    models: /^gpt-[\d.]+.*codex/,
    description: "Programming: writes, reads and fixes code, in long sessions."
  },
  {
    vendor: "openai",
    models: /^(?:gpt-[\d.]+.*mini|o\d.*mini)/,
    description: "Small and cheap: arithmetic, everyday questions, short code, summaries."
  },
  {
    vendor: "openai",
    models: /^(?:gpt-[\d.]+.*pro|o\d-pro)/,
    description: "The hardest questions in mathematics, science and logic; slow and expensive."
  },
  {
    vendor: "openai",
    models: /^(?:gpt-[5-9]|o\d)/,
    description: "Strong at most things: mathematics, science, logic, code, planning, general knowledge."
  },
  {
    vendor: "openai",
    models: /^(?:gpt-4|chatgpt)/,
    description: "General knowledge, writing, translation, conversation."
  },
  {
    vendor: "anthropic",
    models: /^claude.*haiku/,
    description: "Small, fast and cheap: everyday questions, extraction, short code, summaries."
  },
  {
    vendor: "anthropic",
    models: /^claude.*sonnet/,
    description: "Strong at programming, writing, analysis and careful instructions."
  },
  {
    vendor: "anthropic",
    models: /^claude/,
    description: "The hardest programming, research and writing, careful work over a long time; expensive."
  },
  {
    vendor: "google",
    models: /^gemini.*flash-lite/,
    description: "Very small, fast and cheap: short questions, extraction, translation."
  },
  {
    vendor: "google",
    models: /^gemini.*flash/,
    description: "Fast and cheap: everyday questions, summaries of long documents, translation."
  },
  {
    vendor: "google",
    models: /^gemini/,
    description: "Strong at long documents, science, mathematics, many languages, general knowledge."
  },
  { models: /coder|codestral|code/, description: "Programming: writes and fixes code." },
  { models: /math|numina/, description: "Mathematics: calculates and proves, step by step." },
  { models: /(?:^|[-/])r1|reason|think|qwq|magistral/, description: "Reasons at length: mathematics, logic, science." },
  { models: /deepseek/, description: "Strong at mathematics, code and logic, and at most other things." },
  { models: /gpt-oss/, description: "Reasons: mathematics, logic, code." },
  { models: /kimi|glm/, description: "Strong at programming, long documents and planning." },
  { models: /qwen/, description: "General: mathematics, code, Chinese and many other languages." },
  { models: /gemma|phi|smol/, description: "Small and fast: short questions, arithmetic, summaries." },
  { models: /mistral|mixtral|ministral/, description: "General knowledge, writing, European languages." },
  { models: /(?<!^o)llama(?!cpp|-server)/, description: "General knowledge, writing, conversation." }
]

/** Returns the model name without a vendor prefix, which hosts of several vendors' models add. */
const bareName = (model: string): string => model.toLowerCase().replace(/^.*\//, "")

/** Returns the known strengths of a model. `undefined` if the name is unknown. */
export const describe = (vendor: string, model: string): string | undefined =>
  families.find(
    (family) =>
      (family.vendor === undefined || vendor.startsWith(family.vendor) || model.includes("/")) &&
      family.models.test(bareName(model))
  )?.description

/** Names of other programs for a vendor, without separators. */
const aliases: Readonly<Record<string, string>> = {
  gemini: "google",
  googleai: "google",
  googlegenai: "google",
  claude: "anthropic",
  togetherai: "together",
  ollamachat: "ollama",
  hostedvllm: "vllm"
}

const bareVendor = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** Returns the vendor with a name, regardless of case and separators. */
const vendorNamed = (text: string): string | undefined => {
  const bare = bareVendor(text)
  return vendorNames.find((name) => bareVendor(name) === bare) ?? aliases[bare]
}

const familyOf = (model: string): Family | undefined => families.find(({ models }) => models.test(bareName(model)))

/**
 * Returns the name of a model that starts with its vendor, with any separator: `openai/gpt-5`, `OpenAI: gpt-5`,
 * `anthropic.claude-opus-4-1`.
 */
const withVendor = (text: string): string | undefined => {
  for (const { index } of text.matchAll(/[:/.]/g)) {
    const vendor = vendorNamed(text.slice(0, index))
    const model = text.slice(index + 1).trim()
    if (vendor === undefined || model === "") continue
    const family = familyOf(model)
    const isOpen = family !== undefined && family.vendor === undefined
    // Hosts name open models by their makers, e.g. `openai/gpt-oss-120b`.
    return isOpen && text[index] === "/" && families.some((own) => own.vendor === vendor)
      ? `openrouter:${text}`
      : `${vendor}:${model}`
  }
  return undefined
}

/**
 * Returns the model that a wrong name probably refers to, e.g. `openai:gpt-5` for `gpt-5`, `openai/gpt-5` and
 * `opnai:gpt-5`. A model without a vendor gets the vendor that serves it under this name, or Ollama if several vendors
 * do. Returns `undefined` if neither the vendor nor the model is known.
 */
export const fullName = (name: string): string | undefined => {
  // Amazon Bedrock adds a region before the vendor, and a version after the model.
  const text = name.replace(/^(?:us|eu|apac|global)\.(?=anthropic\.)/, "").replace(/(?<=claude.*)-v\d+:\d+$/, "")
  const named = withVendor(text)
  if (named !== undefined) return named
  const cut = text.search(/[:/]/)
  const isPath = text[cut] === "/"
  const before = cut === -1 ? text : text.slice(0, cut)
  const family = familyOf(isPath ? text : before)
  // Makers of open models (`qwen/qwen3-8b`) or hosts (`hf.co/…`).
  if (isPath && family !== undefined && family.vendor === undefined) {
    return `${before.includes(".") ? "ollama" : "openrouter"}:${text}`
  }
  // A digit: a model with its size (`llama3:8b`).
  const vendor = cut === -1 || /\d/.test(before) ? undefined : Nearest.nearest(before, vendorNames)
  if (vendor !== undefined) return `${vendor}:${text.slice(cut + 1)}`
  if (isPath) return fullName(text.slice(cut + 1))
  return family && `${family.vendor ?? "ollama"}:${text}`
}
