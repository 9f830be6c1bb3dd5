/**
 * Compares the processor time per grading with that of other checkouts, without computer algebra, and prints it as
 * Markdown, by class of texts: `pnpm --filter @divisi/graders speed ../../../before`. Each path is the root of an
 * installed checkout. `--classes=letters,wrong` measures only some classes.
 *
 * The versions take turns within one process, so that other loads on the machine affect all of them. The first two
 * rounds, in which patterns are compiled, do not count.
 */
import path from "node:path"
import * as Assertions from "./assertions/Assertions.ts"
import { letters, sets } from "./assertions/Sets.ts"
import * as Contests from "./contests/Contests.ts"
import * as Pairs from "./pairs/Pairs.ts"

const words = process.argv.slice(2)
const roots = [...words.filter((word) => !word.startsWith("--")), path.resolve(import.meta.dirname, "../../..")]
const chosen = words
  .find((word) => word.startsWith("--classes="))
  ?.slice(10)
  .split(",")
const rounds = 9

const texts = [...Object.values(sets).flat(), ...Contests.make(1, 2), ...Assertions.make(1)]
const right = texts.filter(({ expected }, index) => expected && index % 5 === 0)
const step = "Step: we have $x = 3$ and therefore $2x + 1 = 7$, so the next term of the sum is 5.\n\n"

/** Texts with their gold answers. */
const classes: Readonly<Record<string, ReadonlyArray<{ readonly gold: string; readonly answer: string }>>> = {
  "short answers": Pairs.make(1, 2).filter(({ answer }) => /\\boxed|^[^a-z]*$/.test(answer) && answer.length < 80),
  "right texts": right,
  "right texts after 20 steps": right.map(({ answer, gold }) => ({ gold, answer: step.repeat(20) + answer })),
  "texts with another gold": right.map(({ answer }, index) => ({
    gold: right[(index + 37) % right.length]!.gold,
    answer
  })),
  "texts that only mention the gold": texts.filter(({ expected }, index) => !expected && index % 5 === 0),
  letters: Object.values(letters)
    .flat()
    .map(({ text }) => ({ gold: "A", answer: text }))
}

const load = async (root: string) => {
  const from = (file: string) => import(path.resolve(root, file))
  const [effect, task, { MathGrader }, { LetterGrader }] = await Promise.all([
    from("packages/graders/node_modules/effect/dist/Effect.js"),
    from("packages/core/src/task/Task.ts"),
    from("packages/graders/src/math.ts"),
    from("packages/graders/src/index.ts")
  ])
  const math = MathGrader.make({ algebra: false })
  return (name: string) => {
    const grader = name === "letters" ? LetterGrader.letter : math
    const tasks = classes[name]!.map(({ gold }) => task.make({ id: "text", question: "?", reference: gold }))
    return () => {
      for (const [at, { answer }] of classes[name]!.entries()) effect.runSync(grader.grade(tasks[at], answer))
    }
  }
}

const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

const print = (cells: ReadonlyArray<string>) => process.stdout.write(`| ${cells.join(" | ")} |\n`)

const versions = await Promise.all(roots.map(load))
print(["class", "texts", ...roots.map((root) => path.basename(root)), "ratio to the first"])
print(["---", "---", ...roots.map(() => "---"), "---"])
for (const name of chosen ?? Object.keys(classes)) {
  const works = versions.map((version) => version(name))
  const times: ReadonlyArray<Array<number>> = works.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const order = [...works.keys()]
    for (const version of round % 2 === 0 ? order : order.reverse()) {
      const before = process.cpuUsage()
      works[version]!()
      const { system, user } = process.cpuUsage(before)
      times[version]!.push((user + system) / classes[name]!.length)
    }
  }
  const ratios = times.map((own) => own.map((time, round) => time / times[0]![round]!))
  print([
    name,
    String(classes[name]!.length),
    ...times.map((own) => `${Math.round(median(own.slice(2)))} µs`),
    ratios.map((own) => median(own.slice(2)).toFixed(1)).join(", ")
  ])
}
