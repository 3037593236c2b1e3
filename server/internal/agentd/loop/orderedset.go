package loop

// orderedSet is a set in the order of insertion. It builds its index at the first lookup, so that a
// restored run does not pay for sets that it never looks at. The zero value is an empty set.
type orderedSet[K comparable] struct {
	list  []K
	index map[K]struct{} // of the first known elements of list
	known int            // the number of elements in index
}

func (g *orderedSet[K]) add(k K) { g.list = append(g.list, k) }

func (g *orderedSet[K]) has(k K) bool {
	if g.index == nil {
		g.index = make(map[K]struct{}, len(g.list))
	}
	for ; g.known < len(g.list); g.known++ {
		g.index[g.list[g.known]] = struct{}{}
	}
	_, ok := g.index[k]
	return ok
}
