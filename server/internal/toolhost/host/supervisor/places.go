package supervisor

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

// places counts the processes of plugins, and decides which launch gets a process next. It counts
// each process from before its launch until it is gone. All methods are safe for concurrent use.
//
// Three bounds are about processes: the quotas `processes` and `memory` of a tenant, those of a
// principal, and `max_total_instances` of a plugin. The quotas concern one tenant. The last bound
// is shared by tenants, so it is divided. Of the launches that wait, the one of the tenant with the
// fewest processes of the plugin is next, and of these the oldest. An idle process makes room for
// any launch. If none is idle, the tenant with the most processes gives one up to a tenant that has
// at least two less, or that has none. So each tenant with enough calls gets an equal part, and if
// there are more tenants than processes, they take turns. See Group.divide.
type places struct {
	mu         sync.Mutex
	tenants    map[string]int            // processes by tenant
	principals map[string]int            // by the key of the principal whose calls alone they serve
	plugins    map[string]map[string]int // by plugin and tenant
	totals     map[string]int            // by plugin
	waiting    []*place                  // the oldest first
}

// placeTurn is how long a tenant keeps the only process of a plugin that another tenant without a
// process waits for. It is much longer than a launch takes, so that turns do not consist of
// launches.
const placeTurn = time.Second

// place is the right of one instance to have a process, or the wait for that right.
type place struct {
	plugin    string
	tenant    string
	principal string // empty: the instance serves all principals of the tenant
	granted   chan struct{}

	// The mutex of places guards these.
	bounds bounds
	held   bool
}

// bounds are what limits a launch at one moment. The zero value limits nothing.
type bounds struct {
	tenant, principal throttle.Quota
	total             int // of the plugin, for all tenants
	// what the processes of the tenant and of the principal use, if there is a quota of memory
	tenantMemory, principalMemory int64
}

// want is what a launch that gets no place waits for.
type want int

const (
	nothing want = iota
	tenantRoom
	principalRoom
	pluginRoom
)

func newPlaces() *places {
	return &places{tenants: map[string]int{}, principals: map[string]int{}, plugins: map[string]map[string]int{}, totals: map[string]int{}}
}

// take gives a place without regard to bounds. Launches that operators request get one in this way.
func (p *places) take(one *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grantLocked(one)
}

// enter makes a launch wait for a place. The place may be granted before enter returns.
func (p *places) enter(one *place, b bounds) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one.bounds = b
	p.waiting = append(p.waiting, one)
	p.serveLocked()
}

// retry replaces the bounds of a launch that waits.
func (p *places) retry(one *place, b bounds) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one.bounds = b
	p.serveLocked()
}

// leave gives a place back, or ends the wait for it. It may be called more than once.
func (p *places) leave(one *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one.held {
		one.held = false
		p.countLocked(one, -1)
		p.serveLocked()
		return
	}
	p.removeLocked(one)
}

// giveUp ends the wait for a place and returns why there is none. It returns nil if the launch has
// a place.
func (p *places) giveUp(one *place) *tool.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one.held {
		return nil
	}
	p.removeLocked(one)
	_, err := p.fullLocked(one)
	if err == nil {
		p.grantLocked(one)
	}
	return err
}

// wants returns which bound is full for a launch that waits, and how many launches wait for that
// bound, this one included.
func (p *places) wants(one *place) (w want, together int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w, _ = p.fullLocked(one); w == nothing {
		return nothing, 0
	}
	for _, other := range p.waiting {
		if w == tenantRoom && other.tenant == one.tenant || w == principalRoom && other.principal == one.principal || w == pluginRoom && other.plugin == one.plugin {
			together++
		}
	}
	return w, together
}

// holds returns how many processes of a plugin each tenant has.
func (p *places) holds(plugin string) map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.plugins[plugin])
}

// serveLocked grants places to the launches that fit, in the order that the type describes.
func (p *places) serveLocked() {
	for {
		var next *place
		for _, one := range p.waiting {
			if w, _ := p.fullLocked(one); w != nothing {
				continue
			}
			if next == nil || p.plugins[one.plugin][one.tenant] < p.plugins[next.plugin][next.tenant] {
				next = one
			}
		}
		if next == nil {
			return
		}
		p.removeLocked(next)
		p.grantLocked(next)
	}
}

func (p *places) grantLocked(one *place) {
	one.held = true
	p.countLocked(one, 1)
	close(one.granted)
}

func (p *places) removeLocked(one *place) {
	p.waiting = slices.DeleteFunc(p.waiting, func(other *place) bool { return other == one })
}

func (p *places) countLocked(one *place, by int) {
	of := p.plugins[one.plugin]
	if of == nil {
		of = map[string]int{}
		p.plugins[one.plugin] = of
	}
	adjust(of, one.tenant, by)
	adjust(p.totals, one.plugin, by)
	adjust(p.tenants, one.tenant, by)
	if one.principal != "" {
		adjust(p.principals, one.principal, by)
	}
}

// adjust changes a count, and removes it at 0.
func adjust(counts map[string]int, name string, by int) {
	if counts[name] += by; counts[name] == 0 {
		delete(counts, name)
	}
}

// fullLocked returns which bound one more process would exceed, and the error that says so.
func (p *places) fullLocked(one *place) (want, *tool.Error) {
	b := &one.bounds
	if err := full(b.tenant, p.tenants[one.tenant], b.tenantMemory, "the tenant "+one.tenant); err != nil {
		return tenantRoom, err
	}
	if one.principal != "" {
		if err := full(b.principal, p.principals[one.principal], b.principalMemory, "the principal "+one.principal); err != nil {
			return principalRoom, err
		}
	}
	if b.total > 0 && p.totals[one.plugin] >= b.total {
		return pluginRoom, noPlace("the plugin %q has %d processes for all tenants together, which is its max_total_instances", one.plugin, b.total)
	}
	return nothing, nil
}

// full returns an error if one more process would exceed a quota.
func full(q throttle.Quota, processes int, memory int64, who string) *tool.Error {
	switch {
	case q.Processes > 0 && processes >= q.Processes:
		return noPlace("%s has %d processes of plugins, and its quota processes is %d", who, processes, q.Processes)
	case q.MemoryBytes > 0 && memory >= q.MemoryBytes:
		return noPlace("the processes of %s use %d MiB of memory, and its quota memory is %d MiB", who, memory>>20, q.MemoryBytes>>20)
	}
	return nil
}

// placeRetry is when a caller may repeat a call for which there was no place. Another call of the
// tenant may end at any moment.
const placeRetry = time.Second

func noPlace(format string, args ...any) *tool.Error {
	err := tool.Errorf(tool.KindRateLimited, "%s; nothing was executed; try again in %v", fmt.Sprintf(format, args...), placeRetry)
	err.RetryAfter = placeRetry
	return err
}
