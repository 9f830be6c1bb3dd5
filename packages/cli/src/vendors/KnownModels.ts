/**
 * Descriptions of well-known models, so that a policy can choose among models specified on the command line, and a
 * model name without its vendor can be resolved. The descriptions are general expectations; `--profiles` provides
 * measured strengths.
 */

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

/** Returns the name with the vendor that serves the model under this name, or with Ollama if several vendors do. */
export const fullName = (model: string): string | undefined => {
  const family = families.find(({ models }) => models.test(bareName(model)))
  return family === undefined ? undefined : `${family.vendor ?? "ollama"}:${model}`
}
