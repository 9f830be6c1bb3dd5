/**
 * How long WorkflowText.read takes: on a typical completion, and on two megabytes that were made to hurt it.
 *
 *     node --conditions=@divisi/source packages/core/scripts/measure-workflow-text.ts
 *
 * Prints JSON: microseconds for the completion, milliseconds for each adversarial text.
 */
import * as WorkflowText from "../src/workflow/WorkflowText.ts"

const size = 2_000_000
const repeat = (piece: string) => piece.repeat(Math.ceil(size / piece.length))
const rules = { poolSize: 7 }

const subtask = (verb: string) =>
  `${verb} the problem step by step, state every assumption, and end with one line.`.repeat(2)
const lists = `model_id = [1, 0, 2]
subtasks = ["${subtask("Plan")}", "${subtask("Solve")}", "${subtask("Check")}"]
access_list = [[], [0], "all"]`
const completions = {
  strict: lists,
  fenced: `This is hard: I want a plan, a solution and a check, each by the model that is best at it. ${"So. ".repeat(60)}

\`\`\`python
${lists}
\`\`\``
}

const adversarial: { readonly [name: string]: string } = {
  "million brackets": repeat("["),
  "brackets in a list": `model_id = ${repeat("[")}`,
  "parentheses in a list": `model_id = [${repeat("(")}`,
  heads: repeat("model_id = ["),
  "heads and comments in one line": repeat("model_id = [# "),
  "heads and quotes": repeat("model_id = ['"),
  "heads, alternating quotes": repeat("model_id = ['\nsubtasks = [\"\n"),
  "heads and triple quotes": repeat("model_id = ['''\""),
  "heads and curly quotes": repeat("model_id = [“"),
  "heads in comments": repeat("model_id = [ # [\n"),
  "nested heads": repeat("model_id = [[["),
  quotes: repeat("'"),
  "quotes in a list": `subtasks = [${repeat("'")}`,
  "double quotes and letters": `subtasks = ["${repeat('a"')}`,
  "quotes and blanks": `subtasks = ["${repeat('"    a')}`,
  "blanks after a quote": `subtasks = ["${" ".repeat(size)}" ${" ".repeat(size)}`,
  "blanks after a name": `model_id${" ".repeat(size)}= [`,
  "names and blanks": repeat("model_id    "),
  "names and separators": repeat("model_id:"),
  annotations: repeat("model_id: list[int, int, int, int, int] "),
  backslashes: `subtasks = ["${repeat("\\")}`,
  "backslashes and breaks": `model_id = [${repeat("\\\n")}`,
  "unclosed string": `subtasks = ["${repeat("a")}`,
  "unclosed triple": `subtasks = ["""${repeat("a\n")}`,
  "strings side by side": `subtasks = [${repeat('"a" ')}`,
  "long list": `model_id = [${repeat("1,")}]`,
  "long list of lists": `access_list = [${repeat("[],")}]`,
  "list of signs": `model_id = [${repeat("-")}`,
  digits: `model_id = [${repeat("7")}]`,
  "hexadecimal digits": `model_id = [0x${repeat("f_f")}]`,
  escapes: `subtasks = ["${repeat("\\x41\\u0041")}"]`,
  "names of characters": `subtasks = ["${repeat("\\N{BULLET}")}"]`,
  fences: repeat("```\n"),
  "complete sets": repeat('model_id = [1]\nsubtasks = ["x"]\naccess_list = [[]]\n'),
  "complete sets in prose": repeat('so model_id = [1] and subtasks = ["x"] and access_list = [[]] or '),
  "line breaks": repeat("\r\n"),
  objects: repeat('{"model_id": [1, {')
}

const time = (text: string, mode: "tolerant" | "strict") => {
  const start = performance.now()
  WorkflowText.read(text, { ...rules, mode })
  return Math.round(performance.now() - start)
}

const perRead = (text: string) => {
  const rounds = 20_000
  for (let index = 0; index < rounds; index++) WorkflowText.read(text, rules)
  const start = performance.now()
  for (let index = 0; index < rounds; index++) WorkflowText.read(text, rules)
  return Math.round(((performance.now() - start) / rounds) * 10_000) / 10
}

console.log(
  JSON.stringify(
    {
      completionMicros: Object.fromEntries(
        Object.entries(completions).map(([name, text]) => [name, { characters: text.length, micros: perRead(text) }])
      ),
      adversarialMillis: Object.fromEntries(
        Object.entries(adversarial).map(([name, text]) => [
          name,
          { tolerant: time(text, "tolerant"), strict: time(text, "strict") }
        ])
      )
    },
    null,
    2
  )
)
