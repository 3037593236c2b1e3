package peers

// Open returns how many connections there are.
func (p *Peers) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}
