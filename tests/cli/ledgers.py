"""Ledgers, written from docs/reference/ledger.md alone and not by hearsay."""

import hashlib
import re

TIME = '"when":"2026-11-17T12:00:00Z","version":"9.8.7"'


def text(value):
    """The one form of a text: only what must be escaped is."""
    return '"' + re.sub(r'[\x00-\x1f\x7f]', lambda c: f"\\u{ord(c[0]):04x}", re.sub(r'(["\\])', r"\\\1", value)) + '"'


def sealed(body):
    return f'{body},"sha256":"{hashlib.sha256(body.encode()).hexdigest()}"}}\n'


def seal_of(line):
    return line.rstrip("\n")[-66:-2]


def budget(mu="1", data="patients.csv", ident="0123456789abcdef" * 2):
    return sealed(f'{{"record":0,"kind":"budget","form":1,"id":"{ident}","data":{text(data)},"site":"zurich",'
                  f'"neighbours":"add-remove","epsilon":4,"delta":1e-06,"mu":{mu},{TIME}')


def spend(number, before, mu="0.5", query="the 5 largest components", command="hearsay pca patients.csv -k 5"):
    return sealed(f'{{"record":{number},"mu":{mu},"kind":"spend","epsilon":0.5,"query":{text(query)},'
                  f'"command":{text(command)},{TIME},"before":"{seal_of(before)}"')


def release(number, before, of=1, digest="a" * 64):
    return sealed(f'{{"record":{number},"mu":0,"kind":"release","of":{of},"digest":"{digest}",{TIME},"before":"{seal_of(before)}"')


def torn(number, before, cut, mu="0"):
    return cut + sealed(f'{{"record":{number},"mu":{mu},"kind":"torn","bytes":{len(cut)},"digest":"{hashlib.sha256(cut.encode()).hexdigest()}",'
                        f'{TIME},"before":"{seal_of(before)}"')


def whole():
    """A budget, a spend with its release, a line that was cut off, another spend."""
    lines = [budget()]
    lines.append(spend(1, lines[-1]))
    lines.append(release(2, lines[-1]))
    lines.append(torn(3, lines[-1], '{"record":3,"mu":0.25,"kind":"spe', mu="0.25"))
    lines.append(spend(4, lines[-1], mu="0.125"))
    return lines
