package server_test

import (
	"maps"
	"path"
	"slices"
	"testing"
)

// The houses are the folders of what one program alone links. The shelf has what the public
// packages import, and is in their module. All else is the garden: what both programs link, and
// tests of the programs.
const (
	agentdHouse   = "server/internal/agentd"
	toolhostHouse = "server/internal/toolhost"
	shelf         = "internal"
	garden        = "server/internal"
)

// houses are the folders that the rule gives another place than the program that links them, each
// with the reason.
var houses = map[string]struct{ house, reason string }{
	"internal/store/pgcluster":      {shelf, "tests of the plugins use it, through postgrestest"},
	"internal/wire/workspaceserver": {shelf, "tests of sdk/workspace use it"},
}

// TestProgramsNameTheirHouses fails for an internal package that stands elsewhere than the programs
// that link it say: what only agentd links is below server/internal/agentd, what only toolhost
// links is below server/internal/toolhost, what a public package imports is below internal, and the
// rest is elsewhere in server/internal.
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
		if !inside(name) {
			continue
		}
		var want string
		switch {
		case public[name]:
			want = shelf
		case agentd[name] && toolhost[name]:
			want = garden
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
		t.Errorf("%s is in %s and belongs in %s: %s", name, house(name), want, linkedBy(agentd[name], toolhost[name], public[name]))
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
			if alone(from) && alone(to) && from != to {
				t.Errorf("%s imports %s", name, imported)
			}
			if inside(name) && !alone(from) && alone(to) {
				t.Errorf("%s, which both programs may link, imports %s", name, imported)
			}
		}
	}
}

// TestFoldersDoNotImportEachOther fails for two folders of internal or server/internal, at any
// depth, of which each has code that imports the other, unless one contains the other. So the tree
// says what is above what.
func TestFoldersDoNotImportEachOther(t *testing.T) {
	type pair struct{ from, to string }
	arrows := map[pair]string{}
	for name, imports := range readPackages(t) {
		for _, imported := range imports {
			for from := name; inside(from); from = path.Dir(from) {
				for to := imported; inside(to); to = path.Dir(to) {
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

// inside reports whether a folder is below internal or server/internal.
func inside(name string) bool {
	return within(shelf, name) && name != shelf || within(garden, name) && name != garden
}

// alone reports whether one program alone links what is in a house.
func alone(house string) bool { return house == agentdHouse || house == toolhostHouse }

// house returns the house that a package is in, or else the garden or the shelf. It is "" for
// packages that are not internal.
func house(name string) string {
	for _, h := range []string{agentdHouse, toolhostHouse, garden, shelf} {
		if within(h, name) {
			return h
		}
	}
	return ""
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

// The modules that a tool's author gets with the SDK are few, and none is of a server.
func TestTheSDKRequiresFewModules(t *testing.T) {
	const most = 30
	if n := len(readModule(t, "go.mod").Require); n > most {
		t.Errorf("go.mod requires %d modules; %d are allowed: what only the programs need belongs into %s/go.mod", n, most, programs)
	}
}
