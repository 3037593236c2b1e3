package arguments_test

import (
	"os"
	"strings"
	"testing"
)

// docRows returns the rows of the tables of docs/arguments.md with that number of columns, without
// the backquotes of code.
func docRows(t *testing.T, columns int) [][]string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/arguments.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != columns || !strings.HasPrefix(line, "| `{") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(cells[i], "| "), " |"), "`")
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestDocsSayWhatIsRepaired checks that Repair does what the tables of docs/arguments.md say, and
// that the tables have a row for each reason that Repair gives.
func TestDocsSayWhatIsRepaired(t *testing.T) {
	told := map[string]bool{}
	rows := docRows(t, 4)
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		s := compile(t, `{"properties":{"v":`+row[0]+`}}`)
		got, repairs := s.Repair(parsed(t, row[1]))
		if string(got.Canonical()) != row[2] || len(repairs) != 1 || repairs[0].Why != row[3] {
			t.Errorf("%s with %s became %s: %+v", row[0], row[1], got.Canonical(), repairs)
		}
		told[row[3]] = true
	}
	for _, row := range docRows(t, 3) {
		s := compile(t, `{"properties":{"v":`+row[0]+`}}`)
		if got, _ := s.Repair(parsed(t, row[1])); string(got.Canonical()) != string(parsed(t, row[1]).Canonical()) {
			t.Errorf("%s with %s became %s", row[0], row[1], got.Canonical())
		}
	}
	for _, row := range readTable(t) {
		s := compile(t, `{"properties":{"v":`+row[0]+`}}`)
		_, repairs := s.Repair(parsed(t, `{"v":`+row[1]+`}`))
		for _, r := range repairs {
			if !told[r.Why] {
				t.Errorf("the docs do not have the reason %q (%s, %s)", r.Why, row[0], row[1])
			}
		}
	}
}
