"""The tests of the tool, which need no toolhost."""

import unittest
from pathlib import Path

from table import plugin
from toolhost.testing import Host


class TableStatistics(unittest.TestCase):
    def call(self, path: str):
        with Host(plugin) as host:
            return host.call("table_statistics", {"path": path}, workspace=Path(__file__).parent).result

    def test_columns_of_numbers(self) -> None:
        answer = self.call("rivers.csv").value
        self.assertEqual(answer["rows"], 4)
        self.assertEqual([column["name"] for column in answer["columns"]], ["length_km", "countries"])
        self.assertEqual(answer["columns"][1]["count"], 3)

    def test_nothing_outside_of_the_workspace(self) -> None:
        for path in ("../README.md", "/etc/passwd", "lakes.csv"):
            self.assertTrue(self.call(path).is_error)


if __name__ == "__main__":
    unittest.main()
