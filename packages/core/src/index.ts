/**
 * The domain and the one loop of Divisi. Import a module by its subpath (`@divisi/core/Conductor`) where start-up time
 * matters: this file loads them all, the schemas of `Wire` included.
 */

export * as LanguagePolicy from "./policy/LanguagePolicy.ts"
export * as Policy from "./policy/Policy.ts"
export * as Prompt from "./policy/Prompt.ts"
export * as AnswerText from "./record/AnswerText.ts"
export * as RunEvent from "./record/RunEvent.ts"
export * as Telemetry from "./record/Telemetry.ts"
export * as Transcript from "./record/Transcript.ts"
export * as Wire from "./record/Wire.ts"
export * as Budget from "./run/Budget.ts"
export * as Conductor from "./run/Conductor.ts"
export * as Critic from "./run/Critic.ts"
export * as Executor from "./run/Executor.ts"
export * as Resilience from "./run/Resilience.ts"
export * as ResponseCache from "./run/ResponseCache.ts"
export * as ScriptedWorker from "./ScriptedWorker.ts"
export * as Seed from "./Seed.ts"
export * as Allowance from "./task/Allowance.ts"
export * as Grader from "./task/Grader.ts"
export * as Task from "./task/Task.ts"
export * as Worker from "./task/Worker.ts"
export * as WorkerPool from "./task/WorkerPool.ts"
export * as Topology from "./workflow/Topology.ts"
export * as Workflow from "./workflow/Workflow.ts"
export * as WorkflowText from "./workflow/WorkflowText.ts"
