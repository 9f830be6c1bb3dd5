/** Reduces the program in an answer to the function for BigCodeBench, with the code that it depends on. */
import { choosing } from "./programText.ts"

/** Python source that defines `extract_solution(texts, entry)`, which returns a program, or `""` if there is none. */
export const extraction = `${choosing}${String.raw`
def extract_solution(texts, entry_point):
    import ast
    blocks = (ast.If, ast.Try, ast.With, ast.ExceptHandler)

    def names(node):
        return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

    def inner(node):
        # The statements of a block outside of functions: if, try, with.
        parts = [getattr(node, name, []) for name in ("body", "orelse", "finalbody", "handlers")]
        return [one for part in parts for one in part] if isinstance(node, blocks) else []

    def imports(node):
        return isinstance(node, (ast.Import, ast.ImportFrom)) or any(map(imports, inner(node)))

    def defined(node):
        if isinstance(node, blocks):
            return set().union(*map(defined, inner(node)))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return {node.name}
        if isinstance(node, ast.Assign):
            return {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        if isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name):
            return {node.target.id}
        return set()

    def sanitize(code, entry):
        body = ast.parse(code).body
        wanted, todo = set(), [entry]
        for node in body:
            if isinstance(node, blocks) and imports(node):
                todo.extend(names(node))
        while todo:
            name = todo.pop()
            if name in wanted:
                continue
            wanted.add(name)
            for node in body:
                if name in defined(node):
                    todo.extend(names(node))
        lines = code.split("\n")
        kept = []
        for node in body:
            if imports(node) or defined(node) & wanted:
                first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
                kept.extend(lines[first - 1 : node.end_lineno])
        return "\n".join(kept)

    return sanitize(choose(texts, entry_point) or "", entry_point)
`}`
