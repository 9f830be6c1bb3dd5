/** Texts that were read before programs, and the readings of them: with the rule `how` off nothing about them changes. */
import { createHash } from "node:crypto"
import * as Result from "effect/Result"
import { makeCorpus } from "../scripts/workflowTextCorpus.ts"
import * as WorkflowText from "../src/workflow/WorkflowText.ts"

const plan = 'model_id = [1, 0]\nsubtasks = ["Plan.", "Do it."]\naccess_list = [[], "all"]'
const how = plan.replace("access_list", 'how = ["list 4", "each 0"]\naccess_list')

/** Texts that use the words of programs, which an old reader does not know. */
const strangers: ReadonlyArray<string> = [
  plan,
  how,
  how.replace("how", "How"),
  `${plan}\nhow = ["", ""]`,
  `how = ["", ""]\n${plan}`,
  `${plan}\nchecks = ["tests: again 3", ""]`,
  `${plan}\nchecks = ["tests: again", "tests"]`,
  `${plan}\nchecks = ["tests: next", "0"]`,
  'answer = "Paris."',
  `answer = "Paris."\n${plan}`,
  `${plan}\nanswer = "Paris."`,
  `Here is how: [1], and how = [2].\n${plan}`,
  `{"model_id": [0], "subtasks": ["x"], "how": ["list 2"], "access_list": [[]]}`
]

const rules: ReadonlyArray<WorkflowText.Options> = [
  { poolSize: 7 },
  { poolSize: 1000, maxSteps: 1000, allowEmpty: true },
  { poolSize: 7, maxSteps: 5, allowEmpty: true, checks: ["tests"], judges: 3, earlier: [2] }
]

/** The digest of all readings: workflows, notes, positions and messages. */
export const digestOf = (more: Partial<WorkflowText.Options> = {}): string => {
  const hash = createHash("sha256")
  for (const text of [...strangers, ...makeCorpus(50, 3000)]) {
    for (const mode of ["strict", "thought-then-strict", "tolerant"] as const) {
      for (const rule of rules) {
        const reading = WorkflowText.read(text, { ...rule, ...more, mode })
        hash.update(
          Result.isSuccess(reading)
            ? JSON.stringify(reading.success)
            : JSON.stringify([reading.failure.message, reading.failure.reason._tag, reading.failure.expected])
        )
      }
    }
  }
  return hash.digest("hex")
}
