/**
 * Option names that people know from other libraries. Each is rejected by name, with the one to use here. The rows were
 * written from the documentation of those libraries before any was tried.
 */
import * as promise from "@divisi/core/promise"
import { assert, describe, it } from "@effect/vitest"

type Made = (options: unknown) => unknown

const { conduct, languagePolicy, tool, worker } = promise as unknown as Readonly<Record<string, Made>>

const solver = promise.worker({ id: "solver", answer: () => "42" })

const functions: Readonly<Record<string, (given: object) => unknown>> = {
  conduct: (given) => conduct!({ question: "What is 6 times 7?", pool: [solver], ...given }),
  worker: (given) => worker!({ id: "a", answer: () => "", ...given }),
  tool: (given) => tool!({ name: "a", input: { type: "object" }, ...given }),
  languagePolicy: (given) => languagePolicy!({ model: solver, ...given }),
  policy: (given) => promise.policy("mine", () => ({ steps: [] }), given as never)
}

/** The option to use, by the names of other libraries, separated by spaces. */
const habits: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  conduct: {
    question:
      "prompt input query task text userPrompt user_prompt content goal inputs new_message user_content userMessage request",
    "question: { messages }": "messages history chat_history",
    "question: { question, system }":
      "system systemPrompt system_message instructions developer global_instruction preamble",
    pool: "model models model_name agents participants members team llm llms deployments model_list sub_agents subAgents managed_agents handoffs executors",
    policy: "planner router strategy process manager_llm workflow graph speaker_selection orchestrator",
    output:
      "schema output_schema outputType output_type response_format experimental_output structuredOutput output_pydantic text_format response_model result_type resultType grammar jsonSchema answer_schema",
    "budget: { durationMillis }":
      "timeout timeoutMs request_timeout maxDuration max_execution_time deadline time_limit",
    "budget: { costUsd }": "maxCost max_budget_usd max_cost",
    budget: "usage_limits max_budget limits",
    "worker: { maxOutputTokens }": "maxTokens max_tokens maxOutputTokens max_completion_tokens max_output_tokens",
    "worker: { temperature }": "temperature",
    "worker: { reasoning }": "reasoning reasoning_effort thinking effort",
    "retry: { maxAttempts }": "maxRetries num_retries max_retries retries output_retries attempts",
    maxToolRounds: "stopWhen maxTurns max_turns max_iter maxIterations recursion_limit max_tool_calls max_round",
    signal: "abortSignal cancellation_token abort cancelSignal cancel_token",
    toolChoice: "tool_choice function_call",
    parallelToolCalls: "parallel_tool_calls",
    tools: "functions toolkit toolsets activeTools mcp_servers mcpServers",
    onEvent:
      "onChunk onStepFinish onFinish onError step_callback task_callback callbacks hooks verbose onEnd event_stream_handler before_model_callback after_tool_callback success_callback onUpdate",
    "streamAnswer instead of conduct": "stream streaming",
    telemetry: "experimental_telemetry tracer tracing instrument trace_metadata",
    journal: "checkpointer store persistence memory session_service durability savePerStep",
    runId: "id thread_id threadId sessionId session_id conversation_id invocation_id group_id",
    approve: "human_input human_in_the_loop interrupt_on toolApproval tool_approval confirm",
    approvePlan: "interrupt_before interrupt_after",
    cache: "caching cache_control use_cache cache_params",
    checks: "input_guardrails outputGuardrails inputProcessors output_processors final_answer_checks scorers",
    worker: "model_settings modelSettings generate_content_config providerOptions generation_config",
    reassign: "fallbacks fallback_models",
    "budget: { tokens }": "max_total_tokens total_tokens_limit",
    "budget: { calls }": "request_limit max_llm_calls llm_calls_limit",
    recursion: "planning_interval"
  },
  worker: {
    id: "name model model_id agentId",
    description: "role goal backstory handoff_description",
    instructions: "system system_prompt system_message prompt",
    answer: "run execute generate doGenerate invoke handler forward reply fn func call acall respond",
    maxOutputTokens: "max_tokens maxTokens max_completion_tokens",
    pricing: "price cost input_cost_per_token costPerToken prices",
    "limits: { contextTokens }": "context_window max_input_tokens contextLength",
    "tools of conduct": "tools toolsets functions",
    "worker: { temperature } of conduct": "temperature",
    "output of conduct": "output_type response_format structuredOutput",
    "openai(model, { apiKey }) instead of worker": "api_key baseURL api_base"
  },
  tool: {
    name: "id title toolName tool_name",
    description: "instructions prompt docstring",
    input: "parameters inputSchema input_schema args_schema schema params",
    execute: "run func function handler fn invoke call coroutine on_invoke_tool",
    needsApproval: "requireApproval needs_approval requires_confirmation approval_mode",
    timeoutMillis: "timeout timeoutMs"
  },
  languagePolicy: {
    model: "llm worker planner agent",
    fallback: "default backup",
    resamples: "max_retries"
  },
  policy: {
    recursion: "maxRounds max_rounds",
    checks: "guardrails validators"
  }
}

const rows = Object.entries(habits).flatMap(([name, meanings]) =>
  Object.entries(meanings).flatMap(([ours, names]) => names.split(" ").map((theirs) => [name, theirs, ours] as const))
)

describe("option names of other libraries", () => {
  it("are more than a hundred", () => assert.isAbove(rows.length, 120))

  it.each(rows)("%s: %s is rejected with ours", async (name, theirs, ours) => {
    const message = await (async () => functions[name]!({ [theirs]: "x" }))().then(
      () => "accepted",
      (error: Error) => error.message
    )
    assert.include(
      [
        `${name}: option "${theirs}" does not exist. Use "${ours}".`,
        `${name}: option "${theirs}" does not exist. Did you mean "${ours}"?`
      ],
      message
    )
  })
})
