/**
 * Checks every request body that this package sends against Anthropic's published OpenAPI description.
 *
 *   node --conditions=@divisi/source scripts/check-openapi.ts PATH
 *
 * PATH is the description whose address is `openapi_spec_url` in
 * https://github.com/anthropics/anthropic-sdk-typescript/blob/main/.stats.yml.
 */
import { AnthropicMessages, OpenApi, type ProviderContract } from "@divisi/testkit/providers"
import { anthropic } from "../src/index.ts"

const models = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-4-6", "claude-haiku-4-5", "claude-of-tomorrow"]

const subjects: ReadonlyArray<ProviderContract.Options> = models.map((model) => ({
  name: `anthropic("${model}")`,
  dialect: AnthropicMessages.dialect,
  make: ({ defaults, ...connection }) =>
    anthropic(model, { promptCache: "conversation", promptCacheFor: "1h", ...defaults, ...connection })
}))

const [path] = process.argv.slice(2)
if (path === undefined) {
  console.error("Usage: check-openapi.ts PATH-OF-OPENAPI-DESCRIPTION")
  process.exit(2)
}

const description = await OpenApi.read(path)
let failures = 0
for (const subject of subjects) {
  const { checked, problems } = OpenApi.check(description, await OpenApi.requestBodies(subject))
  failures += problems.length
  console.log(`${subject.name}: ${checked} bodies, ${problems.length} problems`)
  for (const problem of problems) console.log(`  ${problem}`)
}
process.exitCode = failures === 0 ? 0 : 1
