import { WorkflowText } from "@divisi/core"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import * as Grammar from "../src/Grammar.ts"
import * as WorkflowGrammar from "../src/WorkflowGrammar.ts"
import { deriver, randomOf } from "./derive.ts"

const read = (source: string) => Result.getOrThrow(Grammar.read(source))

const follow = ({ next, start }: Grammar.Grammar, text: string): number =>
  Array.from(text).reduce((state, letter) => next(state, letter.codePointAt(0)!), start)

const takes = (grammar: Grammar.Grammar, text: string) => grammar.isWhole(follow(grammar, text))

/** Texts that a grammar takes, and texts that it does not. */
const languages: ReadonlyArray<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]> = [
  ['root ::= "a" "b"?', ["a", "ab"], ["", "b", "abb"]],
  ['root ::= ("a" | "bc")*', ["", "a", "bca", "aabc"], ["b", "cb", "abca "]],
  ['root ::= ("a" | "ab")+', ["a", "ab", "aba"], ["", "b"]],
  ["root ::= [a-c0-9_-]+", ["a", "b7", "-_"], ["d", "A", ""]],
  ['root ::= [^"\\\\\\n\\x00-\\x1F]+', ["é中🙂", " "], ['"', "\\", "\n", "\u0007"]],
  ['root ::= "\\"" "\\\\" "\\t" "\\u4e2d"', ['"\\\t中'], ['"\\t中']],
  ['root ::= one one\none ::= "x" two | "y"\ntwo ::= "z"*', ["xy", "yy", "xzzxz"], ["x", "yz", "xyy"]]
]

describe("Grammar", () => {
  it.each(languages)("takes the texts of %j and no others", (source, texts, others) => {
    const grammar = read(source)
    for (const text of texts) assert.isTrue(takes(grammar, text), text)
    for (const text of others) assert.isFalse(takes(grammar, text), text)
  })

  it("takes every text of the grammar of workflows, and knows no way on behind its end", () => {
    const random = randomOf(5)
    for (const access of ["binary", "fine-grained"] as const) {
      for (const reasoning of [true, false]) {
        const source = WorkflowGrammar.make({ poolSize: 12, maxSteps: 5, access, allowEmpty: true, reasoning })
        const grammar = read(source)
        const derive = deriver(source)
        for (let count = 0; count < 200; count++) {
          const text = derive(random)
          const end = follow(grammar, text)
          assert.isTrue(grammar.isWhole(end), text)
          for (const letter of '\n "],0a')
            assert.strictEqual(grammar.next(end, letter.codePointAt(0)!), Grammar.refused)
        }
      }
    }
  })

  it("takes of damaged workflows only those that read strictly", () => {
    const random = randomOf(6)
    const rules = { poolSize: 3, maxSteps: 3, access: "binary", allowEmpty: false } as const
    const source = WorkflowGrammar.make({ ...rules, reasoning: false })
    const grammar = read(source)
    const derive = deriver(source)
    let refused = 0
    for (let count = 0; count < 3000; count++) {
      const letters = Array.from(derive(random))
      const letter = '0],[" \n9a'[Math.floor(random() * 9)]!
      letters.splice(Math.floor(random() * letters.length), random() < 0.5 ? 1 : 0, letter)
      const damaged = letters.join("")
      if (!takes(grammar, damaged)) refused++
      else assert.isTrue(Result.isSuccess(WorkflowText.read(damaged, { ...rules, mode: "strict" })), damaged)
    }
    assert.isAbove(refused, 1000)
  })

  it.each([
    ["root = 1", /is not a rule/],
    ['other ::= "a"', /no rule root/],
    ["root ::= other", /no rule other/],
    ['root ::= "a" root | "b"', /rule root contains itself/],
    ['root ::= ("a"', /parenthesis is not closed/],
    ['root ::= "a")', /no opening one/],
    ["root ::= *", /must follow an expression/],
    ["root ::= {2}", /cannot be read/]
  ])("says what is wrong with %j", (source, words) => {
    const found = Grammar.read(source)
    assert.match(Result.isFailure(found) ? found.failure.message : "", words)
  })
})
