/** Requests as clients of the field send them, on all three wires: each row says what a worker must receive. */
import type { WorkerRequest } from "@divisi/core/Worker"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, worker } from "./teams.ts"

type Path = "chat/completions" | "responses" | "messages"

const required: Readonly<Record<Path, object>> = {
  "chat/completions": { model: "divisi", messages: [{ role: "user", content: "Hm" }] },
  responses: { model: "divisi", input: "Hm" },
  messages: { model: "divisi", max_tokens: 99, messages: [{ role: "user", content: "Hm" }] }
}

const paths = Object.keys(required) as ReadonlyArray<Path>

interface Answered {
  readonly status: number
  readonly notices: string
  readonly body: {
    readonly divisi?: { readonly notices?: ReadonlyArray<string> }
    readonly error?: { readonly message: string }
    readonly [field: string]: unknown
  }
  /** The worker's request; absent if the worker was not called. */
  readonly request: WorkerRequest | undefined
}

/** Sends a request to a server with one worker. */
const send = (path: Path, body: object, reply = said("Fine.")): Promise<Answered> => {
  const a = worker("a", reply, said("Done."))
  return serving(alone(a), async ({ url }) => {
    const response = await fetch(`${url}/${path}`, {
      method: "POST",
      body: JSON.stringify({ ...required[path], ...body })
    })
    const notices = response.headers.get("x-divisi-notices") ?? ""
    return { status: response.status, notices, body: (await response.json()) as Answered["body"], request: a.calls[0] }
  })
}

const contents = ({ request }: Answered) => (request?.messages ?? []).map(({ content, role }) => [role, content])

describe("preferences", () => {
  const odd: ReadonlyArray<object> = [
    { temperature: 9 },
    { temperature: "hot" },
    { top_p: 0.3 },
    { seed: 0.5 },
    { reasoning_effort: 7 },
    { thinking: { type: "enabled", budget_tokens: "many" } },
    { reasoning: "loud" },
    { service_tier: "flex" },
    { parallel_tool_calls: "perhaps" },
    { frequency_penalty: 0.2, presence_penalty: 0.2, logit_bias: { "1": 2 } }
  ]

  it("that cannot be followed are left out with a notice, on every wire", async () => {
    for (const path of paths) {
      for (const body of odd) {
        const answered = await send(path, body)
        assert.strictEqual(answered.status, 200, `${path} ${JSON.stringify(body)}`)
        for (const field of Object.keys(body)) {
          assert.include(answered.notices, field)
          assert.isTrue(answered.body.divisi?.notices?.some((notice) => notice.startsWith(field)))
        }
      }
    }
  })

  it("that request the default cause no notice", async () => {
    const plain = { temperature: null, top_p: 1, service_tier: "auto", user: "u", store: false, metadata: {}, n: 1 }
    for (const path of paths) assert.strictEqual((await send(path, plain)).notices, "", path)
  })

  it("are read in the field of any vendor", async () => {
    const effort = { type: "effort", effort: "low" }
    const rows: ReadonlyArray<readonly [object, keyof WorkerRequest, unknown]> = [
      [{ reasoning_effort: "low" }, "reasoning", effort],
      [{ reasoning: { effort: "low" } }, "reasoning", effort],
      [{ output_config: { effort: "low" } }, "reasoning", effort],
      [{ reasoning: { max_tokens: 2_000 } }, "reasoning", { type: "budget", tokens: 2_000 }],
      [{ thinking: { type: "enabled", budget_tokens: 2_000 } }, "reasoning", { type: "budget", tokens: 2_000 }],
      [{ thinking: { type: "disabled" } }, "reasoning", { type: "off" }],
      [{ enable_thinking: false }, "reasoning", { type: "off" }],
      [{ chat_template_kwargs: { enable_thinking: false } }, "reasoning", { type: "off" }],
      [{ temperature: "0.5" }, "temperature", 0.5],
      [{ max_tokens: 50 }, "maxOutputTokens", 50],
      [{ max_tokens: "50" }, "maxOutputTokens", 50],
      [{ max_tokens: 50.9 }, "maxOutputTokens", 50],
      [{ max_completion_tokens: 50 }, "maxOutputTokens", 50],
      [{ max_output_tokens: 50 }, "maxOutputTokens", 50],
      [{ max_tokens: -1 }, "maxOutputTokens", undefined],
      [{ max_tokens: 0 }, "maxOutputTokens", undefined]
    ]
    for (const path of paths) {
      for (const [body, field, value] of rows) {
        const { request } = await send(path, body)
        const limit = path === "messages" && field === "maxOutputTokens" && value !== undefined ? 50 : value
        assert.deepEqual(request?.[field], limit, `${path} ${JSON.stringify(body)}`)
      }
    }
  })

  it("are not demands: a demand is refused if no worker supports it", async () => {
    const demands: ReadonlyArray<object> = [
      { n: 2 },
      { best_of: 3 },
      { logprobs: true },
      { top_logprobs: 2 },
      { include: ["message.output_text.logprobs"] },
      { modalities: ["text", "audio"] },
      { audio: { voice: "a" } },
      { prompt: { id: "pmpt_1" } },
      { guided_regex: "[0-9]+" },
      { guided_choice: ["yes", "no"] },
      { guided_grammar: "root ::= [a-z]" },
      { grammar: "root ::= [a-z]" },
      { structured_outputs: { choice: ["yes", "no"] } },
      { response_format: { type: "grammar" } },
      { stop: { a: 1 } },
      { stop: [7] },
      { max_completion_tokens: "many" },
      { tool_choice: "required" },
      { tools: [{ type: "function", name: "f" }], tool_choice: { type: "function", name: "g" } },
      { tools: [{ type: "web_search" }], tool_choice: "required" }
    ]
    for (const path of paths) {
      for (const body of demands) {
        const { body: refused, request, status } = await send(path, body)
        assert.strictEqual(status, 400, `${path} ${JSON.stringify(body)}`)
        assert.match(
          refused.error?.message ?? "",
          new RegExp(Object.keys(body).join("|").replace("tool_choice", "tool_choice|toolChoice"))
        )
        assert.isUndefined(request)
      }
    }
  })
})

