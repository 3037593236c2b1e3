package loop

// orderedSet is a set in the order in which it grew. It is sorted out only once somebody asks what is in it: a run that goes on
// after a restart of agentd need not pay for what it may never look up. The zero value is empty.
type orderedSet[K comparable] struct {
	list  []K
	index map[K]struct{} // of the first of list, known many
	known int            // how many of list index has
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
