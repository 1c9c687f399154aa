"""How Sphinx makes the site of the pages that tools/site has laid out."""

import os
import pathlib
import re

from docutils import nodes
from latex2mathml.converter import convert

source, work = pathlib.Path(os.environ["HEARSAY_SOURCE"]), pathlib.Path(os.environ["HEARSAY_WORK"])

project = "hearsay"
author = "The hearsay developers"
version = release = re.search(r"project\(hearsay VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "breathe", "autoapi.extension", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 4
smartquotes = False  # it would make one dash of two, in options as well

breathe_projects = {"hearsay": str(work / "doxygen" / "xml")}
breathe_default_project = "hearsay"
breathe_default_members = ("members",)
breathe_show_include = False
# A namespace has a part in every header. What stands indented in a header's first lines may be a formula.
# A word like `eigenvalues` as the type of an attribute is a word.
suppress_warnings = ["duplicate_declaration.cpp", "misc.highlighting_failure", "ref.python"]

# Read, not imported: no extension need be compiled for it.
autoapi_dirs = [str(work / "python" / "hearsay")]
autoapi_root = "python"
autoapi_options = ["members", "inherited-members", "show-module-summary", "imported-members"]
autoapi_own_page_level = "class"
autoapi_add_toctree_entry = False
autoapi_file_patterns = ["*.pyi", "*.py"]
autoapi_python_class_content = "class"
napoleon_use_ivar = True
autodoc_typehints = "none"

html_theme = "furo"
html_title = f"hearsay {version}"
html_static_path = [str(source / "docs" / "site" / "style.css"), os.environ["HEARSAY_MATH_FONT"]]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_copy_source = False


MAY_BREAK = "\N{ZERO WIDTH SPACE}"


def mathml(self, node):
    """Formulas that the browser draws itself: no script, nothing fetched."""
    block = isinstance(node, nodes.math_block)
    formula = convert(node.astext(), display="block" if block else "inline")
    self.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise nodes.SkipNode


as_written = {}


def keep(app, what, name, obj, options, lines):
    """Of an attribute, before napoleon takes the words before a colon for its type."""
    if what in ("attribute", "data", "property"):
        as_written[name] = list(lines)


def plain_words(app, what, name, obj, options, lines):
    """In our docstrings |x| is an absolute value and components_ a name; Sphinx would look them up."""
    lines[:] = as_written.pop(name, lines)
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("..", ">>>")):
            continue
        field = re.match(r"\s*:(?:ivar|vartype) [^:]*:", line)
        if field:  # of many attributes at once: Sphinx takes the first words for a type
            line = field[0].replace(", ", f",{MAY_BREAK}") + line[field.end():]
        parts = line.split("``")
        parts[::2] = [re.sub(r"\b(\w+)_(?!\w)", r"\1\\_", re.sub(r"(?<!\\)\|", r"\\|", part)) for part in parts[::2]]
        lines[number] = "``".join(parts)


def typeset(app, doctree):
    """A dash between a name and what it is; values with bars between them may be broken there in a table."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))
        elif "|" in text and isinstance(text.parent, nodes.paragraph) and isinstance(text.parent.parent, nodes.entry):
            text.parent.replace(text, nodes.Text(text.replace("|", f"|{MAY_BREAK}")))


def setup(app):
    app.connect("doctree-read", typeset)
    app.connect("autodoc-process-docstring", keep, priority=100)
    app.connect("autodoc-process-docstring", plain_words, priority=900)  # after napoleon
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))


html_math_renderer = "mathml"
