/** Packages that are installed by those who want what they bring, and no one else. */
import { messageOf } from "./Failure.ts"

const brings: Readonly<Record<string, string>> = {
  "@divisi/cluster": "what several servers keep in Postgres",
  "@divisi/gguf": "the writer of models",
  "@divisi/policy-llamacpp": "local models, which bring llama.cpp",
  "@divisi/providers-anthropic": "Anthropic's models",
  "@divisi/providers-google": "Google's models",
  "@divisi/providers-openai": "OpenAI's models, and those of servers that speak Chat Completions",
  "@divisi/server": "the server",
  "@divisi/tools-mcp": "tools of MCP servers",
  "@divisi/trainer-jax": "the embedded engine, which brings jax-js",
  "@divisi/trainer-tinker": "the engine over the Tinker API"
}

/** The package that an error of an import misses. */
const missingIn = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"
    ? /package '([^']+)'/.exec(error.message)?.[1]
    : undefined

/** Returns the text of an error, and what to install if a package is missing. */
export const explain = (error: unknown): string => {
  const missing = missingIn(error)
  if (missing === undefined) return messageOf(error)
  const what = brings[missing]
  const needs = what === undefined ? `the package ${missing}` : `the package ${missing}: ${what}`
  return `It needs ${needs}. Install it next to @divisi/cli: \`npm install ${missing}\`.`
}
