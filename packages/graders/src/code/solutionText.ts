/** Finds the function for BigCodeBench in an answer, with the code that it depends on. */

/** Python source that defines `extract_solution(answer, entry)`, which returns a program or `None`. */
export const extraction = String.raw`
def extract_solution(answer, entry_point):
    import ast, time
    blocks = (ast.If, ast.Try, ast.With, ast.ExceptHandler)

    def parses(text):
        try:
            ast.parse(text)
            return True
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return False

    def size(text):
        return sum(1 for line in text.splitlines() if line.strip())

    def fenced(text):
        lines = text.split("\n")
        marks = [at for at, line in enumerate(lines) if line.strip().startswith("${"```"}")]
        return ["\n".join(lines[a + 1 : b]) for a, b in zip(marks, marks[1:])]

    def longest(text):
        # As many lines as parse together; the time for it is bounded.
        lines, best, ends = text.split("\n")[:400], "", time.monotonic() + 5
        for start in range(len(lines)):
            for end in range(len(lines), start, -1):
                piece = "\n".join(lines[start:end])
                if size(piece) <= size(best) or time.monotonic() > ends:
                    break
                if parses(piece):
                    best = piece
                    break
        return best

    def extract(text, entry):
        pieces = [piece for piece in [text, *fenced(text)] if piece.strip() and parses(piece)]
        defining = [piece for piece in pieces if "def " + entry in piece]
        return max(defining or pieces, key=size, default=None) or longest(text)

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

    def sanitize(text, entry):
        code = extract(text, entry)
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

    return sanitize(answer, entry_point)
`
