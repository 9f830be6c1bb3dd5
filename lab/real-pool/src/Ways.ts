/** The models, and the three ways to prompt them. */

import { isLettered } from "./Options.ts"
import type { Question } from "./Questions.ts"

/** The pool's models, by their makers' names; `sha256` identifies the file. Money is proportional to the weights. */
export const models = [
  {
    id: "smollm2-135m",
    name: "SmolLM2-135M-Instruct, Q4_1",
    file: "SmolLM2-135M-Instruct-Q4_1.gguf",
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    weights: 0.135e9
  },
  {
    id: "qwen2.5-coder-0.5b",
    name: "Qwen2.5-Coder-0.5B-Instruct, mostly Q5_0",
    file: "qwen2.5-coder-0.5b-instruct-q5_0.gguf",
    sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    weights: 0.49e9
  },
  {
    id: "qwen2.5-coder-1.5b",
    name: "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
    file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    weights: 1.54e9
  }
] as const

export type ModelId = (typeof models)[number]["id"]

export const ways = ["direct", "steps", "program"] as const
export type Way = (typeof ways)[number]

/** The maximum number of tokens of an answer. */
export const maxOutputTokens: Readonly<Record<Way, number>> = { direct: 48, steps: 400, program: 256 }

const direct = (question: Question): string =>
  isLettered(question)
    ? 'Reply with one line only: "Answer: " and the letter.'
    : question.kind === "math500"
      ? "Reply with the final answer only, in \\boxed{}."
      : "Reply with the final number only."

/** The request for steps with an answer at the end. */
export const steps = (question: Question): string =>
  isLettered(question)
    ? 'Think step by step, briefly. End with a line "Answer: " and the letter.'
    : question.kind === "math500"
      ? "Solve it step by step, briefly, in words, not in code. End with the final answer in \\boxed{}."
      : 'Solve it step by step, briefly, in words, not in code. End with the line "The answer is" and the number.'

const program =
  "Write a short Python program that calculates and prints only the final answer. Reply with one code block."

/** The prompt of a question. A question that asks for a function is graded by its tests in every way. */
export const prompt = (question: Question, way: Way): string => {
  if (question.kind !== "programs") {
    return `${question.text}\n\n${way === "direct" ? direct(question) : way === "steps" ? steps(question) : program}`
  }
  const how = {
    direct: "Reply with the function only, in one code block.",
    steps: "Explain the algorithm in two sentences, then write the function in one code block.",
    program: "Reply with one code block: the function, followed by two assertions that test it."
  }
  return `${question.text}\n\n${how[way]}`
}

/** The maximum number of tokens of an answer. It also applies to functions, which do not fit into a short answer. */
export const limitOf = (question: Question, way: Way): number =>
  question.kind === "programs" ? 256 : maxOutputTokens[way]
