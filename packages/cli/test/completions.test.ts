/** The scripts that shells complete by, run in these shells. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { divisi } from "./process.ts"

type Shell = "bash" | "zsh" | "fish"

const folder = mkdtempSync(path.join(tmpdir(), "divisi-completions-"))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const scriptOf = (shell: Shell): string => path.join(folder, `divisi.${shell}`)

const has = (shell: Shell): boolean => spawnSync(shell, ["--version"]).status === 0

/** Returns bash's completions for a line whose last word is incomplete, as readline requests them. */
const bash = (line: string): ReadonlyArray<string> => {
  // Readline takes words apart at colons, too.
  const words = line.split(/ |(?=:)|(?<=:)/)
  const script = [
    `source ${scriptOf("bash")}`,
    `COMP_LINE=${JSON.stringify(line)} COMP_POINT=${line.length}`,
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}) COMP_CWORD=${words.length - 1}`,
    `_divisi divisi '${words.at(-1) === ":" ? "" : words.at(-1)}' '${words.at(-2)}'`,
    `printf "%s\\n" "\${COMPREPLY[@]}"`
  ]
  const output = execFileSync("bash", ["--norc", "-c", script.join("\n")], { encoding: "utf8" })
  return output.split("\n").filter((reply) => reply !== "")
}

const fish = (line: string): ReadonlyArray<string> =>
  execFileSync("fish", ["--no-config", "-c", `source ${scriptOf("fish")}; complete -C ${JSON.stringify(line)}`], {
    encoding: "utf8"
  })
    .split("\n")
    .filter((reply) => reply !== "")
    .map((reply) => reply.split("\t")[0]!)

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"] as const) {
    const { code, output } = await divisi(["--completions", shell])
    assert.strictEqual(code, 0)
    writeFileSync(scriptOf(shell), output)
  }
}, 120_000)

/** Lines, and some of what is offered for their last words. */
const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ["divisi ", ["run", "train", "pool", "help"]],
  ["divisi pool ", ["check", "list"]],
  ["divisi run --policy le", ["lexical"]],
  ["divisi run --policy single:pro", ["professor"]],
  ["divisi run --pool openai:gpt-5-m", ["gpt-5-mini"]],
  ["divisi run --pool paper:c", ["controlled"]],
  ["divisi gym solve --policy a", ["all"]],
  ["divisi gym solve --split v", ["validation"]],
  ["divisi train --recipe t", ["toy"]],
  ["divisi train --engine j", ["jax"]],
  ["divisi train export runs/a --to gguf", ["gguf", "gguf-lora"]],
  ["divisi eval --benchmark math", ["math500"]],
  ["divisi eval --baselines mo", ["moa"]],
  ["divisi eval --reasoning m", ["minimal", "medium"]],
  ["divisi models download qwen2.5-0", ["qwen2.5-0.5b-instruct"]],
  ["divisi run --max-c", ["--max-cost"]]
]

describe("bash", () => {
  it.skipIf(!has("bash")).each(cases)("completes %s", (line, expected) => {
    assert.includeMembers([...bash(line)], [...expected])
  })

  it.skipIf(!has("bash"))("offers nothing else for a policy", () => {
    assert.deepStrictEqual(bash("divisi run --policy lex"), ["lexical"])
  })
})

describe("fish", () => {
  it.skipIf(!has("fish")).each(cases)("completes %s", (line, expected) => {
    const prefix = /[^ ]*:/.exec(line.split(" ").at(-1)!)?.[0] ?? ""
    assert.includeMembers(
      [...fish(line)],
      expected.map((word) => prefix + word)
    )
  })
})

describe("zsh", () => {
  it.skipIf(!has("zsh"))("takes the script", () => {
    assert.strictEqual(spawnSync("zsh", ["-f", "-n", scriptOf("zsh")]).status, 0)
  })
})
