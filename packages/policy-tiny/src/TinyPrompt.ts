/**
 * The prompt of the tiny Conductor: the pool and the question, without the explanations that only a larger model could
 * use. It is the prompt of every language policy with another template.
 */
import { Prompt } from "@divisi/core"

/** The template: workers by index with their published descriptions, the question, and the previous round. */
export const template: Prompt.Template = {
  ...Prompt.emptyTemplate,
  pool: "{models}",
  // It finds workers by the words of their descriptions.
  model: { described: "{model} {description}", numbered: "{model}", failed: "{model}" },
  question: "{question}",
  recursion: "{workflow}\nAnswer: {answer}{feedback}",
  // Without a previous answer it plans as if for the first time, for the workers that are left.
  failure: "",
  feedback: "\n{feedback}",
  correction: "{error}"
}

/** The prompt options of a language policy for the tiny Conductor. */
export const options: Prompt.ConductorOptions = { template, examples: [], access: "binary", descriptions: true }
