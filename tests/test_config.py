"""Settings: found in the nearest pyproject.toml; a mistake is named by file and key."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from pool_lint.config import Settings, load_settings, override, parse_settings
from pool_lint.engine import check_text
from pool_lint.files import PoolLintError

MODEL = """
[[tool.pool_lint.pool]]
id = "stage"
library = "stagehand"
classes = ["stagehand.Stage"]
item = "prop"
borrows = [{ method = "lend", ways = ["call"] }]
releases = [{ method = "give_back", on = "pool" }]
remedy = "use try/finally with '{pool}.give_back(prop)'"
"""


def written(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder


def sources(folder: Path) -> tuple[str, ...]:
    return str(folder), str(folder / "src")


def test_without_a_table_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, "[project]\nname = 'x'\n")) == Settings(src=sources(tmp_path))


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    written(tmp_path, '[tool.pool_lint]\nmay_raise = "any"\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert load_settings(inner).may_raise == "any"
    written(inner, '[tool.pool_lint]\nmay_raise = "handle"\nno_raise = ["log.note", "tell"]\n')
    expected = Settings(may_raise="handle", no_raise=("log.note", "tell"), src=sources(inner))
    assert load_settings(inner) == expected


def test_folders_are_relative_to_the_file(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, '[tool.pool_lint]\nsrc = ["lib", "../x"]\ncache_dir = "kept"\n'))
    assert settings.src == (str(tmp_path / "lib"), str(tmp_path.parent / "x"))
    assert settings.cache_dir == str(tmp_path / "kept")
    assert settings.across_files
    assert not load_settings(written(tmp_path, "[tool.pool_lint]\nacross_files = false\n")).across_files


def test_own_pools_have_the_schema_of_the_catalog(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, MODEL))
    assert [(model.id, model.item) for model in settings.models] == [("stage", "prop")]
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - our own bytes; workers get settings so


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[tool.pool_lint]\nmay_raise = 3\n", "tool.pool_lint.may_raise: 3 is not one of calls, handle, any"),
        ("[tool.pool_lint]\nacross_files = 1\n", "tool.pool_lint.across_files: must be true or false"),
        ("[tool.pool_lint]\nsrc = 'lib'\n", "tool.pool_lint.src: must be a list of folders"),
        ("[tool.pool_lint]\nsrc = []\n", "tool.pool_lint.src: must be a list of folders"),
        ("[tool.pool_lint]\nsrc = ['']\n", "tool.pool_lint.src: '' is not the name of a folder"),
        ("[tool.pool_lint]\ncache_dir = 5\n", "tool.pool_lint.cache_dir: 5 is not the name of a folder"),
        ("[tool.pool_lint]\nmay_rase = 'any'\n", "tool.pool_lint.may_rase: unknown key; did you mean may_raise?"),
        (
            "[tool.pool_lint]\ncolour = 1\n",
            "tool.pool_lint.colour: unknown key; known keys: may_raise, no_raise, margin, ",
        ),
        ("[tool.pool_lint]\nno_raise = 'log'\n", "tool.pool_lint.no_raise: must be a list of names"),
        ("[tool.pool_lint]\nno_raise = [1]\n", "tool.pool_lint.no_raise: must be a list of names"),
        ("[tool.pool_lint]\nno_raise = ['a b']\n", "tool.pool_lint.no_raise: 'a b' is not a name"),
        ("[tool]\npool_lint = 3\n", "tool.pool_lint: must be a table"),
        ("tool = 3\n", "tool.pool_lint: must be a table"),
        ("[tool.pool_lint\n", "is not valid TOML: "),
        ("[tool.pool_lint]\npool = 3\n", "tool.pool_lint.pool: must be a list of tables"),
        ("[tool.pool_lint]\npool = [3]\n", "tool.pool_lint.pool[0]: must be a table"),
        (MODEL.replace("item =", "itm ="), "tool.pool_lint.pool[0].itm: unknown key"),
        (MODEL.replace('on = "pool"', 'on = "moon"'), "tool.pool_lint.pool[0].releases[0].on: 'moon' is not one of"),
    ],
)
def test_a_mistake_is_named_by_file_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    written(tmp_path, text)
    with pytest.raises(PoolLintError) as caught:
        load_settings(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'pyproject.toml'}: ")
    assert complaint in message
    assert "\n" not in message


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PoolLintError, match="is not valid TOML: not UTF-8 at byte 0"):
        load_settings(tmp_path)


def test_the_examples_of_the_readme_are_valid(tmp_path: Path) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```toml\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    assert load_settings(written(tmp_path, "".join(examples))).models[0].id == "stagehand.stage"


def test_flags_override_what_they_name() -> None:
    settings = Settings(may_raise="any", no_raise=("log",))
    assert override(settings, None, None, "--") == settings
    assert override(settings, "handle", None, "--") == Settings(may_raise="handle", no_raise=("log",))
    assert override(settings, None, ["tell"], "--") == Settings(may_raise="any", no_raise=("tell",))


def test_an_empty_table_is_the_default() -> None:
    assert parse_settings({}, "here") == Settings()


@pytest.mark.parametrize(
    ("setting", "lines"),
    [("handle", []), ("calls", [11]), ("any", [3, 7, 11])],
)
def test_what_may_raise_is_a_setting(setting: str, lines: list[int]) -> None:
    text = "from psycopg2.pool import ThreadedConnectionPool\n"
    for number, between in enumerate(("b = a.x", "b = a + 1", "a()")):
        text += f"def f{number}(pool: ThreadedConnectionPool, a):\n"
        text += f"    conn = pool.getconn()\n    {between}\n    pool.putconn(conn)\n"
    found = check_text(text, "x.py", Settings(may_raise=setting))
    assert [finding.line for finding in found if finding.code == "POL101"] == lines
