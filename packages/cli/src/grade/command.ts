/** Defines `divisi grade` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { gradeFlags } from "./flags.ts"

export const grade = Command.make("grade", gradeFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Grade.ts")),
    (Grade) => Grade.grade(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Grade answers, and report which rule (`rung`) decided each verdict.",
      "",
      'With --lines, each input line is {"gold":"1/2","answer":"so it is \\\\boxed{0.5}"}, and each output line is its verdict:',
      '{"correct":true,"rung":"rational","extracted":"0.5"}. The result of a line that cannot be graded is',
      '{"correct":null,"error":"…"}; the exit code is then 1, after all lines are processed.',
      "",
      "Code graders run the program. For them, gold is a record from the benchmark, or at least",
      '{"public_test_cases":[{"input":"2 3","output":"5","testtype":"stdin"}]}.',
      "",
      "If the grader is a judge (a model), lines can include the question. If lines have a label (true or false), the",
      "agreement between grader and labels is printed at the end.",
      "",
      "With --gold and --answer, one answer is graded. The exit code is 0 if it is correct, 1 if not."
    )
  ),
  Command.withExamples([
    { command: "divisi grade --grader math --lines answers.jsonl > verdicts.jsonl", description: "Grade a file" },
    {
      command: "divisi grade --grader livecodebench --sandbox bubblewrap --lines programs.jsonl",
      description: "Grade programs in a sandbox"
    },
    {
      command: "divisi grade --grader judge:openai:gpt-6.1-terra --lines labelled.jsonl",
      description: "Use a model as a judge, and compare it with labels"
    },
    { command: "divisi grade --gold '\\frac{1}{2}' --answer 0.5", description: "Grade one answer" }
  ])
)