describe("the shape of an answer", () => {
  const schema = { type: "object", properties: { text: { type: "string" } } }
  const json = { type: "json" }
  const shape = { type: "json-schema", schema }
  const forms: ReadonlyArray<readonly [body: object, output: object | undefined]> = [
    [{ response_format: { type: "text" } }, undefined],
    [{ response_format: { type: "json_object" } }, json],
    [{ response_format: { type: "json_object", schema } }, shape],
    [{ response_format: { type: "json_schema", json_schema: { name: "a", schema, strict: true } } }, shape],
    [{ response_format: { type: "json_schema", name: "a", schema } }, shape],
    [{ text: { format: { type: "json_schema", name: "a", schema } } }, shape],
    [{ text: { format: { type: "json_object" } } }, json],
    [{ output_config: { format: { type: "json_schema", schema } } }, shape],
    [{ output_format: { type: "json_schema", schema } }, shape],
    [{ guided_json: schema }, shape],
    [{ guided_json: JSON.stringify(schema) }, shape],
    [{ structured_outputs: { json: schema } }, shape],
    [{ json_schema: schema }, shape]
  ]

  it("is read in the form of any vendor, on every wire", async () => {
    for (const path of paths) {
      for (const [body, output] of forms) {
        const { request, status } = await send(path, body, said('{"text":"a"}'))
        const where = `${path} ${JSON.stringify(body)}`
        assert.strictEqual(status, 200, where)
        if (output === undefined) assert.isUndefined(request?.output, where)
        else assert.deepInclude(request?.output, output, where)
      }
    }
  })
})

