"""The pictures of README.md are what the program draws today, and files that anybody can show."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from pictures import FOLDER, ROOT, pictures

from pool_lint.cost.picture import heat_map, page, svg
from pool_lint.cost.profile import named_profile

SVG = "{http://www.w3.org/2000/svg}"


def test_the_kept_pictures_are_what_is_drawn(request: pytest.FixtureRequest) -> None:
    drawn = pictures()
    assert sorted(path.name for path in FOLDER.glob("*.svg")) == sorted(drawn)
    for name, picture in drawn.items():
        if request.config.getoption("--update"):
            (FOLDER / name).write_text(picture, encoding="utf-8", newline="\n")
        assert (FOLDER / name).read_text(encoding="utf-8") == picture, "run python -m tests.pictures"


def test_the_readme_shows_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"!\[[^\]]+\]\(\.docs/([^)]+)\)", readme))
    assert shown == {path.name for path in FOLDER.glob("*.svg")}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_stands_alone_and_follows_the_scheme(path: str) -> None:
    text = (FOLDER / path).read_text(encoding="utf-8")
    assert text.count("http") == 1, "nothing but the namespace"
    assert "prefers-color-scheme:dark" in text
    root = ET.fromstring(text)  # noqa: S314 - the project's own file
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for each in root.iter(f"{SVG}text"):
        assert 0 <= float(each.attrib["x"]) <= width
        assert 0 <= float(each.attrib["y"]) <= height


def test_the_finding_is_shown_with_its_path() -> None:
    words = " ".join(ET.parse(FOLDER / "finding.svg").getroot().itertext())  # noqa: S314 - the project's own file
    assert "POL101" in words
    assert "lost if it raises" in words
    assert "✗" in words


@pytest.mark.parametrize("threads", [1, 8])
def test_a_whole_map_is_well_formed(threads: int) -> None:
    """Cells below a tenth are written with a sign that XML keeps for itself."""
    heat = heat_map(named_profile("bundled-3.13"), threads)
    root = ET.fromstring(svg([heat], "<costs>"))  # noqa: S314 - drawn a moment ago
    cells = [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "cell"]
    assert "<0.1" in cells
    assert len(cells) == len(heat.rows) * len(heat.columns)
    assert root.attrib["aria-label"] == "<costs>"


def test_maps_of_the_same_rows_name_them_once() -> None:
    profile = named_profile("bundled-3.13")
    picture = svg([heat_map(profile, 1), heat_map(profile, 8)], "costs")
    assert picture.count(">random.Random()<") == 1
    assert "<title>a &lt; b</title>" in page(picture, "a < b")
