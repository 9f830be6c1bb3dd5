/** Python clients, each a program or a test suite in `python/`. */
import fs from "node:fs"
import path from "node:path"
import { type Check, ended, type Report, run } from "./Check.ts"
import { folder } from "./Folders.ts"

interface Client {
  /** The package whose version is reported. */
  readonly package: string
  /** The virtual environment that has it; `.venv` by default. */
  readonly environment?: string
  readonly check: (url: string) => Promise<ReadonlyArray<Check>>
}

const program = (env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) =>
  run([".venv/bin/python", ...args], { cwd: folder("python"), env, seconds: 300 })

/** Reads the counts from the last line of a suite's output. */
const suite =
  (file: string) =>
  async (url: string): Promise<ReadonlyArray<Check>> => {
    const env = { DIVISI_URL: url, LANGSMITH_TRACING: "false" }
    // One event loop: the SDK keeps its connections from test to test.
    const options = ["-q", "-o", "asyncio_mode=auto", "-o", "asyncio_default_test_loop_scope=session"]
    const finished = await program(env, "-m", "pytest", ...options, "-p", "no:cacheprovider", file)
    const last = finished.stdout.trimEnd().split("\n").at(-1) ?? ""
    const count = (what: string) => Number(new RegExp(`(\\d+) ${what}`).exec(last)?.[1] ?? 0)
    return [
      ...Array.from({ length: count("passed") }, (_, at): Check => ({ name: `passed ${at + 1}`, isPassed: true })),
      ...(finished.code === 0 ? [] : [ended("no test fails", finished)])
    ]
  }

const single =
  (file: string, environment = ".venv") =>
  async (url: string): Promise<ReadonlyArray<Check>> => {
    const command = [`${environment}/bin/python`, file, url] as const
    // LiteLLM fetches its table of prices otherwise.
    const env = { LITELLM_LOCAL_MODEL_COST_MAP: "True" }
    return [ended("it runs to its end", await run(command, { cwd: folder("python"), env, seconds: 300 }))]
  }

/** Several environments, as some frameworks require the SDK of OpenAI from version 3 and others exclude it. */
const environments = {
  recent: ".venv-frameworks",
  older: ".venv-frameworks-older",
  further: ".venv-frameworks-further"
} as const

/** A framework of agents, with its program. */
const framework = (name: string, environment: keyof typeof environments, file: string): Client => ({
  package: name,
  environment: environments[environment],
  check: single(file, environments[environment])
})

/** Requests made of the server's own description: none may be its mistake. */
const fuzzed = async (url: string): Promise<ReadonlyArray<Check>> => {
  const description = url.replace(/\/v1$/, "/openapi.json")
  const options = ["--checks", "not_a_server_error", "--max-examples", "50", "--seed", "1", "--no-color"]
  const command = [".venv/bin/schemathesis", "run", description, ...options] as const
  const finished = await run(command, { cwd: folder("python"), seconds: 600 })
  const counts = /\d+ generated.*/.exec(finished.stdout)?.[0]
  return [ended(`it finds nothing: ${counts ?? "no counts"}`, finished, counts === undefined ? "no counts" : undefined)]
}

const frameworks: Readonly<Record<string, Client>> = {
  "openai-agents": framework("openai_agents", "recent", "openai_agents_client.py"),
  "pydantic-ai": framework("pydantic_ai_slim", "recent", "pydantic_ai_client.py"),
  smolagents: framework("smolagents", "recent", "smolagents_client.py"),
  haystack: framework("haystack_ai", "recent", "haystack_client.py"),
  "llama-index": framework("llama_index_llms_openai_like", "older", "llama_index_client.py"),
  instructor: framework("instructor", "older", "instructor_client.py")
}

/** Frameworks that are also checked on `divisi serve` in front of pools. */
const onPools: Readonly<Record<string, Client>> = {
  litellm: framework("litellm", "further", "litellm_client.py"),
  agno: framework("agno", "further", "agno_client.py"),
  autogen: framework("autogen_ext", "further", "autogen_client.py"),
  "semantic-kernel": framework("semantic_kernel", "further", "semantic_kernel_client.py")
}

const clients: Readonly<Record<string, Client>> = {
  "openai-python": { package: "openai", check: single("openai_client.py") },
  "anthropic-python": { package: "anthropic", check: single("anthropic_client.py") },
  "langchain-tests": { package: "langchain_tests", check: suite("langchain_suite.py") },
  schemathesis: { package: "schemathesis", check: fuzzed },
  llm: { package: "llm", check: single("llm_client.py") },
  ...frameworks,
  ...onPools
}

/** The clients that are checked. */
export const names = Object.keys(clients)

/** Those that are an SDK or a program of its users. */
export const short = ["openai-python", "anthropic-python", "llm"]

/** The frameworks of agents, by the name `more`. */
export const more = [...Object.keys(frameworks), ...Object.keys(onPools)]

/** Those that are also checked in front of pools. */
export const pooled = Object.keys(onPools)

/** The files of requirements that clients need, by the virtual environment that they are installed into. */
export const requirementsOf = (wanted: ReadonlyArray<string>): Readonly<Record<string, ReadonlyArray<string>>> => {
  const environmentsOf = new Set(wanted.map((name) => clients[name]?.environment ?? ".venv"))
  const files = {
    ".venv": wanted.every((name) => [...short, ...more].includes(name))
      ? ["clients.txt"]
      : ["clients.txt", "suites.txt"],
    [environments.recent]: ["frameworks.txt"],
    [environments.older]: ["frameworks-older.txt"],
    [environments.further]: ["frameworks-further.txt"]
  }
  return Object.fromEntries(Object.entries(files).filter(([environment]) => environmentsOf.has(environment)))
}

const versionOf = ({ environment = ".venv", package: name }: Client): string => {
  const libraries = path.join(folder("python"), environment, "lib")
  const packages = path.join(libraries, fs.readdirSync(libraries)[0] ?? "", "site-packages")
  const found = fs.readdirSync(packages).find((entry) => entry.startsWith(`${name}-`) && entry.endsWith(".dist-info"))
  return found?.slice(name.length + 1, -".dist-info".length) ?? "?"
}

/** Checks one. */
export const check = async (name: string, url: string): Promise<Report> => {
  const client = clients[name]!
  return { client: `${client.package} (Python)`, version: versionOf(client), checks: await client.check(url) }
}
