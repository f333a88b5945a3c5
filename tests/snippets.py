"""Commands of Markdown pages, executed from top to bottom in an empty folder, and what they print compared with the page.

    ```console          a shell session: `$ command`, then lines that it prints
    ```sh               a script; only its exit status counts

A comment above a block says more of it, a comment alone stands for a command that readers do not need to see:

    <!-- snippet: exit 1 -->            the commands of the block end with this status
    <!-- snippet: file train.py -->     the block is the content of a file
    <!-- snippet: source examples/x/main.cc -->   the block is a part of that file
    <!-- snippet: skip REASON -->       the block is not run
    <!-- snippet: run COMMAND -->       runs here, without a block
    <!-- snippet: needs COMMAND -->     where this fails, the rest of the page is not run

Every command has a shell of its own in the same folder. Lines that begin with `export` hold for all commands after them.

Printed lines stand in the output one after the other; a line `...` stands for any lines, `…` for any text within a line. Numbers
before a unit of time, speed or memory may differ; percentages by 5 points, other decimals by a fifth; whole numbers not at all.
A shown line `^C` interrupts the command as soon as it has printed the lines above it.
"""

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import threading

SOURCE = pathlib.Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"<!-- snippet: (\w+) ?(.*?) ?-->")
FENCE = re.compile(r"( *)(`{3,})\s*(\S*)")
NUMBER = re.compile(r"\d[\d,]*\.?\d*")
FREE_UNIT = re.compile(r" ?(s|ms|min|h|[kMG]i?B(/s)?|(samples|images)/s)\b")
EXPORTS = "STOKER_SNIPPET_EXPORTS"  # the lines that begin with `export` up to here
LONGEST = 600  # seconds of a command
# Blocks of these languages are for reading alone.
FREE_LANGUAGES = {"", "text", "mermaid", "{mermaid}", "{toctree}"}


@dataclasses.dataclass
class Step:
    line: int  # of the page
    kind: str  # session, script, file, source, skip, needs
    text: str  # what runs, or the content
    argument: str = ""  # of the comment
    status: int = 0


