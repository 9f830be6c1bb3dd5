"""Prints, as JSON, the cases of other graders' test files, given by their paths: pytest's parameters, read as literals.

Three parameters or more are gold answer, answer and, last, whether it is right; two are equal, unless the test's name says
"incorrect". Nothing is imported, run or kept: `python3 scripts/suites.py test_all.py > cases.json`.
"""

import ast
import json
import sys


def literals(node):
    for row in getattr(node, "elts", []):
        try:
            yield ast.literal_eval(row)
        except ValueError:
            continue


def case(test, row):
    if not isinstance(row, tuple) or len(row) < 2 or any(one is None for one in row[:2]):
        return None
    right = "incorrect" not in test
    if len(row) > 2:
        if not isinstance(row[1], str) or row[-1] not in (0, 1):
            return None
        right = bool(row[-1])
    return {"kind": test, "gold": str(row[0]), "answer": str(row[1]), "expected": right}


cases = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for decorator in function.decorator_list:
            for argument in getattr(decorator, "args", []):
                cases.extend(case(function.name, row) for row in literals(argument))
json.dump([one for one in cases if one is not None], sys.stdout)
