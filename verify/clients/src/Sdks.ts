/** Node SDKs. Each program in `sdks/` checks one of them and prints the results. */
import { type Check, type Report, run } from "./Check.ts"
import { folder, versionOf } from "./Folders.ts"

const packages: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "@anthropic-ai/sdk",
  "ai-sdk": "ai",
  langchain: "@langchain/openai"
}

/** The SDKs that are checked. */
export const names = Object.keys(packages)

/** Checks one. */
export const check = async (name: string, url: string): Promise<Report> => {
  const finished = await run([process.execPath, `${name}.mjs`, url], { cwd: folder("sdks"), seconds: 120 })
  const version = versionOf("sdks", packages[name]!)
  const client = `${packages[name]} (Node)`
  try {
    const checks: ReadonlyArray<Check> = JSON.parse(finished.stdout.trimEnd().split("\n").at(-1) ?? "")
    return { client, version, checks }
  } catch {
    return { client, version, checks: [{ name: "it runs", isPassed: false, detail: finished.output.slice(-3_000) }] }
  }
}
