"""A class can be looked over: at most 20 methods and 15 members, or a reason why it is one thing all the same."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_METHODS, MOST_MEMBERS = 20, 15
# Class -> the reason why it is larger.
LARGER = {
    "Cluster": "one list of workers, one transport, one event loop: joining, calls, silence and losses change the same state",
    "DataKeeper": "one owner of the data directories, whose steps from Inspect to Finish share who claims which file system",
    "PhaseConductor": "one phase as one straight story, most of whose private methods are its steps; a start may repeat them",
    "RunningLanes": "the state machine of one phase's lanes; display, clocks and ends follow from the same polls",
    "SloSearch": "a pure state machine whose private methods are its transitions",
}


def without_comments_and_texts(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"(?<!\w)'(?:\\.|[^'\\\n])'", "0", text)
    return re.sub(r"^#.*$", "", text, flags=re.M)


def block_from(text, opening):
    """The text between the brace at `opening` and its partner, and the position after that."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[opening + 1:at], at + 1
    raise AssertionError("unbalanced braces")


def declarations(body):
    """The declarations directly in a class, each without the bodies of functions, types and initializers."""
    found, now, at, parens = [], "", 0, 0
    while at < len(body):
        char = body[at]
        if char == "{" and parens == 0:
            _, at = block_from(body, at)
            rest = re.match(r"\s*;", body[at:])
            begins_initializer = re.match(r"\s*[,{]", body[at:]) and "(" in now  # of a constructor
            if rest:
                at += rest.end()
            if not begins_initializer:
                found.append(now)
                now = ""
            continue
        parens += {"(": 1, ")": -1}.get(char, 0)
        if char == ";" and parens == 0:
            found.append(now)
            now = ""
        else:
            now += char
        at += 1
    return [re.sub(r"\b(?:public|private|protected)\s*:", "", each).strip() for each in found]


def without_template_arguments(text):
    shorter = re.sub(r"<[^<>]*>", "", text)
    return text if shorter == text else without_template_arguments(shorter)


def sizes(name, body):
    methods, members = set(), 0
    for declaration in declarations(body):
        plain = without_template_arguments(re.sub(r"\bABSL_\w+\([^()]*\)", "", re.sub(r"->|<=>|<<", " ", declaration))).strip()
        plain = re.sub(r"^template\s*", "", plain)
        if not plain or re.match(r"(?:class|struct|enum|union|using|typedef|friend|static_assert)\b", plain):
            continue
        is_constructor = re.search(rf"(?<!\w)~?{name}\s*\(", plain.split(")")[0])
        if is_constructor or "operator" in plain or "= delete" in plain:
            continue
        head = re.split(r"=(?!=)", plain)[0]
        call = re.search(r"(\w+)\s*\(", head)
        if call:
            methods.add(call[1])  # overloads are one
        elif not re.match(r"(?:static|constexpr)\b", plain):
            members += 1
    return len(methods), members


def classes():
    """(file, class) -> number of methods, those that are private included, and of members."""
    found = {}
    for file in sorted((ROOT / "coordinator").rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        text = without_comments_and_texts(file.read_text(encoding="utf-8"))
        for match in re.finditer(r"\bclass\s+(\w+)(?:\s+final)?\s*(?::[^;{]*)?\{", text):
            if text[:match.start()].rstrip().endswith("enum"):
                continue
            body, _ = block_from(text, match.end() - 1)
            found[(str(file.relative_to(ROOT)), match[1])] = sizes(match[1], body)
    return found


def test_the_counter_counts():
    body = """
     public:
      explicit Example(int a) : a_(a), b_{a} {}
      Example(const Example&) = delete;
      ~Example();
      int a() const { return a_; }
      static Example Of(std::function<void(int)> act);
      template <typename T> T Map(T value = T()) { if (value) { return value; } return T(); }
      void Add(int a);
      void Add(double a);
      struct Inner { int x; void F(); };
     private:
      static constexpr int kMost = 3;
      int a_ = 0, b_{1};
      std::map<std::pair<int, int>, std::function<bool(int)>> table_ ABSL_GUARDED_BY(mutex_);
      std::optional<Inner> inner_;
    """
    assert sizes("Example", without_comments_and_texts(body)) == (4, 3)


def test_classes_can_be_looked_over_or_say_why_not():
    all_of_them = classes()
    assert len(all_of_them) > 60
    large = {name: (file, *counts) for (file, name), counts in all_of_them.items()
             if counts[0] > MOST_METHODS or counts[1] > MOST_MEMBERS}
    assert {name: size for name, size in large.items() if name not in LARGER} == {}
    assert sorted(set(LARGER) - set(large)) == [], "these are not large any more"
