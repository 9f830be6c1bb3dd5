/**
 * Examples in documentation: `ts` code blocks in docstrings and on Markdown pages, and the values that they claim.
 *
 * Blocks that start with three backticks and `ts` are type-checked and run. `ts no-run` blocks, which need a key or a
 * network, are only type-checked. A comment `// => value` after an expression, or after `const name = …`, claims that
 * the expression or the name deeply equals `value`.
 */
import ts from "typescript"
import type { Block } from "./Block.ts"

/** A code block and its location. */
export interface Example {
  /** File that contains the block. */
  readonly file: string
  /** Line in the file at which the code starts, counted from 1. */
  readonly line: number
  readonly code: string
  /** Whether the example is run, or only type-checked. */
  readonly isRun: boolean
}

/** Returns the example in a block, if it is one. */
export const fromBlock = ({ file, info, language, line, text }: Block): Example | undefined =>
  language === "ts" ? { file, line, code: text, isRun: !/\bno-run\b/.test(info) } : undefined

/** Matches text that looks like a claim and must therefore be checked. */
const claim = /^\/[/*]\s*=>(.*)$/s

/** A comment in a program. */
interface Comment {
  readonly position: number
  readonly end: number
  readonly text: string
}

/** Returns the comments in a program. Text in strings and templates is not included. */
export const comments = (source: ts.SourceFile): ReadonlyArray<Comment> => {
  const found = new Map<number, Comment>()
  const take = (range: ts.CommentRange) =>
    found.set(range.pos, { position: range.pos, end: range.end, text: source.text.slice(range.pos, range.end) })
  const visit = (node: ts.Node): void => {
    // A docstring is a child of the node that follows it, and is found as that node's comment.
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return
    const children = node.getChildren(source)
    for (const child of children) visit(child)
    if (children.length > 0) return
    for (const range of ts.getTrailingCommentRanges(source.text, node.pos) ?? []) take(range)
    for (const range of ts.getLeadingCommentRanges(source.text, node.pos) ?? []) take(range)
  }
  visit(source)
  return [...found.values()].sort((left, right) => left.position - right.position)
}

export const parse = (code: string): ts.SourceFile =>
  ts.createSourceFile("example.ts", code, ts.ScriptTarget.Latest, true)

/** Whether a text is a single expression. */
const isExpression = (text: string): boolean => {
  const { diagnostics = [] } = ts.transpileModule(`(${text})`, { reportDiagnostics: true })
  const { statements } = parse(`(${text})`)
  const [only] = statements
  return (
    diagnostics.length === 0 &&
    statements.length === 1 &&
    ts.isExpressionStatement(only!) &&
    ts.isParenthesizedExpression(only.expression)
  )
}

/** Returns the expression whose value a statement's claim refers to, as text. */
const subjectOf = (statement: ts.Node, source: ts.SourceFile): string | undefined => {
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

/** A problem with a claim, and its line in the file. */
export interface Fault {
  readonly line: number
  readonly message: string
}

/** An executable example, in which each claim was replaced by a call of `__claim` on the same line. */
export interface Runnable {
  readonly code: string
  /** Lines of the claims that are checked. */
  readonly claims: ReadonlyArray<number>
  /** Claims that cannot be checked. */
  readonly faults: ReadonlyArray<Fault>
}

/** Converts the claims in an example to calls of `__claim(actual, expected, line)`. */
export const toRunnable = (example: Example): Runnable => {
  const source = parse(example.code)
  const lineAt = (position: number) => example.line + source.getLineAndCharacterOfPosition(position).line
  const statements = new Map<number, ts.Node>()
  const visit = (node: ts.Node): void => {
    // A comment belongs to the outermost statement that ends before it.
    for (const { pos } of ts.getTrailingCommentRanges(example.code, node.end) ?? []) {
      if (ts.isStatement(node) && !statements.has(pos)) statements.set(pos, node)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)

  const edits: Array<{ readonly at: number; readonly end: number; readonly text: string }> = []
  const claims: Array<number> = []
  const faults: Array<Fault> = []
  for (const { end, position, text } of comments(source)) {
    const expected = claim.exec(text)?.[1]?.trim()
    if (expected === undefined) continue
    const line = lineAt(position)
    const statement = statements.get(position)
    const subject = statement && subjectOf(statement, source)
    const fault = !example.isRun
      ? "stands in an example that is not run."
      : subject === undefined
        ? "stands behind nothing that has a value."
        : !isExpression(expected)
          ? `is followed by no value: ${expected}`
          : undefined
    if (fault !== undefined) {
      faults.push({ line, message: `"// =>" ${fault}` })
      continue
    }
    claims.push(line)
    const call = `;__claim(${subject}, (${expected}), ${line});`
    const at = ts.isExpressionStatement(statement!) ? statement.getStart(source) : position
    edits.push({ at, end, text: call })
  }
  const code = edits
    .sort((left, right) => right.at - left.at)
    .reduce((text, { at, end, text: replacement }) => text.slice(0, at) + replacement + text.slice(end), example.code)
  return { code, claims, faults }
}

/**
 * Returns the lines in a file (counted from 1) that look like a claim. Claims quoted as code in a sentence are
 * excluded.
 */
export const mentions = (file: string, text: string): ReadonlyArray<number> => {
  const isPage = file.endsWith(".md")
  const source = isPage ? undefined : parse(text)
  const parts =
    source === undefined
      ? [{ position: 0, text }]
      : comments(source).map(({ position, text }) => ({
          position: source.getLineAndCharacterOfPosition(position).line,
          text
        }))
  return parts.flatMap(({ position, text }) =>
    text
      .split("\n")
      .flatMap((line, at) => (/\/[/*]\s*=>/.test(line.replace(/`[^`]*`/g, "")) ? [position + at + 1] : []))
  )
}
