/**
 * Examples in documentation: the `ts` code blocks of docstrings and Markdown pages, and the values they claim.
 *
 * A block that begins with three backticks and `ts` is type-checked and run; `ts no-run` is only type-checked, for what
 * needs a key or a network. A comment `// => value` behind an expression, or behind `const name = …`, claims that the
 * expression, or the name, deeply equals `value`.
 */
import ts from "typescript"
import type { Block } from "./Block.ts"

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

/** The example that a block is, if it is one. */
export const fromBlock = ({ file, info, language, line, text }: Block): Example | undefined =>
  language === "ts" ? { file, line, code: text, isRun: !/\bno-run\b/.test(info) } : undefined

/** What begins like a claim, and so has to be one that is checked. */
const claim = /^\/[/*]\s*=>(.*)$/s

/** A comment of a program. */
interface Comment {
  readonly position: number
  readonly end: number
  readonly text: string
}

/** Every comment of a program. Comments stand between tokens, so what texts and templates say is none. */
export const comments = (source: ts.SourceFile): ReadonlyArray<Comment> => {
  const found = new Map<number, Comment>()
  const take = (range: ts.CommentRange) =>
    found.set(range.pos, { position: range.pos, end: range.end, text: source.text.slice(range.pos, range.end) })
  const visit = (node: ts.Node): void => {
    // A docstring is a child of the node behind it, and is found as that node's comment.
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

/** Whether a text is one expression and nothing else. */
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

/** The expression whose value a statement's claim is about, as text. */
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

/** What is wrong with a claim, and where: the line of the file. */
export interface Fault {
  readonly line: number
  readonly message: string
}

/** An example as it is run: each claim has become a call of `__claim`, on the same line. */
export interface Runnable {
  readonly code: string
  /** The line of each claim that is asked about. */
  readonly claims: ReadonlyArray<number>
  /** Claims that nobody can ask about. */
  readonly faults: ReadonlyArray<Fault>
}

/** Turns the claims of an example into calls of `__claim(actual, expected, line)`. */
export const toRunnable = (example: Example): Runnable => {
  const source = parse(example.code)
  const lineAt = (position: number) => example.line + source.getLineAndCharacterOfPosition(position).line
  const statements = new Map<number, ts.Node>()
  const visit = (node: ts.Node): void => {
    // The outermost statement that ends before a comment is the one that it stands behind.
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

/** The lines (from 1) of a file on which something looks like a claim; one that is quoted as code in a sentence is none. */
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
