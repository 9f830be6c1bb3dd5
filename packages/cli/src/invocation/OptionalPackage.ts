/** Optional packages, which users install as needed. */
import { messageOf } from "./Failure.ts"

const brings: Readonly<Record<string, string>> = {
  "@divisi/cluster": "storage in Postgres for several servers",
  "@divisi/gguf": "GGUF export",
  "@divisi/policy-llamacpp": "local models with llama.cpp",
  "@divisi/providers-anthropic": "Anthropic's models",
  "@divisi/providers-google": "Google's models",
  "@divisi/providers-openai": "OpenAI's models and servers with the Chat Completions API",
  "@divisi/server": "the server",
  "@divisi/tools-mcp": "MCP tools",
  "@divisi/trainer-jax": "the jax engine",
  "@divisi/trainer-tinker": "the Tinker engine"
}

/** Extracts the name of the missing package from an import error. */
const missingIn = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"
    ? /package '([^']+)'/.exec(error.message)?.[1]
    : undefined

/** Formats an error. If a package is missing, the message says how to install it. */
export const explain = (error: unknown): string => {
  const missing = missingIn(error)
  if (missing === undefined) return messageOf(error)
  const what = brings[missing]
  const name = what === undefined ? missing : `${missing} (${what})`
  return `The package ${name} is not installed. Install it next to @divisi/cli: \`npm install ${missing}\`.`
}
