package toolhost_test

import (
	"maps"
	"path"
	"slices"
	"testing"
)

// The houses are the folders of internal/ for what one program alone links. All else in internal/ is
// the garden: what both programs link, what the public packages import, and tests of the programs.
const (
	agentdHouse   = "server/internal/agentd"
	toolhostHouse = "server/internal/toolhost"
)

// houses are the folders that the rule gives another place than the program that links them, each
// with the reason.
var houses = map[string]struct{ house, reason string }{
	"server/internal/store/postgres": {"", "the ledger will be able to use it, too"},
}

// TestProgramsNameTheirHouses fails for a package of internal/ that stands elsewhere than the
// programs that link it say: what only agentd links is below server/internal/agentd, what only toolhost links
// is below server/internal/toolhost, and the rest is in neither.
func TestProgramsNameTheirHouses(t *testing.T) {
	packages := readPackages(t)
	agentd, toolhost := reached(packages, "server/cmd/agentd"), reached(packages, "server/cmd/toolhost")
	public := map[string]bool{}
	for name := range packages {
		if within("sdk", name) || within("client", name) || within("tool", name) {
			maps.Copy(public, reached(packages, name))
		}
	}
	excepted := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !within("internal", name) {
			continue
		}
		var want string
		switch {
		case public[name] || agentd[name] && toolhost[name]:
		case agentd[name]:
			want = agentdHouse
		case toolhost[name]:
			want = toolhostHouse
		default:
			continue // only tests import it
		}
		if house(name) == want {
			continue
		}
		if exception, ok := houses[name]; ok && exception.house == house(name) {
			excepted[name] = true
			continue
		}
		t.Errorf("%s is in %s and belongs in %s: %s", name, title(house(name)), title(want), linkedBy(agentd[name], toolhost[name], public[name]))
	}
	for name := range houses {
		if !excepted[name] {
			t.Errorf("%s does not need its line in houses: remove it", name)
		}
	}
}

// TestHousesDoNotImportEachOther fails if a package of one house imports one of the other. Each
// program reaches the other over gRPC.
func TestHousesDoNotImportEachOther(t *testing.T) {
	for name, imports := range readPackages(t) {
		for _, imported := range imports {
			from, to := house(name), house(imported)
			if _, ok := houses[imported]; from != "" && to != "" && from != to && !ok {
				t.Errorf("%s imports %s", name, imported)
			}
			if from == "" && to != "" && within("internal", name) {
				t.Errorf("%s, which both programs may link, imports %s", name, imported)
			}
		}
	}
}

// TestFoldersDoNotImportEachOther fails for two folders of internal/, at any depth, of which each has
// code that imports the other, unless one contains the other. So the tree says what is above what.
func TestFoldersDoNotImportEachOther(t *testing.T) {
	type pair struct{ from, to string }
	arrows := map[pair]string{}
	for name, imports := range readPackages(t) {
		for _, imported := range imports {
			for from := name; within("internal", from) && from != "internal"; from = path.Dir(from) {
				for to := imported; within("internal", to) && to != "internal"; to = path.Dir(to) {
					if !within(from, to) && !within(to, from) {
						arrows[pair{from, to}] = name + " imports " + imported
					}
				}
			}
		}
	}
	for arrow, example := range arrows {
		back, both := arrows[pair{arrow.to, arrow.from}]
		if both && arrow.from < arrow.to {
			t.Errorf("%s and %s import each other: %s, and %s", arrow.from, arrow.to, example, back)
		}
	}
}

// house returns the house that a package is in, or "" for all that is in neither.
func house(name string) string {
	for _, h := range []string{agentdHouse, toolhostHouse} {
		if within(h, name) {
			return h
		}
	}
	return ""
}

func title(house string) string {
	if house == "" {
		return "the garden"
	}
	return house
}

func linkedBy(agentd, toolhost, public bool) string {
	switch {
	case public:
		return "public packages import it"
	case agentd && toolhost:
		return "both programs link it"
	case agentd:
		return "only agentd links it"
	default:
		return "only toolhost links it"
	}
}

// reached returns all that a package imports, directly or not, with itself.
func reached(packages map[string][]string, root string) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, imported := range packages[name] {
			visit(imported)
		}
	}
	visit(root)
	return seen
}
