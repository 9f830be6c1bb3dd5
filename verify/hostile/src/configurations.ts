/**
 * All public functions with options, with a valid value for each option. No valid configuration calls a model or
 * accesses the network.
 */

import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Postgres, PostgresRecords, PostgresTasks } from "@divisi/cluster"
import { ClusterRuns } from "@divisi/cluster/runs"
import { DefaultPolicy, LanguagePolicy, ResponseCache, Strongest } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as promise from "@divisi/core/promise"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Telemetry from "@divisi/core/Telemetry"
import * as WorkerPool from "@divisi/core/WorkerPool"
import {
  Aime25,
  Baselines,
  Benchmarks,
  Evaluation,
  GpqaDiamond,
  Gsm8k,
  InspectLog,
  LiveCodeBench,
  Math500,
  Mmlu,
  Recording,
  Regrade,
  Replay,
  ReportDiff,
  Rlpr,
  RoutingBench,
  UserBenchmark,
  Verifiers
} from "@divisi/evals"
import { DiskAccounts, DiskCache, DiskJournal, DiskRecords } from "@divisi/files"
import * as disk from "@divisi/files/promise"
import { WorkflowGrammar } from "@divisi/gguf"
import { JudgeGrader, LetterGrader } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { Algebra, IntegerGrader, MathGrader, RlprGrader } from "@divisi/graders/math"
import {
  BubblewrapSandbox,
  ContainerSandbox,
  LocalPythonSandbox,
  PyodideSandbox,
  Sandboxes
} from "@divisi/graders/sandboxes"
import { Gym, GymPool, OraclePolicy } from "@divisi/gym"
import { LexicalPolicy } from "@divisi/policy-lexical"
import { LlamaCppEmbeddings, LlamaCppModel, llamacpp, ModelStore } from "@divisi/policy-llamacpp"
import {
  Drift,
  Evolution,
  Head,
  HeadPolicy,
  Router,
  Replay as RouterReplay,
  routed,
  SepCmaEs
} from "@divisi/policy-router"
import { ModelWorker, ReadingPolicy, tiny } from "@divisi/policy-tiny"
import * as kit from "@divisi/provider-kit/promise"
import { aiSdk, conductorModel, uiMessageResponse } from "@divisi/providers-ai-sdk"
import { anthropic } from "@divisi/providers-anthropic"
import { fromLanguageModel } from "@divisi/providers-effect"
import { google } from "@divisi/providers-google"
import { openai, openaiChat, openaiCompatible } from "@divisi/providers-openai"
import { paperPool } from "@divisi/recipes"
import { Keys, NodeServer, Server } from "@divisi/server"
import { type Evaluations, Reports, StudioServer } from "@divisi/studio"
import { ConductorServer } from "@divisi/tools-mcp"
import { Estimate, SamplerWorker, ToyEngine, Trainer } from "@divisi/trainer"
import * as TrainingConfig from "@divisi/trainer/TrainingConfig"
import { JaxEngine, ReaderTrainer } from "@divisi/trainer-jax"
import { HuggingFaceTokenizer, TinkerClient, TinkerEngine } from "@divisi/trainer-tinker"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import type { Configuration } from "./options.ts"

const nothing = () => {}
const emptyReport = {
  ...{ benchmarks: [], cells: [], comparisons: [], overall: [], pool: [] },
  ...{ config: { policies: [] }, extent: { samples: 0, planned: 0 } }
} as unknown as Evaluations.Report
const worker = ScriptedWorker.echo("a")
const pool = WorkerPool.makeUnsafe([worker])
const policy = promise.single(0)
const grader = MathGrader.math
const embedder = { name: "none", embed: () => Effect.succeed([]) }
const engine = ToyEngine.make()
const pricing = { inputPerMillion: 1, outputPerMillion: 2 }
const limits = { contextTokens: 100, maxOutputTokens: 10 }
const budget = { costUsd: 1, tokens: 10, calls: 3, durationMillis: 1000 }
const missing = "/missing/folder"

const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-options-")), "store.sqlite")

