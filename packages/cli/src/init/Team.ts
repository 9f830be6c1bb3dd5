/** Generates the files that `divisi init` writes: a config, and a script that uses it. */

export type Language = "typescript" | "javascript"

/** A model by vendor and name, as accepted by `--pool`. */
export interface Model {
  readonly vendor: string
  readonly model: string
  /** The address of a model server that does not use its default address. */
  readonly baseURL?: string | undefined
  /** The environment variable with the server's API key, if it is set. */
  readonly keyVariable?: string | undefined
}

/** The generated files, and the packages they need. */
export interface Team {
  readonly config: string
  readonly script: string
  /** The packages imported by the files. */
  readonly packages: ReadonlyArray<string>
}

/** Generates the code that creates a vendor's model. */
interface Maker {
  readonly package: string
  readonly imports: ReadonlyArray<string>
  readonly make: (model: string, baseURL: string | undefined) => string
  /** Whether the price is known or zero, which is required to enforce a limit in USD. */
  readonly isPriced: boolean
  /** Whether usage is free, because the model runs on the user's own server. */
  readonly isFree: boolean
}

const quoted = (text: string): string => JSON.stringify(text)

const described: Readonly<Record<string, string>> = {
  "gpt-6.1-terra": "Small and cheap: everyday questions, arithmetic, summaries",
  "gpt-6.1-sol": "Strong at most things: mathematics, science, logic, code",
  "claude-sonnet-4-6": "Strong at programming, writing and analysis",
  "gemini-3.5-flash-lite": "Fast and cheap: everyday questions, long documents, translation"
}

const called = (constructor: string) => (model: string) => {
  const description = described[model]
  return description === undefined
    ? `${constructor}(${quoted(model)})`
    : `${constructor}(${quoted(model)}, { description: ${quoted(description)} })`
}

const vendor = (name: string): Maker => ({
  package: `@divisi/providers-${name}`,
  imports: [name],
  make: called(name),
  isPriced: true,
  isFree: false
})

const compatible = (preset: string, isLocal: boolean): Maker => ({
  package: "@divisi/providers-openai",
  imports: ["openaiCompatible", "presets"],
  make: (model, baseURL) => {
    const settings = [
      `...presets.${preset}`,
      ...(baseURL === undefined ? [] : [`baseURL: ${quoted(baseURL)}`]),
      `model: ${quoted(model)}`,
      ...(isLocal ? ["pricing: free"] : [])
    ]
    return `openaiCompatible({ ${settings.join(", ")} })`
  },
  isPriced: isLocal,
  isFree: isLocal
})

const makers: Readonly<Record<string, Maker>> = {
  openai: vendor("openai"),
  anthropic: vendor("anthropic"),
  google: vendor("google"),
  deepseek: compatible("deepSeek", false),
  openrouter: compatible("openRouter", false),
  together: compatible("together", false),
  ollama: compatible("ollama", true),
  vllm: compatible("vllm", true),
  sglang: compatible("sglang", true),
  "llama-server": compatible("llamaServer", true),
  "lm-studio": compatible("lmStudio", true)
}

/** Returns the code generator for a server that is not in the list of vendors. */
const ownServer = ({ keyVariable, vendor }: Model): Maker => ({
  package: "@divisi/providers-openai",
  imports: ["openaiCompatible"],
  make: (model, baseURL = "") => {
    const key = keyVariable === undefined ? "" : `, apiKey: { env: ${quoted(keyVariable)} }`
    return `openaiCompatible({ name: ${quoted(vendor)}, baseURL: ${quoted(baseURL)}, model: ${quoted(model)}${key} })`
  },
  isPriced: false,
  isFree: false
})

/** The vendors supported by generated configs. */
export const vendors: ReadonlyArray<string> = Object.keys(makers)

const lines = (...text: ReadonlyArray<string | undefined>): string =>
  `${text.filter((line) => line !== undefined).join("\n")}\n`

/** Returns the default export. Its type is not imported at runtime. */
const exported = (language: Language, fields: string): ReadonlyArray<string> =>
  language === "typescript"
    ? [`const config: Config = { ${fields} }`, "export default config"]
    : ['/** @type {import("@divisi/cli/config").Config} */', `export default { ${fields} }`]

const typeImport = (language: Language) =>
  language === "typescript" ? 'import type { Config } from "@divisi/cli/config"' : undefined

const imported = (names: ReadonlyArray<string>, from: string) =>
  `import { ${[...new Set(names)].sort().join(", ")} } from "${from}"`

