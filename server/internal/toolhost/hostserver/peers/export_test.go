package peers

// Open returns how many connections there are.
func (p *Peers) Open() int { return p.links.Open() }
