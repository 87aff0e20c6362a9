#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The site of the documentation: static pages of what stands in the tree, for a browser or a server of files.

    docs.py OUTPUT MANUALS

OUTPUT: the folder of the site; MANUALS: the folder with the manual pages that the program made. A page has the path of its
source with .html behind it, a folder index.html: README files, the files and folders that they link to, the public headers, the
Python package, the manual pages. Every link inside the site is checked: those that lead nowhere are printed, with exit code 1."""
import ast, html, os, re, shutil, subprocess, sys
from html.parser import HTMLParser

try:
    from markdown_it import MarkdownIt
except ImportError:
    MarkdownIt = None

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PICTURES = (".svg", ".png", ".gif")
LONGEST = 200000  # bytes of a source that is worth a page
COMMANDS = "commands"  # folder of the manual pages in the site

pages = {}  # path in the site -> (title, body)
search = []  # (words, address): what the search field finds
waiting = []  # sources that something links to and that have no page yet
copied = set()
problems = []


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def address(source):
    """Path in the site of the page of a file or folder of the tree."""
    if source == "README.md":
        return "index.html"
    folder, name = os.path.split(source)
    if name == "README.md" or os.path.isdir(os.path.join(ROOT, source)):
        return os.path.join(folder if name == "README.md" else source, "index.html")
    return source if source.endswith(PICTURES) else source + ".html"


def relative(page, target):
    return os.path.relpath(target, os.path.dirname(page) or ".")


def resolve(source, href):
    """A link as it stands in a file of the tree, from its page to another."""
    if re.match(r"[a-z]+:", href):
        return href
    path, _, anchor = href.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(source), path)) if path else source
    if target.startswith("..") or not os.path.exists(os.path.join(ROOT, target)):
        problems.append(f"{source}: nothing is at {href}")
        return href
    waiting.append(target)
    return (relative(address(source), address(target)) if path else "") + ("#" + anchor if anchor else "")


def slug(text):
    """The anchor of a heading, as code forges make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def plain(token):
    return "".join(child.content for child in token.children or [] if child.type in ("text", "code_inline"))


def keys(tokens):
    """The keys that a row of a table, which begins with these tokens, has in its cells."""
    end = next(i for i, token in enumerate(tokens) if token.type == "tr_close")
    spans = [child.content for token in tokens[:end] for child in token.children or [] if child.type == "code_inline"]
    return [word for word in dict.fromkeys(spans) if re.fullmatch(r"[a-z][a-z_]{2,}", word)]


def anchors(source, tokens):
    """Headings, and rows of tables that begin with a key, can be linked to; they and the keys are found by the search."""
    taken, heading = set(), ""
    for i, token in enumerate(tokens):
        row = token.type == "tr_open" and tokens[i + 1].type == "td_open"
        if token.type != "heading_open" and not row:
            continue
        inline = tokens[i + 2] if row else tokens[i + 1]
        if row and not (inline.children and inline.children[0].type == "code_inline"):
            continue
        name = slug(plain(inline))
        if not name or name in taken:
            continue
        taken.add(name)
        token.attrSet("id", name)
        if not row:
            heading = plain(inline)
        for words in dict.fromkeys([plain(inline), *(keys(tokens[i:]) if row else [])]):
            places = dict.fromkeys([words, plain(inline), heading] if row else [words])
            search.append((" · ".join(places), f"{address(source)}#{name}"))