def blocks(text):
    """(line, language, content) of each fenced block, and (line, None, match) of each comment."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        comment, fence = COMMENT.search(lines[number]), FENCE.match(lines[number])
        if comment:
            yield number + 1, None, comment
        elif fence:
            first, content = number + 1, []
            number += 1
            while number < len(lines) and lines[number].strip() != fence[2]:
                content.append(lines[number][len(fence[1]):])
                number += 1
            yield first, fence[3], "\n".join(content) + "\n"
        number += 1


def steps_of(text):
    """What a page does. A block that is neither run nor for reading alone is an error."""
    steps, comment = [], None
    for line, language, content in blocks(text):
        if language is None:
            if content[1] == "run":
                steps.append(Step(line, "script", content[2]))
            elif content[1] == "needs":
                steps.append(Step(line, "needs", content[2]))
            elif content[1] in {"exit", "file", "source", "skip"}:
                comment = content
            else:
                raise ValueError(f"line {line}: unknown comment: {content[0]}")
            continue
        said, argument = (comment[1], comment[2]) if comment else ("", "")
        comment = None
        if said in {"file", "source", "skip"}:
            steps.append(Step(line, said, content, argument))
        elif language in {"console", "sh"}:
            kind = "session" if language == "console" else "script"
            steps.append(Step(line, kind, content, status=int(argument) if said == "exit" else 0))
        elif language not in FREE_LANGUAGES:
            raise ValueError(f"line {line}: a block of {language} that is neither a file, a source nor skipped")
    return steps


def commands_of(session):
    """[command, shown lines] of a console block; a command goes on after a backslash."""
    found = []
    goes_on = False
    for line in session.splitlines():
        if goes_on:
            found[-1][0] += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line)
            continue
        else:
            raise ValueError(f"output without a command: {line}")
        goes_on = found[-1][0].endswith("\\")
    for command in found:
        while command[1] and not command[1][-1].strip():
            command[1].pop()
    return found


def parts_of(line):
    """Text and numbers in turn; spaces count once."""
    line = " ".join(line.split())
    texts, numbers, end = [], [], 0
    for match in NUMBER.finditer(line):
        texts.append(line[end:match.start()])
        rest = line[match.end():]
        numbers.append((match[0].rstrip(",."), rest))
        end = match.end()
    return [*texts, line[end:]], numbers


def same_number(shown, got):
    (a, rest), (b, _) = shown, got
    if FREE_UNIT.match(rest):
        return True
    x, y = float(a.replace(",", "")), float(b.replace(",", ""))
    if re.match(r" ?%", rest):
        return abs(x - y) <= 5
    if "." in a or "." in b:
        return abs(x - y) <= max(0.05, 0.2 * abs(x))
    return x == y


def same_with_gaps(shown, got):
    """As same_line, where `…` in the shown line stands for any text."""
    texts, numbers = parts_of(shown)
    pattern = rf"({NUMBER.pattern})".join(".*".join(map(re.escape, text.split("…"))) for text in texts)
    match = re.fullmatch(re.sub(r"\\ (?=\.\*)|(?<=\.\*)\\ ", " ?", pattern), got)
    return match is not None and all(map(same_number, numbers, [(number.rstrip(",."), "") for number in match.groups()]))


def same_line(shown, got):
    if "…" in shown:
        return same_with_gaps(shown, " ".join(got.split()))
    (texts, numbers), (other_texts, other_numbers) = parts_of(shown), parts_of(got)
    return texts == other_texts and all(map(same_number, numbers, other_numbers))


def shows(shown, got):
    """Whether the output has the shown lines."""
    if not shown:
        return True
    if shown[0].strip() == "...":
        return any(shows(shown[1:], got[skipped:]) for skipped in range(len(got) + 1))
    return bool(got) and same_line(shown[0], got[0]) and shows(shown[1:], got[1:])


class Failed(Exception):
    pass


class Missing(Exception):
    pass


def shell_of(command, environment):
    """The shell that runs it, after the exports before it; those of the command are kept for the commands after it."""
    script = f"{environment.get(EXPORTS, '')}{command}"
    environment[EXPORTS] = "".join(f"{line}\n" for line in script.splitlines() if line.startswith("export "))
    return ["bash", "-euo", "pipefail", "-c", script]


def execute(command, folder, environment, status):
    """Standard output; where the command should fail, what it says of that too."""
    errors = subprocess.STDOUT if status else subprocess.PIPE
    done = subprocess.run(shell_of(command, environment), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors,
                          text=True, errors="replace", timeout=LONGEST, check=False)
    if done.returncode != status:
        raise Failed(f"{command}\nended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr or ''}")
    return done.stdout


def interrupt(command, folder, environment, status, before):
    """Standard output of a command that gets SIGINT, as from a terminal, when it has printed the lines `before`."""
    with subprocess.Popen(shell_of(command, environment), cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True) as running:
        timer = threading.Timer(LONGEST, os.killpg, (running.pid, signal.SIGKILL))
        timer.start()
        got = []
        for line in running.stdout:
            got.append(line.rstrip("\n"))
            if before is not None and shows([*before, "..."], got):
                os.killpg(running.pid, signal.SIGINT)
                before = None
        running.wait()
        timer.cancel()
    if running.returncode != status or before is not None:
        raise Failed(f"{command}\nended with {running.returncode}, not {status}, "
                     f"{'before' if before is not None else 'after'} it was interrupted:\n" + "\n".join(got))
    return "\n".join(got)


def run_session(step, folder, environment):
    for command, shown in commands_of(step.text):
        if "^C" in shown:
            got = interrupt(command, folder, environment, step.status, shown[:shown.index("^C")]).splitlines()
            shown = [line for line in shown if line != "^C"]
        else:
            got = execute(command, folder, environment, step.status).splitlines()
        if not shows([*shown, "..."], got):
            raise Failed(f"$ {command}\nthe page shows:\n" + "\n".join(shown) + "\nit printed:\n" + "\n".join(got))


def check_needed(command, folder, environment):
    try:
        execute(command, folder, environment, 0)
    except Failed:
        raise Missing(f"skipped: needs {command}") from None


def environment_of(stoker):
    """As a user has it after the installation: the program, a Python with the feed."""
    build = pathlib.Path(stoker).resolve().parent
    path = [str(build), str(SOURCE / ".venv" / "bin"), os.environ["PATH"]]
    return {**os.environ, "PATH": ":".join(path), "PYTHONPATH": str(build / "python"), "STOKER_SOURCE": str(SOURCE),
            "STOKER_BUILD": str(build), "COLUMNS": "100", "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", "")}


def run_page(page, folder, stoker):
    """Runs every block; the number of those that ran and of those that were skipped."""
    environment = environment_of(stoker)
    ran = skipped = 0
    for step in steps_of(page.read_text(encoding="utf-8")):
        try:
            if step.kind == "session":
                run_session(step, folder, environment)
            elif step.kind == "script":
                execute(step.text, folder, environment, step.status)
            elif step.kind == "needs":
                check_needed(step.text, folder, environment)
            elif step.kind == "file":
                path = pathlib.Path(folder, step.argument)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step.text, encoding="utf-8")
            elif step.kind == "source" and step.text not in (SOURCE / step.argument).read_text(encoding="utf-8"):
                raise Failed(f"the block is not a part of {step.argument}")
        except (Failed, subprocess.TimeoutExpired) as error:
            raise Failed(f"{page.name}:{step.line}: {error}") from None
        ran, skipped = ran + (step.kind != "skip"), skipped + (step.kind == "skip")
    return ran, skipped
