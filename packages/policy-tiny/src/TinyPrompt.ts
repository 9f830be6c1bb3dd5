/**
 * The prompt of the tiny Conductor: the pool and the question, and nothing that would have to be explained to a model
 * that knows nothing else. It is the prompt of every language policy with other words in it.
 */
import * as Prompt from "@divisi/core/Prompt"

/** The wording: workers by ordinal with their published description, the question, and a previous round. */
export const template: Prompt.Template = {
  ...Prompt.emptyTemplate,
  pool: "{models}",
  // It looks for workers by the words of their descriptions, so it finds none that is not described.
  model: { described: "{model} {description}", numbered: "{model}", failed: "{model}" },
  question: "{question}",
  recursion: "{workflow}\nAnswer: {answer}{feedback}",
  // Without an answer there is nothing to go on from: it plans as if for the first time, for those who are left.
  failure: "",
  feedback: "\n{feedback}",
  correction: "{error}"
}

/** How a language policy is prompted for the tiny Conductor. */
export const options: Prompt.ConductorOptions = { template, examples: [], access: "binary", descriptions: true }