def markdown(source):
    """(title, body) of a Markdown file."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(read(source))
    anchors(source, tokens)
    for token in tokens:
        for child in token.children or []:
            for name in ("href", "src"):
                if child.attrGet(name) is not None:
                    child.attrSet(name, resolve(source, child.attrGet(name)))

    def fence(tokens, i, options, env):
        words = tokens[i].info.split()
        name = words[1] if len(words) > 1 and words[1] != "run" else ""
        caption = f"<figcaption>{html.escape(name)}</figcaption>" if name else ""
        return f"<figure>{caption}<pre><code>{html.escape(tokens[i].content)}</code></pre></figure>\n"

    parser.renderer.rules["fence"] = fence
    title = next((plain(tokens[i + 1]) for i, t in enumerate(tokens) if t.type == "heading_open"), source)
    body = parser.renderer.render(tokens, parser.options, {})
    return title, body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def listing(folder):
    """What else is in a folder: links to what can be read as a page."""
    rows = []
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        path = os.path.join(folder, name)
        full = os.path.join(ROOT, path)
        if name in ("README.md", "meson.build") or name.startswith((".", "__")):
            continue
        if os.path.isfile(full) and os.path.getsize(full) < LONGEST and not name.endswith(".csv"):
            waiting.append(path)
            rows.append(f'<li><a href="{relative(address(folder), address(path))}">{html.escape(name)}</a></li>')
        else:
            rows.append(f"<li>{html.escape(name)}</li>")
    return '<h2 id="files-here">Files here</h2>\n<ul class="files">' + "\n".join(rows) + "</ul>" if rows else ""


def paragraphs(text):
    """Plain text, as comments and docstrings have it: lines that are set in stay as they are."""
    parts, kept = [], []

    def close():
        if kept:
            tag = "pre" if kept[0].startswith("  ") else "p"
            parts.append(f"<{tag}>" + names("\n".join(kept)) + f"</{tag}>")
            kept.clear()

    for line in text.split("\n"):
        if not line.strip() or (kept and line.startswith("  ") != kept[0].startswith("  ")):
            close()
        if line.strip():
            kept.append(line.rstrip())
    close()
    return "".join(parts)


def comment(text):
    """A comment of C without its frame."""
    return paragraphs("\n".join(re.sub(r"^ ?\*? ?", "", line) for line in text.strip()[2:-2].split("\n")))


declared = {}  # function, type or constant -> address


def declare(header):
    """Where each name of a header stands: the line that declares it."""
    for match in re.finditer(r"(?:^BRAMAH_API [^;(]*?\b(bramah_\w+)\()|(?:^typedef [^;{]*\b(bramah_\w+)(?:;| \{))|"
                             r"(?:^\} (bramah_\w+);)|(?:^ +(BRAMAH_[A-Z]\w+)(?: = |,$|$))", read(header), re.M):
        name = next(filter(None, match.groups()))
        if name not in declared:
            declared[name] = f"{address(header)}#{name}"
            search.append((name, declared[name]))


def names(text, page=None):
    """Escaped text in which the names of the library lead to where they are declared; on their own page they are marked once."""
    marked = set()

    def link(match):
        name = match.group()
        target = declared.get(name)
        if not target:
            return name
        if page and target.startswith(page + "#") and name not in seen[page] | marked:
            marked.add(name)
            seen[page].add(name)
            return f'<b id="{name}">{name}</b>'
        return f'<a href="{{up}}{target}">{name}</a>'

    return re.sub(r"\b(?:bramah|BRAMAH)_\w+", link, html.escape(text, quote=False))


seen = {}  # page -> names that have their anchor there


def header(source):
    """A public header: its comments as text, its declarations as code."""
    page = address(source)
    seen[page] = set()
    text = re.sub(r"^/\* SPDX.*\*/\n|^#(ifndef|define|endif).*_H\b.*\n|^#ifdef __cplusplus\n.*\n#endif\n|^#endif\n", "",
                  read(source), flags=re.M)
    first, rest = re.match(r"\s*(/\*.*?\*/)?(.*)", text, re.S).groups()
    body = [f"<h1>{source.removeprefix('include/')}</h1>", comment(first) if first else ""]
    for block in re.split(r"\n\s*\n", rest):
        block = block.strip("\n")
        if not block:
            continue
        section = re.fullmatch(r"/\* -+ (.*?) -+ \*/", block)
        about = re.match(r"/\*(?:(?!\*/).)*\*/\n?", block, re.S)
        if section:
            body.append(f"<h2>{html.escape(section.group(1))}</h2>")
        elif about:
            body.append(comment(about.group()))
            block = block[about.end():]
        if block and not section:
            code = names(block.replace("BRAMAH_API ", ""), page)
            body.append("<pre><code>" + re.sub(r"/\*.*?\*/", r"<i>\g<0></i>", code, flags=re.S) + "</code></pre>")
    up = "../" * page.count("/")
    return source.removeprefix("include/"), "\n".join(body).replace("{up}", up)


def headers():
    """All public headers, and a page that says what each is about, those of the core first."""
    folder = "include/bramah"
    found = re.split(r"if has_tools", read(f"{folder}/meson.build"))
    groups = [re.findall(r"'(\w+\.h)'", part) for part in found[:2]]
    for name in groups[0] + groups[1]:
        declare(f"{folder}/{name}")
    body = ["<h1>C interface</h1><p><code>#include &lt;bramah.h&gt;</code> includes all of them. SI units; matrices row-major; what "
            "fails returns a <code>bramah_status</code> and has changed nothing.</p>"]
    for title, group in zip(("libbramah: the core (MIT)", "libbramah-tools: files, logs, tuning, reports (GPL)"), groups):
        body.append(f"<h2>{title}</h2><dl>")
        for name in group:
            pages[f"{folder}/{name}.html"] = header(f"{folder}/{name}")
            about = re.search(r"\*/\n/\* (.*?)(?:\.\s|\*/|:\s)", read(f"{folder}/{name}"), re.S)
            said = re.sub(r"\n \* ?", " ", about.group(1)) if about else ""
            body.append(f'<dt><a href="{name}.html">{name}</a></dt><dd>{html.escape(said)}</dd>')
        body.append("</dl>")
    pages[f"{folder}/index.html"] = ("C interface", "\n".join(body))


def signature(node):
    shown = ast.unparse(node.args) if isinstance(node, ast.FunctionDef) else ""
    return f"{node.name}({re.sub(r'^self(, )?', '', shown)})"


def documented(nodes, level, prefix=""):
    """Public classes and functions with their docstrings."""
    for node in nodes:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_") or not ast.get_docstring(node):
            continue
        name = prefix + node.name
        search.append((f"Python: {name}", f"lib/python/bramah/index.html#{name}"))
        is_class = isinstance(node, ast.ClassDef)
        shown = f"class {node.name}" if is_class else prefix + signature(node)
        yield f'<h{level} id="{name}"><code>{html.escape(shown)}</code></h{level}>'
        yield paragraphs(ast.get_docstring(node))
        if is_class:
            yield from documented(node.body, level + 1, name + ".")


def python():
    folder = "lib/python/bramah"
    if not os.path.exists(os.path.join(ROOT, folder, "__init__.py")):
        return
    first = ast.parse(read(f"{folder}/__init__.py"))
    body = ["<h1>Python</h1>" + paragraphs(ast.get_docstring(first))]
    modules = sorted(name[:-3] for name in os.listdir(os.path.join(ROOT, folder)) if re.fullmatch(r"[a-z]\w*\.py", name))
    for name in modules:
        module = ast.parse(read(f"{folder}/{name}.py"))
        entries = list(documented(module.body, 3))
        if entries:
            body.append(f"<h2 id=\"module-{name}\">bramah.{name}</h2>")
            body.append(paragraphs(ast.get_docstring(module) or ""))
            body += entries
    pages[f"{folder}/index.html"] = ("Python", "\n".join(body).replace("{up}", "../../../"))


def commands(manuals):
    """The manual pages of the program."""
    for name in sorted(os.listdir(manuals)):
        if not name.endswith(".1"):
            continue
        page = f"{COMMANDS}/{name[:-2]}.html"
        made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.html", os.path.join(manuals, name)],
                              check=True, capture_output=True, text=True).stdout
        title = name[:-2].replace("-", " ")
        pages[page] = (title, f"<h1>{title}</h1>\n" + re.sub(r'<table class="(head|foot)">.*?</table>', "", made, flags=re.S))
        search.append((title, page))
        for option in dict.fromkeys(re.findall(r'id="(-?-[\w-]+|[a-z][\w-]*)"', made)):
            search.append((f"{title} --{option.lstrip('-')}", f"{page}#{option}"))


def files():
    """Pages of all that is linked to, and of what they link to."""
    while waiting:
        source = waiting.pop()
        page = address(source)
        if page in pages:
            continue
        full = os.path.join(ROOT, source)
        if source.endswith(PICTURES):
            copied.add(source)
        elif os.path.isdir(full) or os.path.basename(source) == "README.md":
            folder = source if os.path.isdir(full) else os.path.dirname(source)
            about = os.path.join(folder, "README.md")
            pages[page] = (folder, "")  # it may link to itself
            has_text = os.path.exists(os.path.join(ROOT, about))
            title, body = markdown(about) if has_text else (folder, f"<h1>{folder}</h1>")
            pages[page] = (title, body + (listing(folder) if folder not in ("", "datasets") else ""))
        elif source.endswith(".md"):
            pages[page] = markdown(source)
        else:
            drawn = [picture for picture in (os.path.splitext(source)[0] + kind for kind in PICTURES) if os.path.exists(os.path.join(ROOT, picture))]
            shown = "".join(f'<p><img src="{relative(page, picture)}" alt="what it draws"></p>' for picture in drawn)
            copied.update(drawn)
            pages[page] = (source, f"<h1>{source}</h1>{shown}<pre><code>{html.escape(read(source))}</code></pre>")


def machines():
    """Folders of datasets with a README, in the order of their names."""
    return [f"datasets/{name}" for name in sorted(os.listdir(os.path.join(ROOT, "datasets")))
            if os.path.exists(os.path.join(ROOT, "datasets", name, "README.md")) and name not in ("embedding", "gallery")]


def contents():
    """The table of contents: (heading, pages)."""
    core = sorted(page for page in pages if page.startswith("include/bramah/"))
    return [
        ("Start", ["index.html", "datasets/embedding/index.html", "datasets/gallery/index.html", "CHANGELOG.md.html"]),
        ("Reference", ["datasets/index.html", "include/bramah/index.html", "lib/python/bramah/index.html"]),
        ("Commands", sorted((page for page in pages if page.startswith(COMMANDS + "/")), key=lambda page: pages[page][0])),
        ("Machines", [f"{folder}/index.html" for folder in machines()]),
        ("Headers", [page for page in core if not page.endswith("index.html")])]


def navigation(page):
    parts = []
    for heading, group in contents():
        items = []
        for target in (t for t in group if t in pages):
            title = html.escape(pages[target][0].removeprefix("bramah/"))
            here = ' aria-current="page"' if target == page else ""
            items.append(f'<li><a href="{relative(page, target)}"{here}>{title}</a></li>')
        opened = " open" if page in group or heading in ("Start", "Reference") else ""
        parts.append(f"<details{opened}><summary>{heading}</summary><ul>" + "\n".join(items) + "</ul></details>")
    return "\n".join(parts)


def sections(body):
    """The headings of a page, as its own table of contents."""
    found = re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', body, re.S)
    if len(found) < 3:
        return ""
    return '<nav class="page"><ul>' + "".join(f'<li><a href="#{i}">{re.sub("<[^>]*>", "", t)}</a></li>' for i, t in found) + "</ul></nav>"


def write(output):
    for page, (title, body) in pages.items():
        up = "../" * page.count("/")
        os.makedirs(os.path.dirname(os.path.join(output, page)), exist_ok=True)
        with open(os.path.join(output, page), "w", encoding="utf-8") as file:
            file.write(f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}{"" if title == "bramah" else " · bramah"}</title><link rel="stylesheet" href="{up}docs.css"></head>
<body data-up="{up}">
<header><a href="{up}index.html">bramah</a> <input id="search" type="search" placeholder="Search keys, functions, options" aria-label="Search">
<ol id="found" hidden></ol></header>
<details class="menu"><summary>Contents</summary></details>
<nav class="site">{navigation(page)}</nav>
<main>{sections(body)}
{body}</main>
<script src="{up}search.js"></script><script src="{up}docs.js"></script>
</body></html>
""")
    for source in copied:
        os.makedirs(os.path.dirname(os.path.join(output, source)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, source), os.path.join(output, source))
    for name in ("docs.css", "docs.js"):
        shutil.copy(os.path.join(os.path.dirname(__file__), name), output)
    with open(os.path.join(output, "search.js"), "w", encoding="utf-8") as file:
        file.write("const PLACES = [\n" + ",\n".join(f"[{quoted(words)}, {quoted(place)}]" for words, place in search) + "];\n")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.targets = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                if value in self.ids:
                    problems.append(f"two things are called {value}: {self.get_starttag_text()}")
                self.ids.add(value)
            elif name in ("href", "src"):
                self.targets.append(value)


