/** The wording of the prompt, and which parts of it a prompt contains. */
import type { ConductorContext, ConductorOptions, Template } from "./Prompt.ts"

/** The default wording. */
export const defaultTemplate: Template = {
  role: "You are a Conductor. You never answer a question yourself: you plan how a team of language models answers it, and you write the plan down as a workflow.",
  rules: [
    "A workflow has {steps}. Each step gives one model one subtask. Models may be used more than once, or not at all.",
    "{subtasks}",
    "A model knows nothing but the user's question, its subtask, and the subtasks and answers of the earlier steps that its access list names.",
    "{access}",
    "Steps that do not see one another run at the same time.",
    "The answer of the last step is the final answer to the user, so the last step must give exactly what was asked for, in the form that was asked for.",
    "Use as few steps as the question deserves: one for a simple question; planning, independent attempts, separate parts and checks for a hard one."
  ],
  access: {
    binary: 'An access list is either "all", which shows every earlier step, or [], which shows none.',
    "fine-grained":
      'An access list is "all", which shows every earlier step, or a list of earlier steps, counted from 0: [0, 2] shows steps 0 and 2, [] shows none.'
  },
  subtasks: {
    written:
      "A subtask is an instruction in plain language that can be followed without knowing the plan. It says what to do, never what the answer is.",
    blank:
      "There are no subtasks: every model is asked the user's question itself. Write an empty string for each subtask."
  },
  format: `First think in a few sentences about how hard the question is and how it is best divided. Then write {exactly}these {number} Python lists, of equal length, and nothing after them:

model_id = [the number of each step's model]
subtasks = [each step's subtask, as a string]
{how}access_list = [each step's access list]`,
  example: `Example {number}

Question:
{question}

Response:
{thought}

{workflow}`,
  pool: `The pool ({count}):
{models}`,
  model: {
    described: "Model {model}: {description}",
    numbered: "Model {model}",
    failed: "Model {model}: it gave no answer in an earlier round, so do not use it."
  },
  self: "Model {model}: a Conductor like you. It plans and runs a workflow of its own for its subtask. Use it only for a part that is too large for one model.",
  conversation: `The conversation so far:
{conversation}`,
  question: `Question:
{question}`,
  ability: "Only these models can {what}: {models}.",
  recursion: `You have already answered this question once. Your workflow was:

{workflow}

Its final answer was:
{answer}{feedback}

If this answer stands, write three empty lists:

model_id = []
subtasks = []
access_list = []

Otherwise write a new workflow that does better. Its steps see the previous answer when their access list is "all".`,
  failure: `You have already planned an answer to this question once. Your workflow was:

{workflow}

Its last step failed, so there is no answer yet. Write a new workflow.`,
  refusal: `You have already planned an answer to this question once. Your workflow was:

{workflow}

The model of its last step declined to answer:
{answer}

So there is no answer yet. Write a new workflow.`,
  checks: `You may write one more list, of the same length:

checks = [for each step "", or what its answer has to pass]

There are the checks {checks}; the number of a model has that model judge. Where an answer fails its check, the steps that see it wait, you are shown what all steps have returned, and you may write another workflow. "name: next" has the next model try the step instead, and "name: continue" only notes what was found. Check an answer on which others build, or the last one.`,
  how: {
    list: 'how = [for each step "", or clauses with "; " between them]',
    text: `The list how says how each step is run. "list 16" has the step answer with a list of at most 16 items. "each 0" has a step run once for each item of step 0, at the same time; {item} in its subtask is the item, and steps that see it see all of its answers. "each 1" after that runs once for the same item of step 1. "after 2" has a step start as soon as 2 of the steps that it sees have answered. "effort low", "effort medium" or "effort high" says how long its model thinks, and "at most 800 tokens" how much it writes.{gives}{tools}{checks} For example, three steps that find the parts, work on each of them and join the results:

how = ["list 16", "each 0", ""]

Use a list only where the number of parts is not known, since every item is a call.`,
    gives: ' "gives name" has the step answer in a form that is known by its name: {shapes}.',
    tools: ' "tools name, name" gives the step only these tools: {tools}.',
    checks:
      ' "if 0 failed" has a step run only if the check of step 0 failed. A check "name: again 3" has the same model try again, 3 times at most.'
  },
  answer: {
    role: "You are a Conductor. You plan how a team of language models answers a question, and you write the plan down as a workflow.",
    text: `If the question is so easy that you are certain of its answer, give the answer yourself instead of the lists, and write nothing after it:

answer = "your whole answer, in the form that was asked for"`
  },
  evidence: `Your workflow is being carried out:

{workflow}

Its steps, and those of rounds before it, have returned so far:

{returned}

{objections}

If the workflow is to go on as it is, write three empty lists:

model_id = []
subtasks = []
access_list = []

If what a step has returned stands as the answer to the question, name it, and nothing else. For step 1 of round 0:

model_id = []
subtasks = []
access_list = [["0.1"]]

Otherwise write a new workflow. Its access lists may name what has been returned, as ["0.1"] does for step 1 of round 0.`,
  feedback: `

A reviewer said of this answer:
{feedback}`,
  closing: "Write your thoughts, then {lists}.",
  correction: "This cannot be read as a workflow. {error}\n\nWrite {lists} again, corrected."
}

/**
 * A template with empty sections. Use it for a prompt that consists of only the question, or as the basis for one with
 * only a few sections.
 */
export const emptyTemplate: Template = {
  role: "",
  rules: [],
  access: { binary: "", "fine-grained": "" },
  subtasks: { written: "", blank: "" },
  format: "",
  example: "",
  pool: "",
  model: { described: "", numbered: "" },
  self: "",
  conversation: "",
  question: "",
  recursion: "",
  feedback: "",
  closing: "",
  correction: ""
}

/** Whether the prompt lists the available checks, so that the policy may use them. */
export const mentionsChecks = (
  { checks = [] }: Pick<ConductorContext, "checks">,
  { template }: ConductorOptions = {}
): boolean => checks.length > 0 && (template ?? defaultTemplate).checks !== undefined

/** Whether the prompt explains the `how` list, so that the policy may write it. */
export const mentionsHow = ({ how, template }: ConductorOptions = {}): boolean =>
  how === true && (template ?? defaultTemplate).how !== undefined

/** Whether the prompt allows the policy to answer directly. */
export const mentionsAnswer = ({ mayAnswer, template }: ConductorOptions = {}): boolean =>
  mayAnswer === true && (template ?? defaultTemplate).answer !== undefined
