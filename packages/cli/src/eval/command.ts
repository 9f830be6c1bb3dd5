/** Defines `divisi eval` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { diffFlags, evalFlags, exportFlags, regradeFlags } from "./flags.ts"

const regrade = Command.make("regrade", regradeFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Regrade.ts")),
    (Regrade) => Regrade.regrade(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Grade the answers of an evaluation again without calling workers, rewrite the report, and list the changed",
      "verdicts."
    )
  ),
  Command.withShortDescription("Grade the answers of an evaluation again"),
  Command.withExamples([
    { command: "divisi eval regrade evaluation", description: "Grade again after changing a grader" },
    { command: "divisi eval regrade evaluation --grader rlpr-paper", description: "Use another grader" }
  ])
)

const exported = Command.make("export", exportFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Export.ts")),
    (Export) => Export.write(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Export recorded runs as training data: one JSON line per policy completion or worker answer, with its prompt and",
      "reward. The output contains the questions: do not use an evaluation of a test set as training data.",
      "",
      "With --to inspect, it contains logs for `inspect view` and `read_eval_log` from inspect_ai."
    )
  ),
  Command.withShortDescription("Export recorded runs as training data"),
  Command.withExamples([
    {
      command: "divisi eval export evaluation --to decisions --out decisions.jsonl",
      description: "Prompts, completions and rewards of policies"
    },
    {
      command: "divisi eval export evaluation --to inspect --out logs",
      description: "Logs for inspect view --log-dir logs"
    }
  ])
)

const diff = Command.make("diff", diffFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Diff.ts")),
    (Diff) => Diff.diff(input)
  )
).pipe(
  Command.withDescription(
    "Compare two evaluations, question by question if the tasks match, and list the settings that differ."
  ),
  Command.withShortDescription("Compare two evaluations"),
  Command.withExamples([
    { command: "divisi eval diff before after", description: "Compare the policies that both contain" }
  ])
)

export const evaluate = Command.make("eval", evalFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Evaluate.ts")),
    (Evaluate) => Evaluate.evaluate(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Compare policies on the same tasks under equal conditions. The report contains accuracy with standard errors, paired",
      "differences, cost, time, steps, and calls per worker.",
      "",
      "Each answer is stored as it arrives. To continue after Ctrl-C or a crash, run the same command again; after the cost",
      "limit, raise the limit first. No answer is paid for twice. You can add policies, benchmarks and samples later.",
      "",
      "In the output folder, results.json, samples.jsonl, questions.jsonl, report.html, report.md and report.csv are safe to",
      "share. The other files contain the text of all messages.",
      "",
      "Exit codes: 0 done, 1 failed or too many samples missing, 2 usage or config error, 3 stopped by --max-cost, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withSubcommands([regrade, diff, exported]),
  Command.withExamples([
    {
      command: "divisi eval --policy lexical --baselines single,moa,random",
      description: "Evaluate in the gym, at no cost"
    },
    {
      command:
        "divisi eval --benchmark math500,mmlu --limit 100 --samples 3 --max-cost 20 --policy openai:gpt-6.1-terra",
      description: "Use benchmarks, with a total cost limit"
    },
    {
      command: "divisi eval --benchmark questions.jsonl --grader math --policy single:openai:gpt-6.1-sol",
      description: "Use your own questions"
    }
  ])
)
