/**
 * Examples in documentation: the `ts` code blocks of docstrings and Markdown pages, and the values they claim.
 *
 * A block that begins with three backticks and `ts` is type-checked and run; `ts no-run` is only type-checked, for what
 * needs a key or a network. A comment `// => value` behind an expression, or behind `const name = …`, claims that the
 * expression, or the name, deeply equals `value`.
 */
import ts from "typescript"

/** A code block and where it stands. */
export interface Example {
  /** The file it stands in. */
  readonly file: string
  /** The line of that file (from 1) on which the code begins. */
  readonly line: number
  readonly code: string
  /** Whether it is run, or only type-checked. */
  readonly isRun: boolean
}

const opening = /^(\s*(?:\*\s?)?)```ts( no-run)?\s*$/

/** The examples of a file, in order. A docstring's leading ` * ` is taken off. */
export const extract = (file: string, text: string): ReadonlyArray<Example> => {
  const lines = text.split("\n")
  const examples: Array<Example> = []
  for (let at = 0; at < lines.length; at++) {
    const found = opening.exec(lines[at]!)
    if (found === null) continue
    const prefix = found[1]!.trimEnd()
    const first = at + 1
    const strip = (line: string) =>
      line.startsWith(found[1]!) ? line.slice(found[1]!.length) : line.slice(prefix.length)
    const code: Array<string> = []
    for (at = first; at < lines.length && strip(lines[at]!).trim() !== "```"; at++) code.push(strip(lines[at]!))
    examples.push({ file, line: first + 1, code: `${code.join("\n")}\n`, isRun: found[2] === undefined })
  }
  return examples
}

const claim = /^\s*\/\/ => (.*)$/

/** The expression whose value a statement's claim is about, as text. */
const subjectOf = (statement: ts.Statement, source: ts.SourceFile): string | undefined => {
  if (ts.isExpressionStatement(statement)) {
    const { expression } = statement
    const isLog =
      ts.isCallExpression(expression) &&
      expression.expression.getText(source) === "console.log" &&
      expression.arguments.length === 1
    return (isLog ? expression.arguments[0]! : expression).getText(source)
  }
  if (!ts.isVariableStatement(statement) || statement.declarationList.declarations.length !== 1) return undefined
  const { name } = statement.declarationList.declarations[0]!
  return ts.isIdentifier(name) ? name.text : undefined
}

/** Every comment of a text that makes a claim, by the position at which it begins. */
const claimsOf = (code: string): ReadonlyMap<number, string> => {
  const claims = new Map<number, string>()
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, code)
  for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan()) {
    if (token !== ts.SyntaxKind.SingleLineCommentTrivia) continue
    const found = claim.exec(scanner.getTokenText())
    if (found !== null) claims.set(scanner.getTokenStart(), found[1]!.trim())
  }
  return claims
}

/** An example as it is run: each claim has become a call of `__claim`, on the same line. */
export interface Runnable {
  readonly code: string
  readonly claims: number
  /** Claims that stand behind nothing that has a value, by line of the example (from 1). */
  readonly idle: ReadonlyArray<number>
}

/** Turns the claims of an example into calls of `__claim(actual, expected, line)`. */
export const toRunnable = (example: Example): Runnable => {
  const source = ts.createSourceFile("example.ts", example.code, ts.ScriptTarget.Latest, true)
  const open = new Map(claimsOf(example.code))
  const edits: Array<{ readonly at: number; readonly end: number; readonly text: string }> = []
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1

  const visit = (node: ts.Node): void => {
    for (const comment of ts.getTrailingCommentRanges(example.code, node.end) ?? []) {
      const expected = open.get(comment.pos)
      if (expected === undefined || !ts.isStatement(node)) continue
      const subject = subjectOf(node, source)
      if (subject === undefined) continue
      open.delete(comment.pos)
      const call = `__claim(${subject}, (${expected}), ${example.line + lineAt(comment.pos) - 1});`
      if (ts.isExpressionStatement(node)) edits.push({ at: node.getStart(source), end: comment.end, text: `;${call}` })
      else edits.push({ at: comment.pos, end: comment.end, text: `;${call}` })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)

  const code = edits
    .sort((left, right) => right.at - left.at)
    .reduce((text, { at, end, text: replacement }) => text.slice(0, at) + replacement + text.slice(end), example.code)
  return { code, claims: edits.length, idle: [...open.keys()].map((position) => example.line + lineAt(position) - 1) }
}
