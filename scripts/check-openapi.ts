/**
 * Checks every request body that a provider sends against its vendor's published OpenAPI description.
 *
 *     node --conditions=@divisi/source scripts/check-openapi.ts openai|anthropic|google|genai PATH
 *
 * PATH is the description:
 * - openai: `openapi.json` or `openapi.yaml` of https://github.com/openai/openai-openapi
 * - anthropic: the address `openapi_spec_url` in https://github.com/anthropics/anthropic-sdk-typescript/blob/main/.stats.yml
 * - google, genai: the answer of https://generativelanguage.googleapis.com/$discovery/OPENAPI3_0?version=v1beta
 */
import { anthropic } from "../packages/providers-anthropic/src/index.ts"
import { genai } from "../packages/providers-genai/src/index.ts"
import { google } from "../packages/providers-google/src/index.ts"
import { openai, openaiChat } from "../packages/providers-openai/src/index.ts"
import {
  AnthropicMessages,
  GoogleGenerateContent,
  OpenAiChat,
  OpenAiResponses,
  OpenApi,
  type ProviderContract
} from "../packages/testkit/src/providers.ts"

type Subjects = (model: string) => ReadonlyArray<ProviderContract.Options>

const gemini = ["gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.0-flash", "gemini-new"]

const vendors: Readonly<Record<string, { readonly models: ReadonlyArray<string>; readonly subjects: Subjects }>> = {
  openai: {
    models: ["gpt-5.4", "gpt-5", "gpt-4.1", "o3", "a-new-model"],
    subjects: (model) => [
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
    ]
  },
  anthropic: {
    models: ["claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-4-6", "claude-haiku-4-5", "claude-new"],
    subjects: (model) => [
      {
        name: `anthropic("${model}")`,
        dialect: AnthropicMessages.dialect,
        make: ({ defaults, ...connection }) =>
          anthropic(model, { promptCache: "conversation", promptCacheFor: "1h", ...defaults, ...connection })
      }
    ]
  },
  google: {
    models: gemini,
    subjects: (model) => [
      {
        name: `google("${model}")`,
        dialect: GoogleGenerateContent.dialect,
        make: ({ defaults, ...connection }) => google(model, { ...defaults, ...connection })
      }
    ]
  },
  genai: {
    models: gemini,
    subjects: (model) => [
      {
        name: `genai("${model}")`,
        dialect: GoogleGenerateContent.dialect,
        make: ({ defaults, ...connection }) => genai(model, { ...defaults, ...connection })
      }
    ]
  }
}

const [name = "", path] = process.argv.slice(2)
const vendor = vendors[name]
if (vendor === undefined || path === undefined) {
  console.error(`Usage: check-openapi.ts ${Object.keys(vendors).join("|")} PATH-OF-OPENAPI-DESCRIPTION`)
  process.exit(2)
}

const description = await OpenApi.read(path)
let failures = 0
for (const subject of vendor.models.flatMap(vendor.subjects)) {
  const { checked, problems } = OpenApi.check(description, await OpenApi.requestBodies(subject))
  failures += problems.length
  console.log(`${subject.name}: ${checked} bodies, ${problems.length} problems`)
  for (const problem of problems) console.log(`  ${problem}`)
}
process.exitCode = failures === 0 ? 0 : 1
