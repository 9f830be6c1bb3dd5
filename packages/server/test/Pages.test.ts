/** A page that the server sends may use it without keys; pages of other origins may not. */
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { onThisMachine } from "../src/Caller.ts"

const isLetIn = (ownPages: boolean, headers: Record<string, string>): Promise<boolean> =>
  Effect.runPromise(
    Effect.match(onThisMachine(undefined, { ownPages })({ host: "127.0.0.1:8080", ...headers }), {
      onSuccess: () => true,
      onFailure: () => false
    })
  )

describe("requests of pages", () => {
  it.each([
    [{ "sec-fetch-site": "same-origin" }, true],
    [{ "sec-fetch-site": "same-origin", origin: "http://127.0.0.1:8080" }, true],
    [{ "sec-fetch-site": "same-origin", origin: "http://127.0.0.1:9090" }, false],
    [{ "sec-fetch-site": "same-origin", host: "rebound.example" }, false],
    [{ "sec-fetch-site": "same-site" }, false],
    [{ "sec-fetch-site": "cross-site", origin: "http://evil.example" }, false]
  ] as const)("%o: %s with a page of its own, never without", async (headers, expected) => {
    expect(await isLetIn(true, headers)).toBe(expected)
    expect(await isLetIn(false, headers)).toBe(false)
  })
})
