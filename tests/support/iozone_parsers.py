"""What well-known programs read from IOzone's output: their rules, written anew from what each of them accepts.

Each function returns what its program would have, and raises if that would have failed.
"""
import re

TABLE = ["write", "rewrite", "read", "reread", "random read", "random write", "bkwd read", "record rewrite", "stride read",
         "fwrite", "frewrite", "fread", "freread"]


def iozone2csv(text):
    """psteinb/iozone2csv. The banner ends at the first line that has the word random twice, bkwd, record and stride. In its
    first four lines, one with "version" has the version as digit, dot, digits; in its first five, the last word of the one
    with "build" is the build. In its last ten lines: the last word after "output is in", the second last word of the lines
    with the time's resolution and with the two sizes of the processor cache; in its last five the fourth last word of the
    stride's line. Columns are the words of the second heading, of which the 7th to 11th get those of the first. A row is a
    line with more than six numbers between blanks."""
    lines = text.split("\n")
    end = next(at for at, line in enumerate(lines)
               if line.lower().count("random") == 2 and all(word in line.lower() for word in ("bkwd", "record", "stride")))
    banner = [line.lower() for line in lines[:end]]

    def line_with(phrase, where):
        return next(line for line in where if phrase in line).split()

    version = re.search(r"\d\.\d+", " ".join(line_with("version", banner[:4]))).group()
    columns, above = lines[end + 1].split(), lines[end].split()
    columns[6:6 + len(above)] = [first + second for first, second in zip(above, columns[6:])]
    assert "seconds." in line_with("time resolution =", banner[-10:])
    return {
        "version": version,
        "build": line_with("build", banner[:5])[-1],
        "unit": line_with("output is in", banner[-10:])[-1],
        "resolution_s": float(line_with("time resolution =", banner[-10:])[-2]),
        "cache": tuple(int(line_with(f"processor cache {what}size set to ", banner[-10:])[-2]) for what in ("", "line ")),
        "stride": int(line_with("file stride size", banner[-5:])[-4]),
        "columns": columns,
        "rows": [line.split() for line in lines[end + 2:] if len(re.findall(" [0-9]+ ", line)) > 6],
    }


def analysis_iozone(text):
    """Red Hat's analysis-iozone.pl. Everything before a line that begins with a tab and "Iozone:" is skipped, then all
    lines that begin with a tab, that have a blank before a small letter, or that are empty. What is left is split at blanks,
    of which it begins with one: file size, record size, 9 or 13 figures by the first row. A row without the last one is
    skipped with a warning. Returns rows and skipped lines."""
    rows, skipped, begun = [], [], False
    for line in text.split("\n"):
        begun = begun or line.startswith("\tIozone:")
        if not begun or line.startswith("\t") or re.search(" +[a-z]", line) or not line:
            continue
        fields = (re.split(r"\s+", line) + [""] * 16)[1:16]
        count = 15 if rows == [] and fields[14] else 11 if rows == [] else len(rows[0])
        if not fields[count - 1]:
            skipped.append(line)
            continue
        rows.append([int(field) for field in fields[:count]])
    return rows, skipped


def iozoneparser(text):
    """ilkermanap/iozoneparser. The second line of the heading begins, without blanks, with "kB  reclen"; its words get those
    of the line above that overlap them, which is no heading if it begins with "File stride". Rows follow until an empty
    line; the n-th word is the n-th column's. Returns (column, file, record) -> figure."""
    lines = text.split("\n")
    at = next(at for at, line in enumerate(lines) if line.strip().startswith("kB  reclen"))
    assert not lines[at - 1].strip().startswith("File stride")
    above = [(word.start(), word.end(), word.group()) for word in re.finditer(r"\S+", lines[at - 1])]
    columns = []
    for word in re.finditer(r"\S+", lines[at]):
        first = next((text for begin, end, text in above if begin <= word.end() and word.start() <= end), None)
        columns.append(word.group() if first is None else f"{first} {word.group()}")
    figures = {}
    for line in lines[at + 1:]:
        words = line.split()
        if not words:
            break
        for column, word in zip(columns[2:], words[2:]):
            figures[column, int(words[0]), int(words[1])] = int(word)
    return figures


def chromium(text):
    """Chromium OS. After the first line with kB, reclen and write come rows until one without words; each has 15 whole
    numbers."""
    lines = iter(text.split("\n"))
    next(line for line in lines if re.search(r"kB\s+reclen\s+write", line))
    rows = []
    for line in lines:
        if not line.split():
            break
        rows.append([int(word) for word in line.split()])
        assert len(rows[-1]) == 15, line
    return rows


def avocado_table(text):
    """autotest and Avocado, automatic mode: rows are the lines of exactly 15 whole numbers, wherever they are."""
    return [[int(word) for word in line.split()] for line in text.split("\n")
            if len(line.split()) == 15 and all(word.isdigit() for word in line.split())]


def avocado_throughput(text, unit="kB"):
    """autotest and Avocado, throughput mode. "Children see throughput for", a number and words before "=" begin a section;
    the parent's line counts if number and words are the same. Of the others, "Min xfer" belongs to the section, and lines that
    have " throughput per thread " from the fourth character on, which IOzone writes with -T. Returns "initial_writers-2-kids" -> figure."""
    figures, section, count = {}, None, None
    for line in map(str.strip, text.split("\n")):
        sees = re.search(rf"(Children see|Parent sees) throughput for\s+(\d+)\s+([-\w]+[-\w\s]*)=\s+([\d.]*) {unit}/sec", line)
        if sees:
            name = sees.group(3).strip().replace(" ", "_")
            if sees.group(1) == "Children see":
                section, count = name, int(sees.group(2))
                figures[f"{section}-{count}-kids"] = float(sees.group(4))
            elif (name, int(sees.group(2))) == (section, count):
                figures[f"{section}-{count}-parent"] = float(sees.group(4))
        elif line[3:26] == " throughput per thread ":
            figures[f"{section}-{count}-{line[:3]}"] = float(re.search(rf"=\s+([\d.]*) {unit}/sec", line).group(1))
        elif line.startswith("Min xfer "):
            figures[f"{section}-{count}-MinXfer"] = float(re.search(rf"=\s+([\d.]*) {unit}", line).group(1))
    return figures


def generate_graphs(text):
    """IOzone's own Generate_Graphs. Of the lines whose first word begins with a digit, it draws the first, second and n-th
    word: n is 3 for write to 15 for freread. Returns column -> triples."""
    rows = [line.split() for line in text.split("\n") if re.match(r"\s*[0-9]", line)]
    return {column: [tuple(map(int, (row[0], row[1], row[at]))) for row in rows] for at, column in enumerate(TABLE, start=2)}


def excel_reports(text):
    """Programs that read -R: a title in quotes, a line of record sizes in quotes, then lines that begin with a file size in
    quotes, until an empty line. Returns title -> (file, record) -> figure."""
    reports = {}
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if not re.fullmatch(r'".* report"', lines[0]):
            continue
        records = [int(size) for size in re.findall(r'"(\d+)"', lines[1])]
        rows = [(int(line.split('"')[1]), line.split('"')[2].split()) for line in lines[2:]]
        reports[lines[0].strip('"')] = {(size, record): int(figure) for size, figures in rows
                                        for record, figure in zip(records, figures)}
    return reports