const script = (configFile: string, scriptFile: string, question: string): string =>
  lines(
    `/** Asks the team of ${configFile}: node ${scriptFile} "a question" */`,
    'import { conduct } from "@divisi/core/promise"',
    `import { budget, policy, pool } from "./${configFile}"`,
    "",
    `const question = process.argv[2] ?? ${quoted(question)}`,
    "const result = await conduct({ question, pool, policy, budget })",
    'if (result.answer === undefined) console.log("There is no answer:", result.ending, result.detail)',
    "else console.log(result.answer)",
    'console.log(result.spend.calls, "calls, USD", result.spend.costUsd.toFixed(4))'
  )

/** Generates the files for a team of available models. */
const ofModels = (models: ReadonlyArray<Model>, language: Language, configFile: string, scriptFile: string): Team => {
  const made = models.map((one) => ({ ...one, maker: makers[one.vendor] ?? ownServer(one) }))
  const packages = [...new Set(made.map(({ maker }) => maker.package))]
  const isPriced = made.every(({ maker }) => maker.isPriced)
  const core = ["languagePolicy", "single", ...(made.some(({ maker }) => maker.isFree) ? ["free"] : [])]
  const config = lines(
    `/** The team used by \`divisi run\`, \`divisi chat\` and ${scriptFile}. */`,
    typeImport(language),
    imported(core, "@divisi/core/promise"),
    ...packages.map((name) =>
      imported(
        made.filter(({ maker }) => maker.package === name).flatMap(({ maker }) => maker.imports),
        name
      )
    ),
    "",
    "/** The workers. API keys come from the environment. */",
    "export const pool = [",
    made.map(({ baseURL, maker, model }) => `  ${maker.make(model, baseURL)}`).join(",\n"),
    "]",
    "",
    "/** The first model writes the plan, or answers an easy question itself. If its plan is not valid, it answers alone. */",
    "export const policy = languagePolicy({",
    `  model: pool[0]${language === "typescript" ? "!" : ""},`,
    "  prompt: { descriptions: true, mayAnswer: true },",
    "  fallback: single(0)",
    "})",
    "",
    isPriced
      ? "/** Limits of one run, never exceeded. */"
      : "/** Limits of one run, never exceeded. If each model has a price (`pricing`), `costUsd` can be limited as well. */",
    isPriced
      ? "export const budget = { costUsd: 0.5, durationMillis: 300_000 }"
      : "export const budget = { calls: 20, durationMillis: 300_000 }",
    "",
    ...exported(language, "pool, policy, budget")
  )
  const question = "Which is larger, 7 to the power of 5 or 5 to the power of 7, and by how much?"
  return {
    config,
    script: script(configFile, scriptFile, question),
    packages: ["@divisi/core", "effect", ...packages]
  }
}

/** Generates the files if no model is available. The gym's workers compute the answers to its generated questions. */
const ofGym = (language: Language, configFile: string, scriptFile: string): Team => {
  const config = lines(
    `/** The team used by \`divisi run\`, \`divisi chat\` and ${scriptFile}. */`,
    typeImport(language),
    'import * as GymPool from "@divisi/gym/GymPool"',
    'import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"',
    "",
    "/**",
    " * The offline gym: workers that compute answers to its own kinds of questions (dates, units, sums, codes), and no",
    " * others. To use real models, set a key such as OPENAI_API_KEY or start a server such as Ollama, and run",
    " * `divisi init --force`.",
    " */",
    "export const pool = GymPool.make().workers",
    "",
    "export const policy = LexicalPolicy.make()",
    "",
    "/** Limits of one run, never exceeded. The prices of the gym are play money. */",
    "export const budget = { costUsd: 0.5, durationMillis: 300_000 }",
    "",
    "// Without a pool, the command line uses the gym's workers.",
    ...exported(language, "policy, budget")
  )
  return {
    config,
    script: script(configFile, scriptFile, "How many minutes are there in 3 days and 4 hours?"),
    packages: ["@divisi/core", "effect", "@divisi/gym", "@divisi/policy-lexical"]
  }
}

/** Generates the files for the given models, or for the gym if the list is empty. */
export const make = (
  models: ReadonlyArray<Model>,
  { configFile, language, scriptFile }: { language: Language; configFile: string; scriptFile: string }
): Team =>
  models.length === 0 ? ofGym(language, configFile, scriptFile) : ofModels(models, language, configFile, scriptFile)