def check(output):
    """Is there something at the end of every link of the site? It has to stand on the page as it was written."""
    seen_links = {}
    for page in pages:
        with open(os.path.join(output, page), encoding="utf-8") as file:
            seen_links[page] = Links(file.read())
    for page, links in seen_links.items():
        for target in links.targets + [relative(page, place) for _, place in search if page == "index.html"]:
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(output, there)) or anchor and anchor not in seen_links[there].ids:
                problems.append(f"{page}: nothing is at {target}")


def main(output, manuals):
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    headers()
    python()
    commands(manuals)
    waiting.extend(["README.md", "datasets/README.md", "CHANGELOG.md", "LICENSE", "datasets/embedding", *machines()])
    if os.path.exists(os.path.join(ROOT, "datasets/gallery/README.md")):
        waiting.append("datasets/gallery")
    files()
    write(output)
    check(output)
    for problem in dict.fromkeys(problems):
        print(problem, file=sys.stderr)
    print(f"documentation: {output}/index.html ({len(pages)} pages)")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not MarkdownIt or not shutil.which("mandoc"):
        print("The documentation needs markdown-it for Python and mandoc. On Debian and Ubuntu, as root:\n"
              "  apt-get install --no-install-recommends python3-markdown-it mandoc", file=sys.stderr)
        sys.exit(77)
    sys.exit(main(sys.argv[1], sys.argv[2]))
