package server_test

import (
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// mostMethods is how many methods a type may have, including those of what it embeds. A reader can
// keep so many in mind.
const mostMethods = 35

// manyMethods are the types that may have more, each with the reason.
var manyMethods = map[string]string{
	"client.Client":                                      "it is the public API of toolhost: one method for each RPC",
	"server/internal/toolhost/host.Host":                 "the RPCs of toolhost need them; most are methods of its three parts toolList, offers and operator",
	"server/internal/toolhost/commands/author.shownHost": "it is a host that also shows the calls",
	"server/internal/toolhost/commands/serve.pacedHost":  "it is a host that also notes whose tenants call",
	"server/internal/toolhost/commands/serve.toldHost":   "it is a host that also tells systemd how it is",
}

// TestTypesHaveFewMethods fails if a type has so many methods that it must own several things. Such a
// type has parts with fields of their own that few of its methods use.
func TestTypesHaveFewMethods(t *testing.T) {
	c := newChecker(t)
	excepted := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(compiled)) {
		folder, ours := strings.CutPrefix(path, module+"/")
		if !ours || within("gen", folder) {
			continue
		}
		scope := c.check(folder).Scope()
		for _, name := range scope.Names() {
			object, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || object.IsAlias() || types.IsInterface(object.Type()) {
				continue
			}
			n := types.NewMethodSet(types.NewPointer(object.Type())).Len()
			full := folder + "." + name
			switch _, may := manyMethods[full]; {
			case n <= mostMethods:
			case may:
				excepted[full] = true
			default:
				t.Errorf("%s has %d methods, with those of the types that it embeds; %d are allowed. Make a type of the fields that only some of them use, and hold it as a named field", full, n, mostMethods)
			}
		}
	}
	for name := range manyMethods {
		if !excepted[name] {
			t.Errorf("%s does not need its line in manyMethods: remove it", name)
		}
	}
}
