import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Endpoint } from "@divisi/provider-kit"
import { aiSdk } from "@divisi/providers-ai-sdk"
import { Corpus } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { chatGaps } from "./chatGaps.ts"

const deltasAlone = "@ai-sdk/anthropic reads the text of a block from its deltas alone"
const needsStop = "@ai-sdk/anthropic reports the reason of an answer at message_stop alone"

const schema = "@ai-sdk/anthropic checks events against a schema"
const errorForm = "@ai-sdk/anthropic reads errors of one form alone"
const eventsAlone = "the AI SDK reads events alone where it has asked for them"

/** The AI SDK gives events, not bytes: what its package drops cannot be read any more. */
const gaps = {
  "messages/folding/text-at-start": deltasAlone,
  "messages/folding/all-text-at-start": deltasAlone,
  "messages/folding/thinking-at-start": deltasAlone,
  "messages/folding/no-block-end": "@ai-sdk/anthropic gives a call at the end of its block alone",
  "messages/folding/bare-beginning": "@ai-sdk/anthropic demands the usage of message_start",
  "messages/folding/no-message-stop": needsStop,
  "messages/ending/last-frame-cut": needsStop,
  "messages/folding/no-last-blank-line": needsStop,
  "messages/folding/event-without-data": "the AI SDK parses the empty data of an event as JSON",
  "messages/folding/input-as-text-in-a-whole-answer": eventsAlone,
  "messages/folding/whole-answer-with-blocks-of-the-vendor": eventsAlone,
  "messages/folding/content-as-text": eventsAlone,
  "messages/ending/input-of-a-whole-answer-at-the-limit": eventsAlone,
  "messages/ending/text-behind-a-call-at-the-limit": eventsAlone,
  "messages/folding/delta-after-the-end": "@ai-sdk/anthropic fails if a delta follows the end of its block",
  "messages/usage/in-the-delta-alone": "@ai-sdk/anthropic demands the usage of message_start",
  "messages/encoding/lines-of-json": eventsAlone,
  "messages/encoding/gzip-without-a-label": eventsAlone,
  "messages/encoding/zstd-without-a-label": eventsAlone,
  "messages/encoding/zstd-in-packets-without-a-label": eventsAlone,
  "messages/folding/citations": schema,
  "messages/folding/citations-without-text": schema,
  "messages/folding/search-that-fails-midway": schema,
  "messages/folding/deltas-alone": schema,
  "messages/folding/indexes-as-texts": schema,
  "messages/folding/input-as-an-object": schema,
  "messages/folding/calls-without-ids": schema,
  "messages/folding/types-in-names-alone": schema,
  "messages/null-and-lists/texts": schema,
  "messages/encoding/pings-without-a-type": schema,
  "messages/usage/texts": schema,
  "messages/usage/of-bedrock-at-the-end": schema,
  "messages/usage/within-the-delta": schema,
  "messages/ending/reason-beside-the-delta": schema,
  "messages/ending/stop-without-a-reason": needsStop,
  "messages/error/no-type-and-a-number": errorForm,
  "messages/error/flat": errorForm,
  "messages/error/plain-words-under-the-name": errorForm,
  "messages/error/field-of-its-own": errorForm,
  "messages/error/body-without-framing": errorForm,
  "messages/preference/limit-of-a-model": "the AI SDK sends the limit that its caller has chosen",
  "messages/usage/zero-at-end": "@ai-sdk/anthropic lets a later zero replace the input",
  "messages/error/openai-form-in-stream": "@ai-sdk/anthropic skips an event without a type",
  "messages/ending/tool-use-without-a-call": "the AI SDK gives an ending without what it has skipped",
  "messages/folding/arguments-after-the-end": "@ai-sdk/anthropic drops what comes after the end of a call",
  "messages/encoding/fields-in-capitals": "the AI SDK knows the fields of events in small letters alone",
  "messages/encoding/raw-control-characters": "the AI SDK parses the data of an event as JSON as it is"
}

Corpus.corpus({
  name: "ai-sdk over @ai-sdk/anthropic",
  protocol: "messages",
  make: ({ apiKey, baseURL }) =>
    aiSdk(
      createAnthropic({ baseURL: `${baseURL}/v1`, apiKey, fetch: Endpoint.fetchWithoutRedirects() })(
        "claude-sonnet-4-5"
      ),
      {
        secrets: [apiKey]
      }
    ),
  gaps,
  describe,
  it
})

Corpus.corpus({
  name: "ai-sdk over @ai-sdk/openai-compatible",
  protocol: "chat",
  make: ({ apiKey, baseURL, row }) =>
    row.needs === undefined
      ? aiSdk(
          createOpenAICompatible({
            name: "lab",
            baseURL: `${baseURL}/v1`,
            apiKey,
            fetch: Endpoint.fetchWithoutRedirects(),
            includeUsage: true
          })("m"),
          { secrets: [apiKey] }
        )
      : undefined,
  gaps: chatGaps,
  describe,
  it
})
