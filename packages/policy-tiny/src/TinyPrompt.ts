/**
 * The prompt of the tiny Conductor: the pool and the question, without the explanations that only a larger model could
 * use. It has the same structure as the prompts of other language policies, with a different template.
 */
import { Prompt } from "@divisi/core"

/** The prompt template: workers by index with their descriptions, the question, and the previous round. */
export const template: Prompt.Template = {
  ...Prompt.emptyTemplate,
  pool: "{models}",
  // The model selects workers by words in their descriptions.
  model: { described: "{model} {description}", numbered: "{model}", failed: "{model}" },
  question: "{question}",
  recursion: "{workflow}\nAnswer: {answer}{feedback}",
  // Without a previous answer, it plans as in a first round, for the remaining workers.
  failure: "",
  feedback: "\n{feedback}",
  correction: "{error}"
}

/** Prompt options for a language policy with the tiny Conductor. */
export const options: Prompt.ConductorOptions = { template, examples: [], access: "binary", descriptions: true }
