/**
 * Checks every request body that this package sends against OpenAI's published OpenAPI description.
 *
 *   node --conditions=@divisi/source scripts/check-openapi.ts PATH
 *
 * PATH is `openapi.json` or `openapi.yaml` of https://github.com/openai/openai-openapi.
 */
import { OpenAiChat, OpenAiResponses, OpenApi, type ProviderContract } from "@divisi/testkit/providers"
import { openai, openaiChat } from "../src/index.ts"

const models = ["gpt-5.4", "gpt-5", "gpt-4.1", "o3", "a-model-of-tomorrow"]

const subjects: ReadonlyArray<ProviderContract.Options> = models.flatMap((model) => [
  {
    name: `openai("${model}")`,
    dialect: OpenAiResponses.dialect,
    make: ({ baseURL, defaults, ...rest }) =>
      openai(model, { baseURL: `${baseURL}/v1`, reasoningSummary: "auto", ...defaults, ...rest })
  },
  {
    name: `openaiChat("${model}")`,
    dialect: OpenAiChat.dialect,
    make: ({ baseURL, defaults, ...rest }) => openaiChat(model, { baseURL: `${baseURL}/v1`, ...defaults, ...rest })
  }
])

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
