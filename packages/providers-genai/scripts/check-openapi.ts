/**
 * Checks every request body that this package sends against Google's published OpenAPI description.
 *
 *   node --conditions=@divisi/source scripts/check-openapi.ts PATH
 *
 * PATH is what https://generativelanguage.googleapis.com/$discovery/OPENAPI3_0?version=v1beta answers.
 */
import { GoogleGenerateContent, OpenApi, type ProviderContract } from "@divisi/testkit/providers"
import { genai } from "../src/index.ts"

const models = [
  "gemini-3.8-flash",
  "gemini-3.1-pro-preview",
  "gemini-2.5-flash",
  "gemini-2.0-flash",
  "gemini-of-tomorrow"
]

const subjects: ReadonlyArray<ProviderContract.Options> = models.map((model) => ({
  name: `genai("${model}")`,
  dialect: GoogleGenerateContent.dialect,
  make: ({ defaults, ...connection }) => genai(model, { ...defaults, ...connection })
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
