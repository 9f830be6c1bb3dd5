/** Malformed requests, derived from valid ones by a seed: the same seed produces the same request. */
import { Seed } from "@divisi/core"

/** A request of raw bytes. */
export interface Hostile {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const tool = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
const picture = "data:image/png;base64,iVBORw0KGgo="

/** A true request for each path, with all that the reader knows. */
const requests: ReadonlyArray<readonly [path: string, body: object]> = [
  [
    "/v1/chat/completions",
    {
      model: "divisi",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: picture } }
          ]
        },
        { role: "assistant", tool_calls: [{ id: "x", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "x", content: "b" }
      ],
      tools: [{ type: "function", function: { name: "f", description: "d", parameters: tool, strict: true } }],
      tool_choice: { type: "function", function: { name: "f" } },
      response_format: { type: "json_schema", json_schema: { name: "s", schema: tool, strict: true } },
      stop: ["z"],
      n: 1,
      seed: 7,
      temperature: 0.5,
      max_completion_tokens: 9,
      stream: false,
      stream_options: { include_usage: true },
      divisi: { exclude: ["b"], only: ["a"], max_cost_usd: 1 },
      metadata: { divisi_exclude: "b" }
    }
  ],
  [
    "/v1/responses",
    {
      model: "divisi",
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "a" },
            { type: "input_image", image_url: picture }
          ]
        },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "AQID" },
        { type: "function_call", call_id: "x", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "x", output: "b" },
        { type: "compaction", encrypted_content: "eyJ2ZXJzaW9uIjoxLCJzdW1tYXJ5IjoicyJ9" }
      ],
      tools: [
        { type: "function", name: "f", parameters: tool, strict: null },
        {
          type: "namespace",
          name: "n",
          tools: [{ type: "custom", name: "c", format: { syntax: "lark", definition: "s" } }]
        }
      ],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
      text: { format: { type: "json_schema", name: "s", schema: tool } },
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      previous_response_id: null,
      store: false,
      background: false,
      stream: false,
      max_output_tokens: 9
    }
  ],
  [
    "/v1/messages",
    {
      model: "divisi",
      max_tokens: 2_000,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "document", source: { type: "text", data: "d" } }
          ]
        },
        {
          role: "assistant",
          content: [
            { type: "redacted_thinking", data: "AQID" },
            { type: "tool_use", id: "x", name: "f", input: {} }
          ]
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "x", content: [{ type: "text", text: "b" }] }] }
      ],
      tools: [{ name: "f", input_schema: tool }],
      tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1_024 },
      output_config: { effort: "low", format: { type: "json_schema", schema: tool } },
      thread: { type: "create" },
      stop_sequences: ["z"],
      stream: false
    }
  ]
]

const alike: Readonly<Record<string, ReadonlyArray<string>>> = {
  "/v1/responses": ["/v1/responses", "/v1/responses/input_tokens", "/v1/responses/compact"],
  "/v1/messages": ["/v1/messages?beta=true", "/v1/messages/count_tokens"]
}

const strange: ReadonlyArray<unknown> = [
  null,
  true,
  -1,
  0.5,
  1e308,
  "",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "call_0000000000000000000000_000000",
  "x".repeat(20_000),
  [],
  [[]],
  {},
  { type: "text" },
  { type: "item_reference", id: "msg_0000000000000000000000_0" },
  { type: "continue", previous_message_id: "msg_x" },
  { __proto__: null, toString: 1 },
  Array.from({ length: 2_000 }, () => ({ role: "user", content: "a" })),
  { $ref: "#" },
  { type: "object", properties: { a: { $ref: "#/properties/a" } } },
  { type: "string", pattern: "(a+)+$" }
]

type Path = ReadonlyArray<string | number>

const pathsOf = (value: unknown, path: Path = []): ReadonlyArray<Path> => {
  const children: ReadonlyArray<readonly [string | number, unknown]> = Array.isArray(value)
    ? value.map((item, at) => [at, item])
    : Object.entries(typeof value === "object" && value !== null ? value : {})
  return [path, ...children.flatMap(([key, child]) => pathsOf(child, [...path, key]))]
}

/** Another value in a place; nothing there at all for `undefined`. */
const changed = (value: unknown, [key, ...rest]: Path, instead: unknown): unknown => {
  if (key === undefined) return instead
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => {
      if (at !== key) return [item]
      const next = changed(item, rest, instead)
      return next === undefined ? [] : [next]
    })
  }
  const { [key]: before, ...others } = value as Record<string, unknown>
  const next = changed(before, rest, instead)
  return next === undefined ? others : { ...others, [key]: next }
}

/** Makes the request of a seed. */
export const make = (seed: number): Hostile => {
  const draw = Seed.draw(seed)
  const below = (count: number) => Seed.below(draw, count)
  const one = <A>(list: ReadonlyArray<A>): A => Seed.pick(draw, list)
  const [family, truth] = one(requests)
  let value: unknown = truth
  for (let times = 1 + below(3); times > 0; times -= 1) {
    value = changed(value, one(pathsOf(value)), one([undefined, ...strange]))
  }
  let body: Uint8Array = Buffer.from(JSON.stringify(value) ?? "")
  const damage = below(10)
  if (damage === 0) body = body.subarray(0, below(body.length + 1))
  if (damage === 1 && body.length > 0) body = Buffer.from(body).fill(below(256), below(body.length))
  if (damage === 2) body = Buffer.concat([Buffer.from("[".repeat(1 + below(50_000))), body])
  const names = ["idempotency-key", "x-divisi-exclude", "x-divisi-only", "x-divisi-max-cost", "content-type", "accept"]
  const words = ["", "a", "a,b,,", "NaN", "-1", "1e400", "text/html", "x".repeat(2_000), "%00"]
  const headers = below(3) === 0 ? { [one(names)]: one(words) } : {}
  const path =
    below(30) === 0 ? `/v1/${one(["responses/%00", "models/%", "runs/../x", "responses/x/cancel", "x"])}` : undefined
  return { method: "POST", path: path ?? one(alike[family] ?? [family]), headers, body }
}

/** Whether a response shows a fault of the server. Answers of the tests' workers match no schema. */
export const isFault = (status: number, text: string): boolean =>
  status >= 500 && !(status === 502 && text.includes("does not match the output schema"))