/** The settings of a run. */
const settings = {
  maxSteps: 3,
  maxItems: 3,
  itemsAtOnce: 3,
  recursion: 1,
  self: { maxDepth: 1 },
  budget,
  worker: { temperature: 1, maxOutputTokens: 9, timeoutMillis: 9, reasoning: { type: "effort", effort: "low" } },
  retry: { maxAttempts: 2, baseDelayMillis: 1, factor: 2, maxDelayMillis: 9, maxRetryAfterMillis: 9 },
  reassign: "next",
  onUnconfirmedCall: "again",
  onStepFailure: "report",
  onAuthenticationFailure: "report",
  skipUnseen: true,
  revisions: 1,
  approvePlans: false,
  toolAccess: "last-step",
  maxToolRounds: 1,
  unsupported: "omit",
  seed: 1
}

/** Options of all vendors. */
const provider = {
  apiKey: "key",
  baseURL: "http://localhost:1/v1",
  id: "a",
  description: "a",
  instructions: "a",
  provider: "a",
  pricing,
  limits,
  capabilities: {},
  timeoutMillis: 9,
  headers: { a: "b" },
  unsupported: "omit",
  fetch: nothing,
  maxOutputTokens: 9,
  temperature: 1,
  reasoning: { type: "effort", effort: "low" },
  stopSequences: ["a"]
}

const ofProvider = { open: ["headers", "capabilities", "body", "pricing", "reasoning"] }

