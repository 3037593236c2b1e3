"""Run a plugin's tools inside a test, without a process and without a toolhost.

    from toolhost.testing import Host

    def test_forecast():
        with Host(plugin) as host:
            assert host.call("forecast", {"city": "Oslo"}).text == "rain in Oslo"

It takes the path of production: arguments are text that is parsed and validated, and results are encoded and decoded
again.
"""

from toolhost.testing._host import Ended, Host, Stream

__all__ = ["Ended", "Host", "Stream"]
