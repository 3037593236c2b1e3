"""Code that takes a ToolCaller runs with a Client in production and with Host.client in a test."""

from toolhost.client import ToolCaller
from toolhost.plugin import Plugin
from toolhost.testing import Host

plugin = Plugin("weather")


@plugin.tool
def forecast(city: str) -> str:
    """Return the weather forecast for a city."""
    return f"rain in {city}"


def advise(toolhost: ToolCaller, city: str) -> str:
    """Return advice. This is the code under test."""
    return "take an umbrella" if "rain" in toolhost.call("forecast", {"city": city}).text else "take sunglasses"


if __name__ == "__main__":
    with Host(plugin) as host:
        print(advise(host.client, "Oslo"))

# Output:
# take an umbrella
