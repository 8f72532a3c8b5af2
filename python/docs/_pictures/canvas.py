"""The elements of a picture: boxes, arrows and texts, as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

WIDTH = 760
SIZE = 13  # of texts, in pixels
LINE = 17
PAGE = "var(--color-background-primary, #fff)"
# Colours that stand out from white and from black alike. No picture says anything by colour alone.
TONES = {"good": "#2e8b57", "bad": "#d1453b", "unsure": "#b7791f", "plain": "#3b82c4"}
# Width of characters in em, in a wide sans-serif font.
WIDTHS = dict.fromkeys("iljtfrI.,:;'|!()[]/ ", 0.36) | dict.fromkeys("mwMW", 0.92)


def width_of(text: str, size: float = SIZE) -> float:
    return size * sum(WIDTHS.get(each, 0.72 if each.isupper() else 0.62) for each in text)


def wrapped(text: str, width: float) -> list[str]:
    """The lines of a text that fit into a width."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}".strip()
            if line and width_of(longer) > width:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


class Canvas:
    """Collects the elements of a picture."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.height = 0.0
        self.elements: list[str] = []

    def add(self, element: str, bottom: float) -> None:
        self.elements.append(element)
        self.height = max(self.height, bottom)

    def text(self, lines: Iterable[str], x: float, y: float, anchor: str = "middle", weight: int = 400) -> None:
        """Lines of text; `y` is the middle of the first line."""
        for number, line in enumerate(lines):
            middle = y + number * LINE
            style = f'text-anchor="{anchor}" font-weight="{weight}"'
            self.add(f'<text x="{x:.1f}" y="{middle + 4.5:.1f}" {style}>{escape(line)}</text>', middle + LINE / 2)

    def box(
        self, x: float, y: float, w: float, h: float, lines: Iterable[str], tone: str = "", weight: int = 400
    ) -> None:
        colour = TONES.get(tone, "currentColor")
        frame = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="5"'
        self.add(f'<rect {frame} fill="{PAGE}"/>', y + h)
        self.add(f'<rect {frame} fill="{colour}" fill-opacity="0.12" stroke="{colour}" stroke-width="1.5"/>', y + h)
        texts = list(lines)
        self.text(texts, x + w / 2, y + h / 2 - (len(texts) - 1) * LINE / 2, weight=weight)

    def line(
        self, points: list[tuple[float, float]], tone: str = "", *, arrow: bool = True, dashed: bool = False
    ) -> None:
        colour, bottom = TONES.get(tone, "currentColor"), max(y for _, y in points)
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        head = f' marker-end="url(#{self.name}-{tone or "none"})"' if arrow else ""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.add(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}{head}/>', bottom)

    def label(self, text: str, x: float, y: float, width: float) -> None:
        """Lines of text around a point, over whatever is below them."""
        lines = wrapped(text, width)
        wide = max(map(width_of, lines)) + 6
        top = y - len(lines) * LINE / 2
        place = f'x="{x - wide / 2:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{len(lines) * LINE}"'
        self.add(f'<rect {place} fill="{PAGE}"/>', 0)
        self.text(lines, x, top + LINE / 2)

    def svg(self, title: str, description: str) -> str:
        name, height = self.name, self.height + 8
        markers = "".join(
            f'<marker id="{name}-{tone}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
            for tone, colour in ({"none": "currentColor"} | TONES).items()
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            f'width="{WIDTH}" height="{height:.0f}" '
            f'role="img" aria-labelledby="{name}-title {name}-desc" font-family="sans-serif" font-size="{SIZE}" '
            f'fill="currentColor" style="display:block;width:100%;min-width:600px;max-width:{WIDTH}px;height:auto">'
            f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>'
            f"<defs>{markers}</defs>{''.join(self.elements)}</svg>"
        )
