"""Grades pairs with math-verify, and with the graders of lm_eval (minerva's and Hendrycks'), where this Python has them.

Reads pairs as JSON and writes, as JSON, each grader's verdicts and the seconds that it took. lm_eval's files are loaded by
their path: importing the package would import far more than they need.
"""

import importlib.util
import json
import logging
import os
import re
import sys
import time
import types

logging.disable(logging.CRITICAL)


def answer_in(text):
    """What the normalisers are given: they know boxes, and take the rest for the answer."""
    boxed = text.rfind("\\boxed{")
    if boxed != -1:
        depth, at = 0, boxed + len("\\boxed")
        for end in range(at, len(text)):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                return text[at + 1 : end]
    tagged = re.findall(r"<answer>(.*?)</answer>", text, re.S)
    if tagged:
        return tagged[-1]
    said = re.split(r"answer(?:\*\*)?(?: is)?:?(?:\*\*)?", text, flags=re.I)[-1].strip().rstrip(".")
    return re.sub(r"^(?:\$|\\\()|(?:\$|\\\))$", "", said)


def task(name):
    found = importlib.util.find_spec("lm_eval")
    if found is None or not found.submodule_search_locations:
        return None
    path = os.path.join(list(found.submodule_search_locations)[0], "tasks", name, "utils.py")
    sys.modules.setdefault("datasets", types.SimpleNamespace(Dataset=object))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception:
        return None
    return module


def graders():
    if importlib.util.find_spec("math_verify") is not None:
        from math_verify import parse, verify

        yield "math-verify", lambda gold, text: verify(parse(f"${gold}$"), parse(text))
    minerva = task("minerva_math")
    if minerva is not None:
        plain = minerva.normalize_final_answer
        yield "minerva", lambda gold, text: minerva.is_equiv(plain(gold), plain(answer_in(text)))
    hendrycks = task("hendrycks_math")
    if hendrycks is not None:
        yield "Hendrycks", lambda gold, text: hendrycks.is_equiv(gold, answer_in(text))


def verdict(grade, pair):
    try:
        return bool(grade(pair["gold"], pair["answer"]))
    except Exception:
        return False


pairs = json.load(sys.stdin)
results = []
for name, grade in graders():
    started = time.perf_counter()
    verdicts = [verdict(grade, pair) for pair in pairs]
    results.append({"name": name, "verdicts": verdicts, "seconds": time.perf_counter() - started})
sys.stdout.write(json.dumps(results))
