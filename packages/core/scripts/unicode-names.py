"""Writes src/internal/unicodeNameTable.ts: the character names that Python's \\N{...} knows.

    python3 scripts/unicode-names.py

Names come from this Python's `unicodedata`; aliases (NULL, NBSP, ...), which it does not list, are taken from the
table that Perl ships and kept where Python agrees. Names that follow from the code point (Hangul syllables, unified
ideographs) are left out: the reader computes them.

Format: a name is cut into words, each with the blank or hyphen before it. A line is the number of words shared with the
name before it, then the other words: frequent ones as a key of one or two characters, the rest as they are (keys never
begin with a character of a name). The code point is one more than the line before's, unless a line `=<hex>` sets it.
"""

import ast
import collections
import pathlib
import re
import subprocess
import unicodedata

leads = "abcdefghijklmnopqrstuvwxyz!#%&'()*+,./:;<>?@[]^_{}~\""
seconds = "".join(chr(code) for code in range(33, 127) if chr(code) not in "`$\\")
single = 10


def computed(name):
    return name.startswith("HANGUL SYLLABLE ") or name.startswith("CJK UNIFIED IDEOGRAPH-")


def alias_candidates():
    table = subprocess.run(["perl", "-e", 'print do "unicore/Name.pl"'], capture_output=True, text=True, check=True)
    return re.findall(r"^[0-9A-F]{4,6}\n(.+)$", table.stdout, re.MULTILINE)


def all_names():
    names = {}
    for code in range(0x110000):
        name = unicodedata.name(chr(code), None)
        if name and not computed(name):
            names[name] = code
    for name in alias_candidates():
        if name not in names and not computed(name):
            try:
                names[name] = ord(ast.literal_eval("'\\N{%s}'" % name))
            except (SyntaxError, TypeError):
                pass
    return sorted((code, name) for name, code in names.items())


def cut(names):
    before = []
    for code, name in names:
        words = re.findall(r"[ -]?[^ -]+|[ -]", name)
        shared = 0
        while shared < min(9, len(before), len(words)) and before[shared] == words[shared]:
            shared += 1
        yield code, shared, words[shared:]
        before = words


entries = list(cut(all_names()))
frequency = collections.Counter(word for _, _, words in entries for word in words)
keys = list(leads[:single]) + [lead + second for lead in leads[single:] for second in seconds]
gain = lambda word: frequency[word] * (len(word) - 2) - len(word) - 1
words = sorted((word for word in frequency if gain(word) > 0), key=lambda word: (-frequency[word], word))[: len(keys)]
key_of = dict(zip(words, keys))

lines = []
expected = 0
for code, shared, rest in entries:
    if code != expected:
        lines.append("=%X" % code)
    lines.append(str(shared) + "".join(key_of.get(word, word) for word in rest))
    expected = code + 1

target = pathlib.Path(__file__).parent.parent / "src/internal/unicodeNameTable.ts"
target.write_text(
    f"""/**
 * The names of characters in Unicode {unicodedata.unidata_version}, packed. Written by scripts/unicode-names.py, which explains the format.
 */
export const leads = {ast.literal_eval(repr(leads))!r}
""".replace("'" + leads.replace("'", "\\'") + "'", "`" + leads + "`")
    + f"export const seconds = `{seconds}`\n"
    + f"export const singles = {single}\n\n"
    + f"export const words = `{'|'.join(words)}`\n\n"
    + "export const lines = `" + "\n".join(lines) + "`\n"
)
print(len(entries), "names,", target.stat().st_size, "bytes")
