package mcphttp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
)

const (
	// maxMembers bounds the principals that have an MCP server at a time. Each has the definitions of
	// its tools.
	maxMembers = 256
	// maxSessions bounds the sessions of one principal.
	maxSessions = 100
	// memberIdle is how long the server of a principal without sessions stays.
	memberIdle = 10 * time.Minute
	// sweepInterval is how often idle servers are looked for.
	sweepInterval = 30 * time.Second
)

// member is the MCP server of one principal with one scope. A session id of another member is
// unknown to its handler, so no caller can use the session of another one.
type member struct {
	server  *mcpserver.Server
	handler http.Handler
	account *budget.Account // nil: no limit
	stop    context.CancelFunc
	listed  sync.Once // the tools were listed before the first request

	// The mutex of members guards these.
	requests int
	used     time.Time
}

// crowded reports whether a request would begin a session that is too many.
func (m *member) crowded(r *http.Request) bool {
	begins := r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && !mcpserver.Sessionless(r)
	return begins && m.server.Connected() >= maxSessions
}

// members has the members of a front by their identity.
type members struct {
	config Config
	logger *slog.Logger
	tasks  sync.WaitGroup // that watch the tools of members

	mu     sync.Mutex
	closed bool
	all    map[string]*member
}

func newMembers(c Config) *members {
	return &members{config: c, logger: c.Logger, all: map[string]*member{}}
}

// of returns the member for the principal of a request, until leave. It creates one if there is
// none.
func (s *members) of(ctx context.Context) (*member, error) {
	p, ok := identity.FromContext(ctx)
	if !ok {
		return nil, errors.New("the request has no principal")
	}
	key := keyOf(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the server is shutting down")
	}
	m := s.all[key]
	if m == nil {
		if len(s.all) >= maxMembers && !s.evictLocked() {
			return nil, errors.New("too many principals use the server; try again later")
		}
		var err error
		if m, err = s.newMember(ctx, p); err != nil {
			return nil, err
		}
		s.all[key] = m
	}
	m.requests++
	m.used = time.Now()
	return m, nil
}

func (s *members) leave(m *member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.requests--
	m.used = time.Now()
}

// keyOf returns a text that is equal for two principals only if they have the same rights.
func keyOf(p identity.Principal) string {
	groups := slices.Sorted(slices.Values(p.Groups))
	text, err := json.Marshal([]any{p.Key(), groups, p.Scope})
	if err != nil {
		panic(err) // texts can be encoded
	}
	return string(text)
}

func (s *members) newMember(ctx context.Context, p identity.Principal) (*member, error) {
	m := &member{}
	if s.config.Budget != nil {
		var err error
		if m.account, err = s.config.Budget.Open(p.Key()); err != nil {
			return nil, err
		}
	}
	tools := &hostTools{host: s.config.Host, gate: s.config.Gate, principal: p, caller: authz.FromContext(ctx), account: m.account}
	m.server = mcpserver.New(mcpserver.Config{Tools: tools, ListChangedTools: tools.ListChangedTools, Visible: s.config.Visible, Search: s.config.Search, Logger: s.logger})
	m.handler = m.server.Handler(cmp.Or(s.config.Limits.IdleTimeout, memberIdle))
	watching, stop := context.WithCancel(context.Background())
	m.stop = stop
	s.tasks.Go(func() { m.server.Watch(watching) }) // ends with remove
	return m, nil
}

// watch removes members that are idle, until ctx ends.
func (s *members) watch(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.sweep(time.Now().Add(-memberIdle))
		case <-ctx.Done():
			return
		}
	}
}

// sweep removes the members without requests and sessions that nobody has used since a time.
func (s *members) sweep(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, m := range s.all {
		if m.idle() && m.used.Before(since) {
			s.removeLocked(key, m)
		}
	}
}

func (m *member) idle() bool {
	return m.requests == 0 && m.server.Connected() == 0 && m.server.Waiting() == 0
}

// evictLocked removes the idle member that was used least recently. It reports false if none is
// idle.
func (s *members) evictLocked() bool {
	oldest := ""
	for key, m := range s.all {
		if m.idle() && (oldest == "" || m.used.Before(s.all[oldest].used)) {
			oldest = key
		}
	}
	if oldest == "" {
		return false
	}
	s.removeLocked(oldest, s.all[oldest])
	return true
}

func (s *members) removeLocked(key string, m *member) {
	delete(s.all, key)
	m.stop()
	m.account.Close()
}

// close ends all sessions after their calls, and waits for the goroutines.
func (s *members) close() {
	s.mu.Lock()
	s.closed = true
	all := s.all
	s.all = nil
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, m := range all {
		m.stop()
		closing.Go(func() {
			m.server.Close()
			m.account.Close()
		})
	}
	closing.Wait()
	s.tasks.Wait()
}
