/** Names of options in other libraries. Loaded only if an option is unknown, so that pages with valid options do not download them. */
import * as Options from "../Options.ts"

/** Option names used by other libraries, grouped by the name used here. */
export const called = Options.aliases({
  question: "prompt userMessage userContent newMessage input query task text content goal request",
  "question: { messages }": "message history",
  "question: { question, system }": "system instruction developer preamble",
  pool: "model worker agent participant member team llm deployment handoff executor",
  policy: "planner router strategy process workflow graph orchestrator manager speaker",
  output: "schema response result structuredOutput experimentalOutput textFormat grammar",
  checks: "finalAnswerChecks outputGuardrails inputGuardrails inputProcessors outputProcessors scorer",
  budget: "maxBudget limits usageLimits",
  "budget: { durationMillis }": "timeout requestTimeout timeLimit deadline maxDuration maxExecution",
  "budget: { costUsd }": "maxCost maxPrice maxBudgetUsd",
  "budget: { tokens }": "maxTotalTokens totalTokens",
  "budget: { calls }": "requestLimit maxRequests maxLlmCalls llmCalls",
  worker: "modelSettings generationConfig generateContentConfig providerOptions",
  "worker: { maxOutputTokens }": "maxTokens maxOutput maxCompletion",
  "worker: { temperature }": "temperature",
  "worker: { reasoning }": "reasoning effort thinking",
  "retry: { maxAttempts }": "maxRetries numRetries retries outputRetries attempts",
  reassign: "fallback",
  maxToolRounds: "stopWhen maxTurns maxIter maxRound maxTool recursionLimit",
  recursion: "planningInterval",
  signal: "abort cancel",
  tools: "function toolkit toolset activeTools mcpServer",
  toolChoice: "functionCall",
  onEvent:
    "onChunk onToken onStep onFinish onEnd onError onProgress onUpdate callback taskCallback eventStream hooks verbose",
  "streamAnswer instead of conduct": "stream",
  approve: "human interruptOn toolApproval confirm",
  approvePlan: "interruptBefore interruptAfter",
  cache: "caching cacheControl useCache",
  telemetry: "experimentalTelemetry trace tracing instrument",
  journal: "checkpoint store persist memory sessionService durability savePerStep",
  runId: "id name thread session conversation invocation groupId",
  "openai(model, { apiKey, … }) in pool": "apiKey baseURL header"
})
