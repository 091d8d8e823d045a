#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that all invocations of a workgroup reach the same barriers, as CONTRIBUTING.md says.

barriers.py SOURCE_DIR: every shader, with all that it includes. A branch or a loop around a barrier, or
around a call that leads to one, must be the same for the whole workgroup: its head consists of constants,
push constants, the number of the workgroup and what the loop itself counts, or a comment beside it says
"uniform: " and why. The same holds for a return, break or continue that would skip a barrier. Barriers of a
subgroup are no exception: some drivers let them wait for the whole workgroup.

First the script checks itself, with tests/style/barriers/wrong_*.comp and right_*.comp.
"""
import pathlib
import re
import sys

BARRIERS = {"barrier", "subgroupBarrier", "controlBarrier"}
UNIFORM = re.compile(
    r"[A-Z][A-Z0-9_]*|pc|gl_(WorkGroupID|NumWorkGroups|WorkGroupSize)|u?int|bool|min|max|true|false")
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\n|^[ \t]*#[^\n]*|[A-Za-z_]\w*|[0-9][\w.]*|[^\sA-Za-z0-9_]",
                   re.DOTALL | re.MULTILINE)
JUMPS = {"return", "break", "continue"}


class Token:
    def __init__(self, text, file, line, reason):
        self.text, self.file, self.line, self.reason = text, file, line, reason


def tokens_of(path, roots):
    """The tokens of a file and of what it includes. reason: a comment on the token's line, or on a line of its
    own before it, says why what begins there is uniform."""
    found, line, reasons = [], 1, set()
    for match in TOKEN.finditer(path.read_text()):
        text = match.group()
        first = line
        line += text.count("\n")
        include = re.match(r'\s*#\s*include\s+"([^"]+)"', text)
        if include:
            file = next((r / include.group(1) for r in roots if (r / include.group(1)).exists()), None)
            if file and file.suffix == ".glsl":
                found += tokens_of(file, roots)
        elif text.startswith(("/*", "//")):
            if re.search(r"\buniform: \S", text):
                alone = not (found and found[-1].file == path and found[-1].line == first)
                reasons.add(line + 1 if alone else first)
        elif text != "\n" and not text.lstrip().startswith("#"):
            found.append(Token(text, path, line, None))
    for token in found:
        if token.file == path:
            token.reason = token.line in reasons
    return found


class Scope:
    """A branch or a loop: its head and what lies in it."""

    def __init__(self, kind, head):
        self.kind, self.head = kind, head
        self.barriers, self.assigned = False, set()

    def is_uniform(self):
        if any(token.reason for token in self.head):
            return True
        texts = [token.text for token in self.head]
        counted = set()
        if self.kind == "for" and ";" in texts and texts[-2] != ";":
            counted = {b for a, b in zip(texts[2:], texts[3:]) if a in ("uint", "int")}
        for before, text in zip(texts, texts[1:]):
            if not re.match(r"[A-Za-z_]", text) or before == "." or text in counted - self.assigned:
                continue
            if not UNIFORM.fullmatch(text):
                return False
        return self.kind != "do"


class Function:
    """events: (token, scopes around it), of barriers and calls, and of jumps; both in order."""

    def __init__(self, name):
        self.name, self.events, self.jumps = name, [], []


def end_of(tokens, at, left, right):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at].text == left) - (tokens[at].text == right)
        at += 1
        if depth == 0:
            break
    return at


def parse_statement(function, tokens, at, scopes):
    """One statement, or a block of them; gives where the next one begins."""
    while tokens[at].text == "[":  # [[unroll]]
        at = end_of(tokens, at, "[", "]")
    text = tokens[at].text
    if text == "{":
        at += 1
        while tokens[at].text != "}":
            at = parse_statement(function, tokens, at, scopes)
        return at + 1
    if text in ("if", "for", "while", "switch"):
        end = end_of(tokens, at + 1, "(", ")")
        behind = tokens[end:end + 1] if tokens[end].text == "{" else []
        scope = Scope(text, tokens[at:end])
        scan(function, tokens[at + 1:end], scopes + ([scope] if text in ("for", "while") else []))
        scope.assigned.clear()
        if behind and behind[0].reason:
            scope.head[0].reason = True
        end = parse_statement(function, tokens, end, scopes + [scope])
        if text == "if" and tokens[end].text == "else":
            end = parse_statement(function, tokens, end + 1, scopes + [scope])
        return end
    if text == "do":
        scope = Scope(text, [tokens[at]])
        at = parse_statement(function, tokens, at + 1, scopes + [scope])
    end = at
    while tokens[end].text != ";":
        end = end_of(tokens, end, tokens[end].text, ")") if tokens[end].text == "(" else end + 1
    scan(function, tokens[at:end], scopes)
    return end + 1


def scan(function, tokens, scopes):
    """Notes what an expression calls, where it jumps to and what it assigns."""
    lazy = Scope("&&, || or ?:", [])
    for at, token in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        after = following + (tokens[at + 2].text if at + 2 < len(tokens) else "")
        if token.text in ("?", "&", "|") and (token.text == "?" or token.text == following):
            lazy.head = lazy.head or [Token("if", token.file, token.line, token.reason),
                                      Token("lazily", token.file, token.line, None)]
        around = scopes + ([lazy] if lazy.head else [])
        if token.text in JUMPS:
            function.jumps.append((token, around, len(function.events)))
        elif re.match(r"[A-Za-z_]", token.text):
            if following == "(":
                function.events.append((token, around))
            elif re.match(r"=[^=]|[-+*/%&|^]=|\+\+|--", after) or (at > 1 and tokens[at - 1].text +
                                                                      tokens[at - 2].text in ("++", "--")):
                for scope in scopes:
                    scope.assigned.add(token.text)


def functions_of(tokens):
    functions, at = [], 0
    while at < len(tokens):
        if tokens[at].text == "(" and tokens[at - 1].text != "layout":
            end = end_of(tokens, at, "(", ")")
            if end < len(tokens) and tokens[end].text == "{":
                function = Function(tokens[at - 1].text)
                functions.append(function)
                end = parse_statement(function, tokens, end, [])
            at = end
        elif tokens[at].text == "{":
            at = end_of(tokens, at, "{", "}")
        else:
            at += 1
    return functions


def check(path, roots):
    """What is wrong in a shader: a set of lines."""
    functions, waiting, wrong = functions_of(tokens_of(path, roots)), set(BARRIERS), set()
    while True:  # those that lead to a barrier
        more = {f.name for f in functions if any(t.text in waiting for t, _ in f.events)} - waiting
        if not more:
            break
        waiting |= more
    for function in functions:
        for token, scopes in function.events:
            for scope in scopes:
                scope.barriers |= token.text in waiting
    for function in functions:
        held = [(token, scopes, f"{token.text}()") for token, scopes in function.events
                if token.text in waiting]
        for token, scopes, before in function.jumps:
            loops = [i for i, s in enumerate(scopes) if s.kind in ("for", "while", "do")]
            if token.text == "return":
                skips = any(t.text in waiting for t, _ in function.events[before:]) or any(
                    scopes[i].barriers for i in loops)
            else:
                skips = bool(loops) and scopes[loops[-1]].barriers
            if skips:
                inner = scopes if token.text == "return" else scopes[loops[-1] + 1:]
                held.append((token, inner, token.text))
        for token, scopes, what in held:
            for scope in scopes:
                if not scope.is_uniform():
                    head = scope.head[0]
                    wrong.add(f"{head.file}:{head.line}: is this {scope.kind} the same for the whole workgroup? "
                              f"In it: {what} in line {token.line} of {token.file.name}")
    return wrong


def main():
    source = pathlib.Path(sys.argv[1])
    tests = pathlib.Path(__file__).parent / "barriers"
    failed = False
    for path in sorted(tests.glob("*.comp")):
        found = check(path, [tests])
        marked = {number for number, line in enumerate(path.read_text().split("\n"), 1) if "WRONG" in line}
        if {int(line.split(":")[1]) for line in found} != marked:
            print(f"{path}: wrong are lines {sorted(marked)}, found were:", *sorted(found), sep="\n    ")
            failed = True
    shaders = sorted(path for folder in ("cli", "samples", "shaders") for path in (source / folder).rglob("*.comp"))
    if len(shaders) < 30 or len(list(tests.glob("*.comp"))) < 2:
        print(f"too few shaders in {source}: {len(shaders)}")
        failed = True
    wrong = set()
    for path in shaders:
        wrong |= check(path, [source / "shaders", path.parent, source / "cli", source / "src"])
    print(*sorted(wrong), sep="\n", end="\n" if wrong else "")
    print(f"{len(shaders)} shaders")
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
