"""Writes a table as clinics export them: python make_messy_table.py clinic.csv

All patients are simulated. A German export: BOM, semicolons, decimal commas, points between thousands, codes with
leading zeros, dates day first, words for missing values, several visits a patient, three causes of an event.
"""

import random
import sys

HEADER = (
    "Patient",
    "Alter",
    "Gewicht",
    "Leukozyten",
    "Station",
    "Aufnahme",
    "Raucher",
    "CRP",
    "Tage",
    "Status",
    "Befund",
)


def amount(number, decimals=1):
    """Write a number as in Germany: 1.234,5."""
    return f"{number:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def rows(n=120, seed=1):
    """Give the header and n visits of patients, two each."""
    draw = random.Random(seed)
    yield HEADER
    for i in range(n):
        weight, crp = draw.gauss(75, 12), draw.lognormvariate(1, 1)
        risk = (weight - 75) / 12 + (crp > 3) + draw.gauss(0, 1)
        yield (
            f"P{i // 2:04d}", str(draw.randint(20, 90)), amount(weight), amount(draw.gauss(7000, 1500)),
            draw.choice(["007", "07", "7", "012"]), f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2023",
            draw.choice(["TRUE", "FALSE", "k.A."]), amount(crp, 2) if draw.random() > 0.1 else "?",
            str(draw.randint(1, 900)), str(draw.choice([0, 1, 2, 2])), "krank" if risk > 0.5 else "gesund",
        )  # fmt: skip


def export(n=120, seed=1):
    """Give the file as bytes."""
    text = "\r\n".join(";".join(cells) for cells in rows(n, seed)) + "\r\n"
    return text.encode("utf-8-sig")


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "clinic.csv"
    with open(path, "wb") as file:
        file.write(export())
    print(f"{path}: 120 visits of 60 simulated patients, as a German clinic would export them")
