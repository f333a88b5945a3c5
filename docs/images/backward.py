#!/usr/bin/env python3
"""Draws backward.svg: the products of a linear layer, forward and backward. Side lengths are in proportion to n, p and q.

    docs/images/backward.py > docs/images/backward.svg
"""

SIDE = {"n": 64, "p": 112, "q": 40}
FORWARD, BACKWARD, RESULT = "#dbe9f6", "#fde3c8", "#d9efd5"
ROW_HEIGHT, LEFT, WIDTH = 168, 250, 740
ROWS = [
    # title, formula, matrices and signs: (name, rows, columns, colour) or a sign
    ("Forward", "Z = X·W + b", [("X", "n", "p", FORWARD), "·", ("W", "p", "q", FORWARD), "+", ("b", "", "q", FORWARD), "=", ("Z", "n", "q", RESULT)]),
    ("Gradient of the weights", "∂L/∂W = Xᵀ·D", [("Xᵀ", "p", "n", FORWARD), "·", ("D", "n", "q", BACKWARD), "=", ("∂L/∂W", "p", "q", RESULT)]),
    ("Gradient of the bias", "∂L/∂b = sum of D's rows", [("1ᵀ", "", "n", FORWARD), "·", ("D", "n", "q", BACKWARD), "=", ("∂L/∂b", "", "q", RESULT)]),
    ("Gradient of the input", "∂L/∂X = D·Wᵀ", [("D", "n", "q", BACKWARD), "·", ("Wᵀ", "q", "p", FORWARD), "=", ("∂L/∂X", "n", "p", RESULT)]),
]


def text(x, y, words, size=15, anchor="middle", weight="normal", colour="#222"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{colour}">{words}</text>')


def matrix(x, middle, name, rows, columns, colour):
    """The drawing and its width. Rows "" is one row."""
    height, width = SIDE.get(rows, 14), SIDE[columns]
    top = middle - height / 2
    parts = [f'<rect x="{x}" y="{top}" width="{width}" height="{height}" fill="{colour}" stroke="#444"/>']
    inside = len(name) * 9 < width and height > 20
    parts.append(text(x + width / 2, middle + 5 if inside else top - 6, name, weight="bold"))
    parts.append(text(x + width / 2, top + height + 16, columns, 13, colour="#666"))
    if rows:
        parts.append(text(x - 9, middle + 4, rows, 13, colour="#666"))
    return "".join(parts), width


def main():
    height = ROW_HEIGHT * len(ROWS) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="DejaVu Sans, Arial, sans-serif">', f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for number, (title, formula, items) in enumerate(ROWS):
        middle = ROW_HEIGHT * number + ROW_HEIGHT / 2
        if number:
            out.append(f'<line x1="20" x2="{WIDTH - 20}" y1="{middle - ROW_HEIGHT / 2}" y2="{middle - ROW_HEIGHT / 2}" stroke="#ccc"/>')
        out.append(text(24, middle - 6, title, 15, "start", "bold") + text(24, middle + 18, formula, 15, "start"))
        x = LEFT + 20
        for item in items:
            if isinstance(item, str):
                out.append(text(x + 18, middle + 7, item, 22))
                x += 54
            else:
                drawing, width = matrix(x, middle, *item)
                out.append(drawing)
                x += width + 12
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
