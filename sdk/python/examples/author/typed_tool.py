"""A typed function becomes a tool: its type hints are the schema of its arguments and its result."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from toolhost.plugin import Plugin
from toolhost.testing import Host

plugin = Plugin("weather", "1.0.0")


@dataclass
class Forecast:
    city: str
    days: int


@plugin.tool(read_only=True)
def forecast(city: str, days: Annotated[int, Field(ge=1, le=14)] = 1) -> Forecast:
    """Return the weather forecast for a city.

    Args:
        city: The English name of the city.
        days: The number of days.
    """
    return Forecast(city, days)


if __name__ == "__main__":  # a plugin calls plugin.run() here; this example calls the tool itself
    with Host(plugin) as host:
        print(host.call("forecast", {"city": "Oslo"}).value_as(Forecast))
        print(host.call("forecast", {"city": "Oslo", "days": 20}).text)

# Output:
# Forecast(city='Oslo', days=1)
# the arguments do not fit the tool:
# - days: must be less than or equal to 14, but is 20
