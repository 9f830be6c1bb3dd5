/** Suites and schemas that are not available from a registry. The path to a copy must be given. */
import { type Check, type Report, run } from "./Check.ts"
import { folder } from "./Folders.ts"

/** The copies. */
export interface Given {
  /** The compliance suite of Open Responses, bundled into one file for Node. */
  readonly suite?: string | undefined
  /** OpenAI's description of its API, as OpenAPI in JSON. */
  readonly openai?: string | undefined
  /** That of Open Responses. */
  readonly openResponses?: string | undefined
}

const unreadable = (output: string): ReadonlyArray<Check> => [
  { name: "it runs", isPassed: false, detail: output.slice(-3_000) }
]

interface Result {
  readonly id: string
  readonly status: string
  readonly errors?: ReadonlyArray<string> | undefined
}

const checksOf = (output: string): ReadonlyArray<Check> => {
  try {
    const results: ReadonlyArray<Result> = JSON.parse(output).results
    return results.map(({ errors, id, status }) => ({
      name: id,
      isPassed: status === "passed",
      detail: JSON.stringify(errors)
    }))
  } catch {
    return unreadable(output)
  }
}

const suite = async (file: string, url: string): Promise<Report> => {
  const command = [process.execPath, file, "-u", url, "-k", "none", "-m", "divisi", "--json"] as const
  const { stdout } = await run(command, { cwd: folder("sdks"), seconds: 120 })
  return { client: "Open Responses", version: "a copy", checks: checksOf(stdout) }
}

const schemas = async (openai: string, openResponses: string, url: string): Promise<Report> => {
  const command = [process.execPath, "schemas.mjs", url, openai, openResponses] as const
  const { output, stdout } = await run(command, { cwd: folder("sdks"), seconds: 120 })
  let checks: ReadonlyArray<Check>
  try {
    checks = JSON.parse(stdout)
  } catch {
    checks = unreadable(output)
  }
  return { client: "schemas of OpenAI and Open Responses", version: "copies", checks }
}

/** Checks with the copies that are given. */
export const check = async (given: Given, url: string): Promise<ReadonlyArray<Report>> => [
  ...(given.suite === undefined ? [] : [await suite(given.suite, url)]),
  ...(given.openai === undefined || given.openResponses === undefined
    ? []
    : [await schemas(given.openai, given.openResponses, url)])
]
