/** Cases for reading answers. */
import assert from "node:assert/strict"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason } from "@divisi/core/Worker"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertSucceeds, isStreaming, type Subject } from "../subject.ts"

const reasonOf: ReadonlyArray<readonly [Script.Ending, FinishReason]> = [
  ["stop", "stop"],
  ["stop-sequence", "stop"],
  ["length", "length"],
  ["refusal", "refusal"]
]

const usageCase = (id: string, name: string, usage: Usage): Case => ({
  id,
  name,
  run: async ({ ask }) => {
    const { finish } = assertSucceeds(await ask([Script.answer("ok", { usage })]))
    for (const [key, value] of Object.entries(usage)) {
      assert.equal(finish?.usage[key as keyof Usage], value, `${key} is wrong.`)
    }
    assert.notEqual(finish?.usage.estimated, true, "The vendor has said what was used: it is no estimate.")
  }
})

const megabytes = async ({ ask }: Subject, deltas: number) => {
  const delta = "0123456789abcdef".repeat((10 * 1024 * 1024) / 16 / deltas)
  const { text } = assertSucceeds(await ask([Script.answer(Array.from({ length: deltas }, () => delta))]))
  assert.equal(text.length, 10 * 1024 * 1024)
}

export const answers: ReadonlyArray<Case> = [
  {
    id: "answer/text",
    name: "gives the text of an answer, each piece in order",
    run: async ({ ask }) => {
      // Two of these characters are line terminators outside of JSON.
      const pieces = ["Hel", "lo", ", ", "wör", "ld 🌍", "\n\n", "data: x", "\n", "a\u2028b", "\u2029", "\u0085"]
      const { parts, text } = assertSucceeds(await ask([Script.answer(pieces)]))
      assert.equal(text, pieces.join(""))
      assert.deepEqual(
        parts.map((part) => part.type).filter((type) => type !== "text"),
        ["finish"]
      )
    }
  },
  {
    id: "answer/as-it-comes",
    name: "gives each piece as it comes, before the answer has ended",
    needsStream: true,
    run: async ({ serve, start, worker }) => {
      const server = await serve([{ type: "hang", answer: Script.answer(["one", "two", "three"]), after: 2 }])
      const call = start(worker(server))
      await call.received(2)
      assert.deepEqual(call.parts, [
        { type: "text", text: "one" },
        { type: "text", text: "two" }
      ])
      await call.interrupt()
    }
  },
  {
    id: "answer/as-declared",
    name: "asks for a stream, unless it declares that it does not",
    run: async ({ ask, options }) => {
      const { server } = await ask([Script.answer("ok")])
      assert.equal(server.exchanges[0]?.sent.isStream, isStreaming(options), "What it declares in `streams` is not so.")
    }
  },
  {
    id: "answer/as-written",
    name: "gives a text as it was written: marks that stand apart, spaces and line ends",
    run: async ({ ask }) => {
      const pieces = ["e\u0301 \u212b ", " \ttwo\r\n", "\u00a0end  "]
      assert.equal(assertSucceeds(await ask([Script.answer(pieces)])).text, pieces.join(""))
    }
  },
  {
    id: "answer/empty",
    name: "finishes an empty answer",
    run: async ({ ask }) => {
      const { finish, text } = assertSucceeds(await ask([Script.answer([])]))
      assert.equal(text, "")
      assert.equal(finish?.reason, "stop")
    }
  },
  {
    id: "answer/model",
    name: "says which model has answered, as the vendor names it",
    run: async ({ ask }) => {
      const { finish } = assertSucceeds(await ask([Script.answer("ok", { model: "a-model-2026-11-24" })]))
      assert.equal(finish?.model, "a-model-2026-11-24")
    }
  },
  {
    id: "answer/reasoning",
    name: "keeps reasoning apart from the text, and before it",
    run: async ({ ask }) => {
      const answer = Script.answer([Script.reasoning("Let me "), Script.reasoning("think."), "4", "2"])
      const { parts, reasoning, text } = assertSucceeds(await ask([answer]))
      assert.equal(reasoning, "Let me think.")
      assert.equal(text, "42")
      const types = parts.map(({ type }) => type)
      assert.ok(types.lastIndexOf("reasoning") < types.indexOf("text"), "Reasoning came after the text.")
    }
  },
  {
    id: "answer/unknown-events",
    name: "ignores events and fields that it does not know",
    run: async ({ ask }) => {
      const plain = await ask([Script.answer(["a", "b"], { noise: false })])
      const noisy = await ask([Script.answer(["a", "b"], { noise: true })])
      assert.deepEqual(assertSucceeds(noisy).parts, assertSucceeds(plain).parts)
    }
  },
  ...reasonOf.map(
    ([ending, reason]): Case => ({
      id: `finish/${ending}`,
      name: `says "${reason}" for an answer that ends by ${ending}`,
      run: async ({ ask }) => {
        const { finish } = assertSucceeds(await ask([Script.answer("ok", { ending })]))
        assert.equal(finish?.reason, reason)
      }
    })
  ),
  {
    id: "finish/unknown",
    name: 'says "other" for an answer that ends by an unknown word, or fails with that word',
    run: async ({ ask }) => {
      const { error, finish } = await ask([Script.answer("ok", { ending: "unknown" })])
      if (error === undefined) assert.equal(finish?.reason, "other")
      else assert.match(error.message, /moon.?phase/i)
    }
  },
  usageCase("usage/tokens", "reports input and output tokens", { inputTokens: 123, outputTokens: 45 }),
  usageCase("usage/cached", "reports cached tokens as a share of the input", {
    inputTokens: 2000,
    cachedInputTokens: 1536,
    outputTokens: 10
  }),
  usageCase("usage/cache-write", "reports tokens written to the cache as a share of the input", {
    inputTokens: 2000,
    cacheWriteTokens: 1024,
    outputTokens: 10
  }),
  usageCase("usage/reasoning", "reports reasoning tokens as a share of the output", {
    inputTokens: 20,
    outputTokens: 300,
    reasoningTokens: 256
  }),
  {
    id: "usage/missing",
    name: "estimates the usage where nobody reports it, and says so",
    run: async ({ ask }) => {
      const { usage: _, ...silent } = Script.answer("an answer of several words")
      const { finish } = assertSucceeds(await ask([silent]))
      assert.equal(finish?.usage.estimated, true)
      assert.ok(finish.usage.inputTokens > 0 && finish.usage.outputTokens > 0, "An estimate of 0 is none.")
    }
  },
  {
    id: "answer/allowance",
    name: "tells what is left of the rate limits before the answer, where the vendor says so",
    run: async ({ ask, options }) => {
      const { allowance } = options.dialect
      if (allowance === undefined) return
      const { parts } = assertSucceeds(await ask([Script.answer("ok", { headers: allowance.headers })]))
      assert.deepEqual(parts[0], { type: "allowance", ...allowance.means })
    }
  },
  {
    id: "answer/drip",
    name: "reads an answer that comes byte by byte",
    run: async ({ ask }) => {
      const answer = Script.answer(["Gr", "üße 🌍", "!"], { noise: false })
      assert.equal(assertSucceeds(await ask([{ type: "drip", answer }])).text, "Grüße 🌍!")
    }
  },
  {
    id: "answer/10-megabytes",
    name: "reads an answer of 10 MB in many events",
    run: (subject) => megabytes(subject, 640)
  },
  {
    id: "answer/10-megabytes-at-once",
    name: "reads an answer of 10 MB in one event",
    run: (subject) => megabytes(subject, 1)
  }
]