export const configurations: ReadonlyArray<Configuration> = [
  // Core
  {
    name: "conduct",
    make: (options) => promise.conduct(options),
    options: { ...settings, question: "?", pool: [worker], policy, onEvent: nothing, parallelToolCalls: true },
    open: ["worker.reasoning", "policy"]
  },
  {
    name: "Conductor.make",
    make: Conductor.make,
    options: { ...settings, policy, pool },
    open: ["worker.reasoning", "policy", "pool"]
  },
  {
    name: "worker",
    make: promise.worker,
    options: {
      id: "a",
      answer: nothing,
      description: "a",
      instructions: "a",
      capabilities: { tools: true, images: true, files: true, jsonSchema: true, json: true, shapesWithTools: true },
      isLanguageModel: true,
      takesSeed: true,
      takesReasoning: true,
      takesTemperature: true,
      isCacheable: true,
      recovery: "free",
      provider: "a",
      pricing,
      limits,
      maxOutputTokens: 9
    },
    open: ["pricing"]
  },
  {
    name: "tool",
    make: promise.tool,
    options: { name: "a", description: "a", input: { type: "object" }, execute: nothing },
    open: ["input"]
  },
  {
    name: "policy",
    make: (options) => promise.policy("mine", () => ({ steps: [] }), options),
    options: { checks: { mine: () => true }, recursion: 1, revise: nothing },
    open: ["checks"]
  },
  {
    name: "languagePolicy",
    make: promise.languagePolicy,
    options: {
      model: worker,
      name: "a",
      prompt: { descriptions: true, subtasks: true, how: true, mayAnswer: true, access: "binary", examples: [] },
      maxOutputTokens: 9,
      temperature: 1,
      reasoning: { type: "effort", effort: "low" },
      mode: "tolerant",
      refusal: nothing,
      resamples: 1,
      fallback: policy
    },
    open: ["model", "fallback", "reasoning"]
  },
  { name: "ledger", make: promise.ledger, options: budget },
  {
    name: "memoryCache",
    make: promise.memoryCache,
    options: { maxEntries: 3, maxBytes: 9, timeToLive: 1000 }
  },
  { name: "single", make: (options) => promise.single(0, options), options: { failover: true } },
  { name: "randomRouter", make: promise.randomRouter, options: { seed: 1 } },
  { name: "bestOf", make: promise.bestOf, options: { n: 3, judge: "a", workers: ["a"] } },
  { name: "selfConsistency", make: promise.selfConsistency, options: { n: 3, worker: "a" } },
  { name: "selfReflection", make: promise.selfReflection, options: { rounds: 3, worker: "a" } },
  {
    name: "mixtureOfAgents",
    make: promise.mixtureOfAgents,
    options: { layers: 3, proposers: ["a"], aggregator: "a" }
  },
  {
    name: "uiMessageResponse (stream)",
    make: (options) => uiMessageResponse({ question: "?", pool: [worker], policy }, options),
    options: { headers: { a: "b" }, keepAliveMillis: 1000 },
    open: ["headers"]
  },
  {
    name: "uiMessageResponse (run)",
    make: (options) => uiMessageResponse(options),
    options: { question: "?", pool: [worker], policy, maxSteps: 3, budget },
    open: ["policy"]
  },
  {
    name: "ScriptedWorker.make",
    make: ScriptedWorker.make,
    options: { id: "a", replies: ["a"], latencyMillis: 1 }
  },
  // Files
  { name: "openJournal", make: disk.openJournal, options: { file: file } },
  { name: "openAccounts", make: disk.openAccounts, options: { file: file } },
  {
    name: "openCache",
    make: disk.openCache,
    options: { file: ":memory:", maxBytes: 9, maxEntries: 9, timeToLive: 1000 }
  },
  { name: "DiskJournal.make", make: DiskJournal.make, options: { file: file } },
  { name: "DiskAccounts.make", make: DiskAccounts.make, options: { file: file } },
  {
    name: "DiskCache.store",
    make: DiskCache.store,
    options: { file: ":memory:", maxBytes: 9, maxEntries: 9, timeToLive: 1000 }
  },
  {
    name: "DiskRecords.make",
    make: DiskRecords.make,
    options: { file: ":memory:", maxBytes: 9, timeToLive: 1000 }
  },
  {
    name: "ResponseCache.makeMemory",
    make: ResponseCache.makeMemory,
    options: { maxEntries: 3, maxBytes: 9, timeToLive: 1000 }
  },
  // Graders and sandboxes
  {
    name: "MathGrader.make",
    make: MathGrader.make,
    options: { name: "a", algebra: false, anyOrder: true, bareValues: true, isClock: true }
  },
  {
    name: "Algebra.make",
    make: Algebra.make,
    options: { timeoutMillis: 9, memoryMegabytes: 9, startMillis: 9 }
  },
  { name: "IntegerGrader.make", make: IntegerGrader.make, options: { name: "a", range: [0, 9] } },
  { name: "LetterGrader.make", make: LetterGrader.make, options: { name: "a", letters: "ABC" } },
  { name: "RlprGrader.makePaper", make: RlprGrader.makePaper, options: { needsTags: true } },
  { name: "RlprGrader.makeStrict", make: RlprGrader.makeStrict, options: { needsTags: true } },
  {
    name: "JudgeGrader.make",
    make: JudgeGrader.make,
    options: { worker, instruction: "a", temperature: 1, maxOutputTokens: 9 },
    open: ["worker"]
  },
  {
    name: "CodeGrader.liveCodeBench",
    make: (options) => CodeGrader.liveCodeBench(Sandboxes.shared, options),
    options: { timeoutMillis: 9, memoryMegabytes: 9 }
  },
  {
    name: "CodeGrader.bigCodeBench",
    make: (options) => CodeGrader.bigCodeBench(Sandboxes.shared, options),
    options: { timeoutMillis: 9, memoryMegabytes: 9 }
  },
  {
    name: "Sandboxes.named",
    make: (options) => Sandboxes.named("local-unsafe", options),
    options: { processes: 1, python: "a" }
  },
  { name: "PyodideSandbox.make", make: PyodideSandbox.make, options: { processes: 1, folder: missing } },
  { name: "BubblewrapSandbox.make", make: BubblewrapSandbox.make, options: { processes: 1, python: missing } },
  {
    name: "LocalPythonSandbox.makeUnsafe",
    make: LocalPythonSandbox.makeUnsafe,
    options: { processes: 1, python: missing }
  },
  {
    name: "ContainerSandbox.make",
    make: ContainerSandbox.make,
    options: { image: "not pinned", engine: "docker", python: "a", processes: 1 }
  },
  // Gym and policies
  {
    name: "Gym.tasks",
    make: Gym.tasks,
    options: {
      split: "train",
      count: 1,
      seed: 1,
      families: ["calendar"],
      having: "calendar",
      difficulty: 1,
      composites: 0.5
    }
  },
  {
    name: "GymPool.make",
    make: GymPool.make,
    options: { latencyMillis: 1, outages: 0, storekeeper: true, mistakes: true }
  },
  { name: "OraclePolicy.make", make: OraclePolicy.make, options: { profiles: [] } },
  { name: "LexicalPolicy.make", make: LexicalPolicy.make, options: { name: "a", split: true } },
  {
    name: "tiny",
    make: tiny,
    options: { file: missing, name: "a", temperature: 1, maxOutputTokens: 9, fallback: policy },
    open: ["fallback"]
  },
  {
    name: "llamacpp",
    make: (options) => llamacpp("a", options),
    options: {
      folder: missing,
      onProgress: nothing,
      gpu: "none",
      gpuRequired: false,
      gpuLayers: 1,
      contextTokens: 9,
      sequences: 1,
      batchTokens: 1,
      threads: 1,
      flashAttention: true,
      keyValueType: "F16",
      adapters: [],
      queueLimit: 1,
      onNotice: nothing,
      id: "a",
      description: "a",
      template: "plain",
      grammar: true,
      reasoningTokens: 1,
      maxOutputTokens: 9,
      temperature: 1,
      topK: 1,
      topP: 1,
      minP: 0
    }
  },
  {
    name: "LlamaCppModel.load",
    make: LlamaCppModel.load,
    options: {
      source: `${missing}/a.gguf`,
      folder: missing,
      onProgress: nothing,
      gpu: "none",
      gpuRequired: false,
      gpuLayers: 1,
      contextTokens: 9,
      sequences: 1,
      batchTokens: 1,
      threads: 1,
      flashAttention: true,
      keyValueType: "F16",
      adapters: [],
      queueLimit: 1,
      onNotice: nothing
    }
  },
  {
    name: "ModelStore.resolve",
    make: (options) => ModelStore.resolve(`${missing}/a.gguf`, options),
    options: { folder: missing, onProgress: nothing }
  },
  {
    name: "ModelStore.list",
    make: ModelStore.list,
    options: { folder: missing, onProgress: nothing }
  },
  {
    name: "ModelStore.remove",
    make: (options) => ModelStore.remove("a", options),
    options: { folder: missing, onProgress: nothing }
  },
  {
    name: "DefaultPolicy.of",
    make: (options) => DefaultPolicy.of(pool, options),
    options: { learned: policy, described: policy },
    open: ["learned", "described"]
  },
  {
    name: "LanguagePolicy.make",
    make: LanguagePolicy.make,
    options: {
      model: worker,
      name: "a",
      prompt: { examples: [], access: "binary", descriptions: true, subtasks: true, how: true, mayAnswer: true },
      maxOutputTokens: 9,
      temperature: 1,
      reasoning: { type: "effort", effort: "low" },
      mode: "tolerant",
      refusal: nothing,
      resamples: 1,
      fallback: policy
    },
    open: ["model", "fallback"]
  },
  {
    name: "WorkflowGrammar.make",
    make: WorkflowGrammar.make,
    options: {
      poolSize: 2,
      maxSteps: 2,
      access: "binary",
      allowEmpty: false,
      how: { checks: ["a"], shapes: ["a"], tools: ["a"], maxItems: 2 },
      mayAnswer: true,
      reasoning: true
    }
  },
  {
    name: "Reports.evaluation",
    make: (options) => Reports.evaluation(emptyReport, options),
    options: { name: "a", samples: [], profiles: [], questionOf: nothing, maxCharacters: 1 }
  },
  {
    name: "LlamaCppEmbeddings.load",
    make: LlamaCppEmbeddings.load,
    options: {
      source: `${missing}/a.gguf`,
      folder: missing,
      onProgress: nothing,
      gpu: "none",
      gpuRequired: false,
      gpuLayers: 1,
      contextTokens: 9,
      threads: 1,
      token: "last",
      onNotice: nothing
    }
  },
  {
    name: "routed",
    make: routed,
    options: { file: missing, name: "a", dial: "best", embedder, explore: 0.1 },
    open: ["embedder"]
  },
  {
    name: "Evolution.evolve",
    make: Evolution.evolve,
    options: {
      head: {},
      pool,
      grader,
      tasks: [],
      validation: [],
      embedder,
      scorePerUsd: 1,
      weights: "all",
      generations: 1,
      population: 4,
      runs: 1,
      sigma: 0.1,
      seed: 1,
      concurrency: 1,
      maxCostUsd: 1,
      run: {},
      file: missing,
      onGeneration: nothing
    },
    open: ["head", "pool", "grader", "embedder", "run"]
  },
  {
    name: "SepCmaEs.make",
    make: SepCmaEs.make,
    options: { mean: [0], sigma: 1, seed: 1, population: 4 }
  },
  { name: "Head.fit", make: (options) => Head.fit([], options), options: { embedder: "a" } },
  {
    name: "Drift.recent",
    make: (options) => Drift.recent([], options),
    options: { now: 1, halfLifeDays: 1 }
  },
  {
    name: "Replay.compare of routers",
    make: (options) => RouterReplay.compare([], undefined, options),
    options: { embedder: "a", learner: nothing }
  },
  // Providers
  {
    name: "openai",
    make: (options) => openai("a", options),
    options: {
      ...provider,
      seed: 1,
      body: {},
      organization: "a",
      project: "a",
      store: true,
      systemRole: "system",
      background: false
    },
    ...ofProvider
  },
  {
    name: "openaiChat",
    make: (options) => openaiChat("a", options),
    options: { ...provider, seed: 1, body: {}, organization: "a", project: "a", store: true, systemRole: "system" },
    ...ofProvider
  },
  {
    name: "openaiCompatible",
    make: openaiCompatible,
    options: {
      ...provider,
      seed: 1,
      model: "a",
      body: {},
      usage: "final",
      systemRole: "system",
      thinkTags: true,
      endsWithDone: true
    },
    ...ofProvider
  },
  {
    name: "anthropic",
    make: (options) => anthropic("a", options),
    options: { ...provider, body: {}, promptCache: "none", promptCacheFor: "5m" },
    ...ofProvider
  },
  {
    name: "google",
    make: (options) => google("a", options),
    options: { ...provider, seed: 1, body: {} },
    ...ofProvider
  },
  {
    name: "openGate",
    make: kit.openGate,
    options: { limits: { a: { requestsPerMinute: 1, tokensPerMinute: 1, concurrency: 1 } } },
    open: ["limits"]
  },
  {
    name: "conductorModel",
    make: (options) => conductorModel(Conductor.make({ policy, pool }), options),
    options: { modelId: "a", provider: "a", progress: true, run: {}, context: {} },
    open: ["run", "context"]
  },
  // Evaluations
  {
    name: "Evaluation.run",
    make: Evaluation.run,
    options: {
      suites: [],
      policies: [],
      pool,
      folder: missing,
      maxCostUsd: 1,
      concurrency: 1,
      paidElsewhereUsd: 1,
      retryMissing: true,
      isOffline: true,
      epochs: 1,
      confidence: 0.9,
      run: { ...settings, reassign: "never" },
      onProgress: nothing,
      sampleSeed: nothing
    },
    open: ["pool", "run.worker.reasoning"]
  },
  {
    name: "Recording.make",
    make: Recording.make,
    options: { pool, tasks: [], grader, concurrency: 1, isOffline: true },
    open: ["pool", "grader"]
  },
  { name: "Regrade.regrade", make: Regrade.regrade, options: { folder: missing, suites: [], concurrency: 1 } },
  {
    name: "Replay.decisions",
    make: (options) => Replay.decisions([], options),
    options: { grader, prompt: {}, maxSteps: 1, self: true },
    open: ["grader", "prompt"]
  },
  {
    name: "ReportDiff.make",
    make: (options) =>
      ReportDiff.make(
        { report: { benchmarks: [] }, samples: [] } as never,
        { report: { benchmarks: [] }, samples: [] } as never,
        options
      ),
    options: { policies: [], confidence: 0.9 }
  },
  {
    name: "InspectLog.make",
    make: InspectLog.make,
    options: { report: { benchmarks: [] }, samples: [], taskOf: nothing, createdMillis: 1 },
    open: ["report"]
  },
  {
    name: "Baselines.make",
    make: (options) => Baselines.make([], options),
    options: { pool, embedder, seed: 1 },
    open: ["pool", "embedder"]
  },
  {
    name: "RoutingBench.run",
    make: (options) => RoutingBench.run([], options),
    options: { split: "question", routers: [], repeats: 1, seed: 1, perKind: 1, only: ["a"], onProgress: nothing }
  },
  {
    name: "UserBenchmark.make",
    make: UserBenchmark.make,
    options: { file: missing, id: "a", grader: "math", format: "line", licence: "a", isConfidential: true }
  },
  {
    name: "Verifiers.load",
    make: Verifiers.load,
    options: { taskset: "a", python: missing, limit: 1, config: {}, timeoutMillis: 9 },
    open: ["config"]
  },
  { name: "Math500.make", make: Math500.make, options: { format: "box" } },
  { name: "Mmlu.make", make: Mmlu.make, options: { split: "test", format: "line" } },
  { name: "GpqaDiamond.make", make: GpqaDiamond.make, options: { format: "line", seed: 1 } },
  { name: "Aime25.make", make: Aime25.make, options: { format: "box" } },
  { name: "Gsm8k.make", make: Gsm8k.make, options: { format: "line" } },
  {
    name: "LiveCodeBench.make",
    make: LiveCodeBench.make,
    options: { slices: ["v1"], from: "2024-01-01", to: "2024-12-31" }
  },
  { name: "Rlpr.make", make: Rlpr.make, options: { split: "test", rule: "strict", maxReferenceLength: 9 } },
  {
    name: "Benchmarks.named",
    make: (options) => Benchmarks.named("math500", options),
    options: { format: "box", split: "test" }
  },
  // Training
  {
    name: "TrainingConfig.grpo",
    make: TrainingConfig.grpo,
    options: {
      name: "a",
      tasks: "a",
      iterations: 1,
      questions: 4,
      groupSize: 4,
      minibatches: 1,
      offPolicySteps: 0,
      optimizer: { learningRate: 1e-3 },
      objective: { loss: { type: "clippedRatio", low: 0.1, high: 0.2 }, entropy: 0, kl: 0 },
      rollouts: { run: { maxSteps: 3 } },
      pool: { type: "fixed" }
    }
  },
  {
    name: "TrainingConfig.warmStart",
    make: TrainingConfig.warmStart,
    options: { name: "a", examples: "a", steps: 1, batch: 1, optimizer: { learningRate: 1e-3 } }
  },
  {
    name: "Trainer.configure",
    make: (options) => Trainer.configure({ engine, pool, grader }, options),
    options: {
      phases: [],
      name: "a",
      seed: 1,
      checkpoints: { every: 1, keep: 1 },
      evaluateEvery: 1,
      recordRollouts: true,
      maxCostUsd: 1,
      versions: { a: "b" }
    },
    open: ["versions"]
  },
  {
    name: "ToyEngine.make",
    make: ToyEngine.make,
    options: { pieces: ["a"], order: 1, contextTokens: 9, noise: 1, seed: 1, name: "a" }
  },
  {
    name: "SamplerWorker.make",
    make: SamplerWorker.make,
    options: { sampler: { sample: nothing }, engine, id: "a", maxTokens: 9, textOf: nothing },
    open: ["sampler", "engine"]
  },
  {
    name: "Estimate.make",
    make: Estimate.make,
    options: {
      config: {},
      samples: { promptTokens: [], rollouts: [] },
      workers: [],
      engine: { pricing: {}, speed: { secondsPerSampledToken: 1, secondsPerTrainedToken: 1 } },
      secondsPerCall: { low: 1, high: 2 },
      examples: { a: { tokens: 1 } },
      evaluationTasks: 1,
      simulations: 1,
      seed: 1
    },
    open: ["config", "samples", "engine.pricing", "examples"]
  },
  {
    name: "JaxEngine.make",
    make: JaxEngine.make,
    options: {
      config: {
        // Not an architecture that is trained, so that a valid value starts no threads.
        architecture: "none",
        vocabularySize: 9,
        hiddenSize: 8,
        layers: 1,
        heads: 1,
        keyValueHeads: 1,
        headSize: 8,
        feedForwardSize: 8,
        contextLength: 8,
        normEpsilon: 1e-5,
        ropeTheta: 1e4,
        tiedEmbeddings: true
      },
      tokenizer: {},
      tensors: {},
      seed: 1,
      render: nothing,
      name: "a",
      threads: 1,
      sampling: "embedded",
      sequences: 1,
      memoryBytes: 9,
      completionsPerPass: 1
    },
    open: ["tokenizer", "tensors"]
  },
  {
    name: "JaxEngine.make of a file",
    make: JaxEngine.make,
    options: { from: missing, threads: 1, sequences: 1, memoryBytes: 9 }
  },
  {
    name: "ReaderTrainer.make",
    make: (options) => ReaderTrainer.make(undefined as never, options),
    options: { texts: 1, words: 1 }
  },
  {
    name: "TinkerClient.make",
    make: TinkerClient.make,
    options: {
      baseUrl: "not a URL",
      apiKey: Redacted.make("key"),
      wire: "json",
      tags: ["a"],
      timeoutMillis: 9,
      pollMillis: 9,
      resultMillis: 9,
      heartbeatMillis: 9,
      retry: { firstMillis: 1, mostMillis: 1, patienceMillis: 1 },
      sampleConcurrency: 1,
      chunk: { data: 1, bytes: 1 },
      onNotice: nothing,
      fetch: () => Promise.reject(new Error("offline"))
    },
    open: ["apiKey"]
  },
  {
    name: "HuggingFaceTokenizer.load",
    make: (options) => HuggingFaceTokenizer.load({ folder: missing }, options),
    options: { endToken: "a", chatTemplate: "a", variables: {} },
    open: ["variables"]
  },
  {
    name: "HuggingFaceTokenizer.load (source)",
    make: (options) => HuggingFaceTokenizer.load(options),
    options: { tokenizer: `${missing}/a.json`, config: `${missing}/b.json` }
  },
  // Servers
  {
    name: "Server.make",
    make: Server.make,
    options: {
      pool,
      policy,
      housekeeping: "fast",
      notes: "off",
      graceMillis: 1,
      heartbeatMillis: 9,
      maxBodyBytes: 9,
      content: "none",
      origins: ["http://a"],
      limits: { bodyBytes: 9, depth: 9 }
    },
    open: ["pool", "policy"]
  },
  {
    name: "NodeServer.make",
    make: NodeServer.make,
    options: { pool, policy, port: 0, host: "256.0.0.1", maxConnections: 1, requestMillis: 9 },
    open: ["pool", "policy"]
  },
  {
    name: "StudioServer.listen",
    make: StudioServer.listen,
    options: {
      source: { list: nothing, read: nothing, follow: nothing },
      port: 0,
      host: "10.0.0.1",
      onError: nothing,
      route: nothing
    },
    open: ["source"]
  },
  {
    name: "Postgres.open",
    make: Postgres.open,
    options: {
      url: Redacted.make("not a URL"),
      password: Redacted.make("a"),
      schema: "a",
      maxConnections: 1,
      patienceMillis: 1,
      startMillis: 1,
      onWait: nothing,
      graceMillis: 1,
      reconnectMillis: 1
    },
    open: ["url", "password"]
  },
  {
    name: "ClusterRuns.make",
    make: (options) => Effect.scoped(ClusterRuns.make(options)),
    options: {
      url: Redacted.make("not a URL"),
      refreshMillis: 1,
      expireMillis: 1,
      versionGroup: "a",
      worker: {
        address: { host: "a", port: 1, listenHost: "a" },
        conductor: Conductor.make({ pool }),
        optionsOf: nothing,
        concurrency: 1,
        maxTakeovers: 1,
        kubernetes: { namespace: "a", labelSelector: "a" },
        drainMillis: 1
      }
    },
    open: ["url", "worker.conductor"]
  },
  {
    name: "paperPool",
    make: paperPool,
    options: {
      setting: "controlled",
      required: false,
      successors: true,
      onNotice: nothing,
      today: "2026-01-01",
      models: {},
      baseURLs: {},
      pricing: {},
      keys: {}
    },
    open: ["models", "baseURLs", "pricing", "keys"]
  },
  {
    name: "aiSdk",
    make: (options) => aiSdk({ specificationVersion: "v4", provider: "a", modelId: "a" } as never, options),
    options: {
      id: "a",
      description: "a",
      instructions: "a",
      capabilities: { tools: true },
      provider: "a",
      pricing,
      limits,
      takesSeed: true,
      maxOutputTokens: 9,
      temperature: 1,
      reasoning: { type: "effort", effort: "low" },
      providerOptions: {},
      reasoningOptions: nothing,
      parallelOptions: nothing,
      headers: { a: "b" },
      timeoutMillis: 9,
      unsupported: "fail",
      secrets: []
    },
    open: ["pricing", "reasoning", "providerOptions", "headers"]
  },
  {
    name: "ReadingPolicy.make",
    make: (options) => ReadingPolicy.make({} as never, options),
    options: { name: "a", temperature: 1, priceWeight: 1 }
  },
  {
    name: "fromLanguageModel",
    make: (options) => fromLanguageModel({} as never, options),
    options: {
      id: "a",
      description: "a",
      instructions: "a",
      provider: "a",
      pricing,
      limits,
      maxOutputTokens: 9,
      temperature: 1,
      timeoutMillis: 9,
      secrets: []
    },
    open: ["pricing"]
  },
  {
    name: "TinkerEngine.make",
    make: TinkerEngine.make,
    options: {
      baseUrl: "http://localhost:1",
      apiKey: Redacted.make("key"),
      baseModel: "a",
      tokenizer: { encode: nothing },
      lora: { rank: 1, seed: 1, train_unembed: true, train_mlp: true, train_attn: true },
      stop: [1],
      contextTokens: 9,
      baseGguf: missing
    },
    open: ["apiKey", "tokenizer"]
  },
  {
    name: "Strongest.make",
    make: Strongest.make,
    options: { name: "a", dial: "best", records: [] }
  },
  {
    name: "Strongest.choose",
    make: (options) => Strongest.choose(pool, options),
    options: { name: "a", dial: "best", records: [] }
  },
  {
    name: "Telemetry.recorder",
    make: (options) => Telemetry.recorder(Tracer.nativeTracer, options),
    options: { content: true, provider: nothing }
  },
  { name: "Telemetry.listener", make: Telemetry.listener, options: { content: true, provider: nothing } },
  {
    name: "HeadPolicy.make",
    make: (options) => HeadPolicy.make({} as never, options),
    options: { name: "a", embedder },
    open: ["embedder"]
  },
  {
    name: "Router.make",
    make: (options) => Router.make({} as never, options),
    options: { name: "a", dial: "best", embedder, explore: 0.1, teams: new Map() },
    open: ["embedder"]
  },
  {
    name: "ModelWorker.make",
    make: (options) => ModelWorker.make({} as never, options),
    options: { template: nothing, id: "a", description: "a", maxOutputTokens: 9, temperature: 1 }
  },
  {
    name: "Keys.authenticate",
    make: Keys.authenticate,
    options: { find: nothing, ledger: nothing, paces: {} },
    open: ["paces"]
  },
  {
    name: "ConductorServer.make",
    make: ConductorServer.make,
    options: { conductor: { run: nothing }, description: "a" },
    open: ["conductor"]
  },
  {
    name: "PostgresRecords.make",
    make: (options) => PostgresRecords.make({} as never, options),
    options: { kind: "a", timeToLive: "1 day", maxBytes: 1 }
  },
  {
    name: "PostgresTasks.open",
    make: (options) => PostgresTasks.open({} as never, options),
    options: { id: "a", plan: "{}", keys: ["a"], leaseMillis: 1 }
  },
  {
    name: "Trainer.start",
    make: (options) => Trainer.start({ engine, pool, grader }, { phases: [] }, options),
    options: { folder: missing, listener: nothing, signal: new AbortController().signal, machines: {} },
    open: ["machines", "signal"]
  },
  {
    name: "Trainer.resume",
    make: (options) => Trainer.resume({ engine, pool, grader }, options),
    options: { folder: missing, listener: nothing, signal: new AbortController().signal, maxCostUsd: 1 },
    open: ["signal"]
  }
]
