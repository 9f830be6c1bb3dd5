/** Values that contradict their declared types, as third-party code may return them. */
import { Seed } from "@divisi/core"

const boom = () => {
  throw new Error("hostile")
}

/** Objects that throw when they are looked at. */
const hostile: ReadonlyArray<() => unknown> = [
  () => ({ toString: boom }),
  () => ({
    get message() {
      return boom()
    }
  }),
  () =>
    Object.defineProperty(new Error("no"), "message", {
      get: boom
    }),
  () => new Proxy({}, { get: boom, has: boom, getPrototypeOf: boom, ownKeys: boom }),
  () => Object.create(null)
]

/** Something to throw. */
export const thrown = (draw: Seed.Draw): unknown =>
  Seed.pick<() => unknown>(draw, [
    () => new Error("no"),
    () => new TypeError("fetch failed"),
    () => "a string",
    () => undefined,
    () => null,
    () => 7,
    ...hostile
  ])()

/** Something where text, or an object with text, is expected. */
export const answer = (draw: Seed.Draw): unknown =>
  Seed.pick<() => unknown>(draw, [
    () => undefined,
    () => null,
    () => 7,
    () => true,
    () => [],
    () => ({}),
    () => ({ text: 7 }),
    () => ({ text: null }),
    () => ({ text: "fine", finishReason: "constructor" }),
    () => ({ text: "fine", finishReason: 4 }),
    () => ({ text: "fine", usage: usage(draw) }),
    () => ({ text: "" }),
    ...hostile
  ])()

const figures = [
  { inputTokens: -1e9, outputTokens: -90 },
  { inputTokens: 10, outputTokens: 9, cachedInputTokens: 1e9 },
  { inputTokens: 10, outputTokens: 9, cachedInputTokens: -1e9 },
  { inputTokens: 10, outputTokens: 9, cacheWriteTokens: -1e9 },
  { inputTokens: 10, outputTokens: 9, cachedInputTokens: 8, cacheWriteTokens: 8 },
  { inputTokens: 10, outputTokens: 9, reasoningTokens: -3 },
  { inputTokens: "10", outputTokens: "9" },
  { inputTokens: Number.POSITIVE_INFINITY, outputTokens: 9 },
  { inputTokens: Number.NaN, outputTokens: 9 },
  { inputTokens: 1.5, outputTokens: 9 },
  { inputTokens: null, outputTokens: 9 },
  { inputTokens: 10 },
  {},
  undefined,
  null,
  7
] as const

/** Something where a usage is expected. */
export const usage = (draw: Seed.Draw): never => Seed.pick(draw, figures) as never

/** Something where a part of an answer is expected. */
export const part = (draw: Seed.Draw): never =>
  Seed.pick<unknown>(draw, [
    undefined,
    null,
    "text",
    {},
    { type: "nope" },
    { type: "text" },
    { type: "text", text: 7 },
    { type: "text", text: {} },
    { type: "reasoning", text: null },
    { type: "finish" },
    { type: "finish", reason: "constructor", usage: { inputTokens: 1, outputTokens: 1 } },
    { type: "allowance", requests: "many" }
  ]) as never

/** Something where a workflow is expected. */
export const workflow = (draw: Seed.Draw): never =>
  Seed.pick<() => unknown>(draw, [
    () => undefined,
    () => null,
    () => ({}),
    () => ({ steps: undefined }),
    () => ({ steps: "all" }),
    () => ({ steps: [undefined] }),
    () => ({ steps: [{ worker: 0 }] }),
    () => ({ steps: [{ worker: 0, subtask: 7, access: [] }] }),
    () => ({ steps: [{ worker: 0, subtask: "", access: "none" }] }),
    () => ({ steps: [{ worker: 0, subtask: "", access: [0] }] }),
    () => ({ steps: [{ worker: -1, subtask: "", access: [] }] }),
    () => ({ steps: [{ worker: Number.NaN, subtask: "", access: [] }] }),
    () => ({ steps: [{ worker: 0, subtask: "", access: [] }], answer: "vote" }),
    ...hostile
  ])() as never
