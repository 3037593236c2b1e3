"""The three tools of the agent, for the frameworks in Python."""

import time


def find_order(order: str) -> str:
    """Returns what is known about an order."""
    return f"{order}: 40 EUR, paid; the customer writes that it arrived broken"


def refund(order: str, amount: float) -> str:
    """Pays an amount of an order back."""
    with open("refunds.log", "a") as file:
        file.write(f"{order} {amount}\n")
    time.sleep(2)  # the bank, during which the test kills the process
    return f"refunded {amount}"


def add_note(order: str, text: str) -> str:
    """Adds a note to an order."""
    return "noted"
