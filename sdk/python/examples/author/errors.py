"""A ToolError is for the model, and a ToolhostError is for the caller."""

from toolhost.errors import Unavailable
from toolhost.plugin import Plugin, ToolError
from toolhost.testing import Host

plugin = Plugin("weather")


@plugin.tool
def forecast(city: str) -> str:
    """Return the weather forecast for a city."""
    if city == "Atlantis":
        raise ToolError("Atlantis has no weather; ask for another city")
    if city == "Nowhere":
        raise Unavailable("the weather station is down", retry_after=30)
    return "rain"


if __name__ == "__main__":
    with Host(plugin) as host:
        answer = host.call("forecast", {"city": "Atlantis"})
        print(answer.is_error, answer.text)
        failure = host.call("forecast", {"city": "Nowhere"}).error
        assert failure is not None
        print(failure.kind, failure.retry_after)

# Output:
# True Atlantis has no weather; ask for another city
# unavailable 30.0