describe("content", () => {
  const forms: ReadonlyArray<readonly [content: unknown, text: string]> = [
    [null, ""],
    [[], ""],
    ["a", "a"],
    [["a", "b"], "a\nb"],
    [{ type: "text", text: "a" }, "a"],
    [[{ type: "text", text: null }], ""],
    [[{ type: "input_text", text: "a" }, null, { type: "output_text", text: "b" }], "a\nb"],
    [[{ type: "text", text: { value: "a" } }], "a"],
    [[{ type: "hologram", text: "a" }], "a"],
    [
      [
        { type: "text", text: "a" },
        { type: "hologram", data: 1 }
      ],
      "a"
    ]
  ]

  it("is read in every form, in every role, on every wire", async () => {
    const roles = ["user", "assistant", "system"] as const
    for (const path of paths) {
      for (const role of roles) {
        for (const [content, text] of forms) {
          const messages = [
            { role, content },
            { role: "user", content: "Hm" }
          ]
          const answered = await send(path, path === "responses" ? { input: messages } : { messages })
          const where = `${path} ${role} ${JSON.stringify(content)}`
          assert.strictEqual(answered.status, 200, where)
          assert.deepInclude(contents(answered), [role, text], where)
          const isUnknown = JSON.stringify(content)?.includes('"data":1') === true
          assert.strictEqual(answered.notices.includes("hologram"), isUnknown, where)
        }
      }
    }
  })

  it("is refused if two fields have it and the wire's own is not a list", async () => {
    for (const path of ["chat/completions", "messages"] as const) {
      assert.strictEqual((await send(path, { messages: "not-an-array", input: 42 })).status, 400, path)
      assert.strictEqual((await send(path, { messages: "Why?" })).status, 200, path)
    }
  })

  it("of images is read in every vendor's form", async () => {
    const url = "data:image/png;base64,iVBORw0KGgo="
    const source = { mediaType: "image/png", data: "iVBORw0KGgo=" }
    const images: ReadonlyArray<object> = [
      { type: "image_url", image_url: { url } },
      { type: "image_url", image_url: url },
      { type: "input_image", image_url: url },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }
    ]
    for (const path of paths) {
      for (const image of images) {
        const messages = [{ role: "user", content: [image] }]
        const answered = await send(path, path === "responses" ? { input: messages } : { messages })
        assert.deepEqual(contents(answered), [["user", [{ type: "image", ...source }]]], `${path} ${image}`)
      }
    }
  })

  it("that contains audio only is refused in a user's turn", async () => {
    for (const path of paths) {
      const messages = [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "", format: "wav" } }] }]
      const { body, status } = await send(path, path === "responses" ? { input: messages } : { messages })
      assert.strictEqual(status, 400, path)
      assert.include(body.error?.message, "input_audio")
    }
  })

  it("of a tool is never lost", async () => {
    const results: ReadonlyArray<readonly [content: unknown, text: string]> = [
      [null, ""],
      [42, "42"],
      [{ ok: true }, '{"ok":true}'],
      [[{ type: "hologram", data: 1 }], '{"type":"hologram","data":1}'],
      [
        [
          { type: "text", text: "a" },
          { type: "resource", resource: { uri: "x:y", text: "b" } }
        ],
        "a\nb"
      ]
    ]
    for (const [content, text] of results) {
      const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } }
      const rows: ReadonlyArray<readonly [Path, object]> = [
        [
          "chat/completions",
          {
            messages: [
              { role: "assistant", content: null, tool_calls: [call] },
              { role: "tool", tool_call_id: "c", content }
            ]
          }
        ],
        [
          "responses",
          {
            input: [
              { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
              { type: "function_call_output", call_id: "c", output: content }
            ]
          }
        ],
        [
          "messages",
          {
            messages: [
              { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
              { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content }] }
            ]
          }
        ]
      ]
      for (const [path, body] of rows) {
        const answered = await send(path, body)
        assert.strictEqual(answered.status, 200, `${path} ${JSON.stringify(content)}`)
        assert.deepInclude(contents(answered), ["tool", text], `${path} ${JSON.stringify(content)}`)
      }
    }
  })
})

describe("items of Responses that only OpenAI's models know", () => {
  it("reach workers as calls and results of tools", async () => {
    const rows: ReadonlyArray<readonly [items: ReadonlyArray<object>, name: string, seen: string]> = [
      [
        [
          { type: "local_shell_call", call_id: "c", action: { type: "exec", command: ["ls"] }, status: "completed" },
          { type: "local_shell_call_output", call_id: "c", output: "file.txt" }
        ],
        "local_shell",
        "file.txt"
      ],
      [
        [
          { type: "shell_call", call_id: "c", action: { commands: ["ls"] } },
          {
            type: "shell_call_output",
            call_id: "c",
            output: [{ stdout: "file.txt", outcome: { type: "exit", exit_code: 0 } }]
          }
        ],
        "shell",
        "file.txt"
      ],
      [
        [
          { type: "apply_patch_call", call_id: "c", operation: { type: "update_file", path: "a.ts", diff: "+x" } },
          { type: "apply_patch_call_output", call_id: "c", status: "failed", output: "no such file" }
        ],
        "apply_patch",
        "no such file"
      ],
      [
        [{ type: "mcp_call", id: "m", server_label: "docs", name: "find", arguments: '{"q":1}', output: "found" }],
        "docs__find",
        "found"
      ],
      [
        [{ type: "code_interpreter_call", id: "i", code: "1+1", outputs: [{ type: "logs", logs: "2" }] }],
        "code_interpreter",
        "2"
      ]
    ]
    for (const [items, name, seen] of rows) {
      const { request, status } = await send("responses", { input: [{ role: "user", content: "Hm" }, ...items] })
      assert.strictEqual(status, 200, name)
      const called = request?.messages.flatMap((message) =>
        message.role === "assistant" ? (message.toolCalls ?? []) : []
      )
      assert.deepEqual(
        called?.map((call) => call.name),
        [name]
      )
      assert.include(JSON.stringify(request?.messages.at(-1)), seen)
    }
  })

  it("without anything to read are left out with a notice", async () => {
    const input = [
      { role: "user", content: "Hm" },
      { type: "web_search_call", id: "w", action: {} },
      { type: "hologram" }
    ]
    const { notices, status } = await send("responses", { input })
    assert.strictEqual(status, 200)
    for (const type of ["web_search_call", "hologram"]) assert.include(notices, type)
  })
})

