"""`pratique completion`: what a shell needs to complete the words of this command line, read off its own grammar."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pratique.commands import exits
from pratique.commands.arguments import Commands, group
from pratique.commands.shell import Screen

ABOUT = """Print the completion of this command line for a shell. Options that take a word from a list complete to that
list, options and arguments that take a file to files."""
EXAMPLES = """examples:
  source <(pratique completion bash)
  pratique completion zsh > "${fpath[1]}/_pratique"
  pratique completion fish > ~/.config/fish/completions/pratique.fish"""


@dataclass(frozen=True)
class Place:
    """A point of the grammar: the words that lead there, and what may follow."""

    words: tuple[str, ...]
    verbs: tuple[tuple[str, str], ...]  # with their summaries
    options: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, tuple[str, ...]], ...]  # of options that take one: its choices, none for a file
    arguments: tuple[str, ...]  # the choices of positional arguments


def add(commands: Commands, grammar: Callable[[], argparse.ArgumentParser]) -> None:
    """Add the command; `grammar` returns the whole tree, this command included."""
    parser = group(commands, "completion", "print the completion for a shell", ABOUT, EXAMPLES)
    parser.add_argument("kind", choices=tuple(SHELLS), metavar="SHELL", help=", ".join(SHELLS))

    def run(screen: Screen, options: argparse.Namespace) -> int:
        script = SHELLS[options.kind](tuple(places(grammar())))
        screen.show({"shell": options.kind, "script": script}, script, short=script)
        return exits.OK

    parser.set_defaults(run_offline=run)


def places(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[Place]:
    """Yield every point of a grammar, the root first."""
    verbs: dict[str, tuple[str, argparse.ArgumentParser]] = {}
    options: dict[str, str] = {}
    values: dict[str, tuple[str, ...]] = {}
    arguments: list[str] = []
    for action in parser._actions:  # noqa: SLF001 - argparse shows its tree in no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            summaries = {each.dest: each.help or "" for each in action._choices_actions}  # noqa: SLF001
            verbs |= {name: (summaries.get(name, ""), below) for name, below in action.choices.items()}
            continue
        choices = tuple(str(each) for each in action.choices or ())
        if not action.option_strings:
            arguments += choices
        for name in action.option_strings:
            options[name] = (action.help or "").replace("%%", "%")
            if action.nargs != 0:
                values[name] = choices
    told = tuple((name, summary) for name, (summary, _) in verbs.items())
    yield Place(words, told, tuple(options.items()), tuple(values.items()), tuple(arguments))
    for name, (_, below) in verbs.items():
        yield from places(below, (*words, name))


def bash(every: tuple[Place, ...]) -> str:
    """Return the completion for bash: the words before the cursor lead to a place, which has its own answers."""
    nouns = [f'    "{" ".join(place.words)}") verbs="{_names(place.verbs)}" ;;' for place in every if place.verbs]
    cases: list[str] = []
    for place in every:
        at = " ".join(place.words)
        cases.append(
            f'    "{at}") words="{_names(place.verbs)} {_names(place.options)} {" ".join(place.arguments)}" ;;'
        )
    taken = sorted({name for place in every for name, _ in place.values})
    listed = [
        f'    "{" ".join(place.words)} {name}") words="{" ".join(choices)}"; listed=1 ;;'
        for place in every
        for name, choices in place.values
        if choices
    ]
    return BASH.format(nouns="\n".join(nouns), cases="\n".join(cases), taken="|".join(taken), listed="\n".join(listed))


BASH = """_pratique() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" at="" verbs="" words="" listed="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    case "$at" in
{nouns}
    *) verbs="" ;;
    esac
    case " $verbs " in *" $word "*) at="${{at:+$at }}$word" ;; esac
  done
  case "$prev" in
    {taken})
      case "$at $prev" in
{listed}
      esac
      if [ -n "$listed" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur"))
      else COMPREPLY=($(compgen -f -- "$cur")); fi
      return ;;
  esac
  case "$at" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _pratique pratique"""


def zsh(every: tuple[Place, ...]) -> str:
    """Return the completion for zsh, which reads that for bash by its own `bashcompinit`."""
    return f"#compdef pratique\nautoload -U +X bashcompinit && bashcompinit\n{bash(every)}"


def fish(every: tuple[Place, ...]) -> str:
    """Return the completion for fish: a line for each word and the place at which it may stand."""
    lines = [FISH]
    for place in every:
        at = f"__pratique_at {' '.join(place.words)}".rstrip()
        lines += [
            f"complete -c pratique -n {_quoted(at)} -f -a {name} -d {_quoted(told)}" for name, told in place.verbs
        ]
        lines += [f"complete -c pratique -n {_quoted(at)} -f -a {name}" for name in place.arguments]
        values = dict(place.values)
        for name, told in place.options:
            kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            takes = "" if name not in values else f" -x -a {_quoted(' '.join(values[name]))}" if values[name] else " -r"
            lines.append(f"complete -c pratique -n {_quoted(at)} {kind}{takes} -d {_quoted(told)}")
    return "\n".join(lines)


FISH = """function __pratique_at
  set -l words
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; or set -a words $word
  end
  test (count $words) -ge (count $argv); or return 1
  for i in (seq (count $argv))
    test "$words[$i]" = "$argv[$i]"; or return 1
  end
  test (count $argv) -gt 0; or test (count $words) -eq 0
end"""
SHELLS: dict[str, Callable[[tuple[Place, ...]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _names(told: tuple[tuple[str, str], ...]) -> str:
    return " ".join(name for name, _ in told)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