describe("tools", () => {
  const schema = { type: "object", properties: { city: { type: "string" } } }
  const forms: ReadonlyArray<object> = [
    { type: "function", function: { name: "look", parameters: schema } },
    { type: "function", name: "look", parameters: schema },
    { function: { name: "look", parameters: schema } },
    { name: "look", input_schema: schema },
    { type: "custom", name: "look", input_schema: schema },
    { name: "look", parameters: schema },
    { name: "look", inputSchema: schema },
    {
      functionDeclarations: [{ name: "look", parameters: { type: "OBJECT", properties: { city: { type: "STRING" } } } }]
    }
  ]

  it("are offered in every vendor's form, on every wire", async () => {
    for (const path of paths) {
      for (const tool of forms) {
        const { request } = await send(path, { tools: [tool] })
        assert.deepEqual(
          request?.tools?.map(({ input, name }) => ({ name, input })),
          [{ name: "look", input: schema }],
          `${path} ${JSON.stringify(tool)}`
        )
      }
    }
  })

  it("may be chosen in every vendor's form, on every wire", async () => {
    const named = { name: "look" }
    const choices: ReadonlyArray<readonly [choice: unknown, expected: unknown]> = [
      ["auto", "auto"],
      ["any", "required"],
      ["required", "required"],
      ["look", named],
      [{ type: "auto" }, "auto"],
      [{ type: "any" }, "required"],
      [{ type: "tool", name: "look" }, named],
      [{ type: "function", name: "look" }, named],
      [{ type: "function", function: named }, named],
      [{ type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "look" }] }, "required"],
      [
        { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "function", function: named }] } },
        "auto"
      ],
      [{ functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } }, "required"]
    ]
    for (const path of paths) {
      for (const [tool_choice, expected] of choices) {
        const { request } = await send(path, { tools: [forms[0], { name: "go", input_schema: schema }], tool_choice })
        assert.deepEqual(request?.toolChoice, expected, `${path} ${JSON.stringify(tool_choice)}`)
      }
    }
  })

  it("that run at a vendor are named in a notice, and refused where they are demanded", async () => {
    for (const path of paths) {
      const offered = await send(path, { tools: [forms[0], { type: "web_search" }] })
      assert.deepEqual([offered.status, offered.request?.tools?.length], [200, 1], path)
      assert.include(offered.notices, "web_search")
      const demanded = await send(path, {
        tools: [forms[0], { type: "web_search" }],
        tool_choice: { type: "web_search" }
      })
      assert.strictEqual(demanded.status, 400, path)
      const nothing = await send(path, { tools: [], tool_choice: "required" })
      assert.strictEqual(nothing.status, 400, path)
    }
  })

  it("of any text are called on Chat Completions, too", async () => {
    const custom = {
      type: "custom",
      custom: { name: "patch", format: { type: "grammar", grammar: { syntax: "lark", definition: "start: x" } } }
    }
    const { body, request } = await send("chat/completions", { tools: [custom] }, asks(["patch", { input: "+x" }]))
    assert.include(request?.tools?.[0]?.description, "start: x")
    const [choice] = body.choices as ReadonlyArray<{ readonly message: { readonly tool_calls: ReadonlyArray<object> } }>
    assert.deepInclude(choice?.message.tool_calls[0], { type: "custom", custom: { name: "patch", input: "+x" } })
  })

  it("are called by the legacy `functions`, too, and their results are read", async () => {
    const functions = [{ name: "look", parameters: schema }]
    const first = await send(
      "chat/completions",
      { functions, function_call: { name: "look" } },
      asks(["look", { city: "Rome" }])
    )
    assert.deepEqual(first.request?.toolChoice, { name: "look" })
    const [choice] = first.body.choices as ReadonlyArray<{ readonly finish_reason: string; readonly message: object }>
    assert.strictEqual(choice?.finish_reason, "function_call")
    assert.deepInclude(choice?.message, { function_call: { name: "look", arguments: '{"city":"Rome"}' } })
    const messages = [
      { role: "user", content: "Hm" },
      choice!.message,
      { role: "function", name: "look", content: "sunny" }
    ]
    const second = await send("chat/completions", { functions, messages })
    assert.deepInclude(second.request?.messages.at(-1), { role: "tool", name: "look", content: "sunny" })
  })
})
