package standing

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

const (
	// keepEnded is how long approvals are kept after their end: for people, and so that a repeated
	// request does not create an approval again that was revoked.
	keepEnded = 30 * 24 * time.Hour
	// maxEnded bounds the ended approvals in memory and in the file.
	maxEnded = 10_000
	// expirySlack is how much later than permitted an approval may expire: a caller's clock may be
	// wrong when it computes the latest expiry.
	expirySlack = time.Minute
)

// Config says where the approvals are. Shared, or Path and Ledger, are required.
type Config struct {
	// Shared keeps the approvals instead of a file. nil: the file does.
	Shared Shared
	Path   string // of the file; the file and its folder need not exist
	// Ledger is the id of the ledger of calls. If the file belongs to another one, all approvals end:
	// the state was restored from a backup, which may not know that an approval was revoked later.
	Ledger string
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // nil: time.Now
	// MaxEnded bounds the approvals that are remembered after their end; 0: 10,000.
	MaxEnded int
}

// Limits bound the approvals in force.
type Limits struct {
	PerPrincipal, PerTenant int
}

// Store keeps standing approvals in a file or in a database, and those that it knows in memory. Use
// Open to create one. All methods are safe for concurrent use.
//
// An approval that Create returned survives kill -9 and, as far as the disk keeps its promises, a
// power failure; so does the end of one. Match does not wait for the disk, and an end takes effect
// without waiting for it: writes have their own lock, and change the memory after the file has the
// approval, and before it has its end.
type Store struct {
	cfg  Config
	rows Rows

	writing sync.Mutex // held by the methods that write rows; an end does not wait for it

	mu        sync.RWMutex
	byID      map[string]*entry
	inForce   map[string][]*entry // by principal; only approvals in force
	inTenant  map[string]int      // how many are in force
	soonest   time.Time           // when the first of those in force expires; zero: there is none
	ended     map[string][]*entry // by tenant; those that have ended, the earliest end first
	requests  map[[2]string]*entry
	unwritten []*entry      // that have changed in memory, and not yet in the rows
	longest   time.Duration // from the creation of an approval to its expiry; 0: not bounded
	changed   chan struct{} // closed when approvals were added, were shortened or have ended
	// unreadable has the rows of the database that cannot be read, by id, with their principals and
	// requests. Each was logged.
	unreadable map[string][2]string
}

// entry is one approval. mu of the store guards approval.Expires, Ended, End and RevokedBy, and
// reported; the rest does not change.
type entry struct {
	number          int64
	approval        tool.StandingApproval
	template        *template
	rule            string // the digest of the rule of the policy; empty: no rule decided
	request, digest string
	reported        bool // the audit log has the end
}

func (e *entry) encode() ([]byte, error) {
	r := record{StandingApproval: e.approval, RuleSHA256: e.rule, Unreported: !e.approval.Ended.IsZero() && !e.reported}
	for _, name := range slices.Sorted(maps.Keys(e.template.declared)) {
		if e.template.declared[name] {
			r.Declared = append(r.Declared, name)
		}
	}
	return json.Marshal(r)
}

// Open opens the file and reads all approvals. It sets a damaged file aside under a name with the
// suffix ".damaged" and begins a new one: without approvals, toolhost asks persons again. It
// refuses the file of another program or of a newer toolhost. If the file belongs to another
// ledger, all approvals have ended; Unreported has them. The caller must call Close.
//
// With cfg.Shared, it reads all approvals of the database, and fails if it cannot.
func Open(ctx context.Context, cfg Config) (s *Store, err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.MaxEnded = cmp.Or(cfg.MaxEnded, maxEnded)
	if cfg.Shared != nil {
		return openShared(ctx, cfg)
	}
	if err := os.MkdirAll(filepath.Dir(cfg.Path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the standing approvals: %w", err)
	}
	s, err = open(ctx, cfg)
	if damaged(err) {
		aside := cfg.Path + ".damaged"
		cfg.Logger.Warn("the file of the standing approvals cannot be used; a new one begins, and persons are asked again", "file", cfg.Path, "kept_as", aside, "error", err)
		if err := setAside(cfg.Path, aside); err != nil {
			return nil, fmt.Errorf("setting the damaged standing approvals aside: %w", err)
		}
		s, err = open(ctx, cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the standing approvals %s: %w", cfg.Path, err)
	}
	return s, nil
}

func newStore(cfg Config, rows Rows) *Store {
	return &Store{
		cfg: cfg, rows: rows, byID: map[string]*entry{}, inForce: map[string][]*entry{}, inTenant: map[string]int{}, ended: map[string][]*entry{},
		requests: map[[2]string]*entry{}, changed: make(chan struct{}),
	}
}

func open(ctx context.Context, cfg Config) (_ *Store, err error) {
	file, err := connect(ctx, cfg.Path)
	if err != nil {
		return nil, err
	}
	s := newStore(cfg, file)
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	all, err := file.load(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		s.addLocked(e)
	}
	if err := s.forget(ctx); err != nil {
		return nil, err
	}
	belongs, err := file.ofLedger(ctx)
	if err != nil || belongs == cfg.Ledger {
		return s, err
	}
	// The approvals end before the file belongs to the new ledger: if the process is killed between
	// the two, the next one ends them again.
	if _, err := s.End(ctx, tool.ApprovalRestored, func(*tool.StandingApproval) bool { return true }); err != nil {
		return nil, err
	}
	return s, file.setLedger(ctx, cfg.Ledger)
}

// Close closes the file, and no database. No other method may be called afterwards.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.rows.Close()
}

func (s *Store) addLocked(e *entry) {
	s.byID[e.approval.ID] = e
	if e.request != "" {
		s.requests[[2]string{e.approval.Principal, e.request}] = e
	}
	if !e.approval.Ended.IsZero() {
		s.addEndedLocked(e)
		return
	}
	s.inForce[e.approval.Principal] = append(s.inForce[e.approval.Principal], e)
	s.inTenant[identity.TenantOf(e.approval.Principal)]++
	if s.soonest.IsZero() || e.approval.Expires.Before(s.soonest) {
		s.soonest = e.approval.Expires
	}
}

func (s *Store) addEndedLocked(e *entry) {
	tenant := identity.TenantOf(e.approval.Principal)
	of := s.ended[tenant]
	at, _ := slices.BinarySearchFunc(of, e, func(a, b *entry) int {
		return cmp.Or(a.approval.Ended.Compare(b.approval.Ended), -1) // behind those with the same time
	})
	s.ended[tenant] = slices.Insert(of, at, e)
}

// findSoonestLocked sets soonest after an end or another expiry.
func (s *Store) findSoonestLocked() {
	s.soonest = time.Time{}
	for _, held := range s.inForce {
		for _, e := range held {
			if s.soonest.IsZero() || e.approval.Expires.Before(s.soonest) {
				s.soonest = e.approval.Expires
			}
		}
	}
}

func (s *Store) signalLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Proposal is an approval to create. Approval has no id, time of creation and arguments yet.
type Proposal struct {
	Request  *tool.ApprovalRequest
	Approval tool.StandingApproval
	Spec     *tool.Spec // of the tool, as it is in force
	// RuleSHA256 is the digest of the rule of the policy that required the approval; empty: none did.
	RuleSHA256 string
	Limits     Limits
	// Permit is called once the approval can be created, and before it is. An error keeps it from
	// being created.
	Permit func(tool.StandingApproval) error
}

// Create creates an approval, or returns the one that the same request has created before, which
// may have ended. created reports which. Errors are *tool.Error: invalid_argument, conflict,
// rate_limited; unavailable if the approval cannot be written.
func (s *Store) Create(ctx context.Context, p Proposal) (_ tool.StandingApproval, created bool, err error) {
	e, err := s.prepare(p)
	if err != nil {
		return tool.StandingApproval{}, false, tool.Errorf(tool.KindInvalidArgument, "the standing approval cannot be created: %w", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.refresh(ctx); err != nil {
		return tool.StandingApproval{}, false, err
	}
	if had, ok, err := s.earlier(e.approval.Principal, e.request, e.digest); ok || err != nil {
		return had, false, err
	}
	if err := s.checkRoom(e.approval.Principal, p.Limits); err != nil {
		return tool.StandingApproval{}, false, err
	}
	if err := s.forget(ctx); err != nil {
		return tool.StandingApproval{}, false, notWritten(err)
	}
	s.mu.RLock()
	boundLocked(e, s.longest) // it may have been lowered since the request was judged
	s.mu.RUnlock()
	if p.Permit != nil {
		if err := p.Permit(e.approval); err != nil {
			return tool.StandingApproval{}, false, err
		}
	}
	if ctx.Err() != nil {
		return tool.StandingApproval{}, false, notWritten(context.Cause(ctx))
	}
	// A caller that leaves meanwhile does not stop the write: it could end in the file and not in
	// memory, and the repeated request would then fail for ever.
	ctx = context.WithoutCancel(ctx)
	row, err := e.row()
	if err == nil {
		e.number, err = s.rows.Insert(ctx, row)
	}
	if err != nil {
		return tool.StandingApproval{}, false, notWritten(err)
	}
	if s.cfg.Shared != nil { // what is read from the database adds it, so that an older reading does not remove it
		return e.approval, true, s.refresh(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(e)
	s.signalLocked()
	return e.approval, true, nil
}

func notWritten(err error) error {
	return tool.Errorf(tool.KindUnavailable, "the standing approvals cannot be written: %w", err)
}

// prepare returns the entry of a proposal, or why there cannot be one.
func (s *Store) prepare(p Proposal) (*entry, error) {
	given, err := arguments.Parse(p.Request.Arguments)
	if err != nil {
		return nil, err
	}
	e := &entry{approval: p.Approval, rule: p.RuleSHA256, request: p.Request.RequestID}
	a := &e.approval
	if e.template, a.Patterns, err = newTemplate(p.Request, given.Object(), p.Spec); err != nil {
		return nil, err
	}
	a.Arguments = nil
	if !e.template.any {
		text, err := json.Marshal(e.template.equal)
		if err != nil {
			return nil, err
		}
		equal, err := arguments.Parse(text)
		if err != nil {
			return nil, err
		}
		if a.Arguments = equal.Canonical(); len(a.Arguments) > maxArguments {
			return nil, fmt.Errorf("the arguments that have to be equal have %d bytes; they may have %d", len(a.Arguments), maxArguments)
		}
	}
	a.ID, a.Created = "approval-"+rand.Text(), s.cfg.Now().UTC()
	a.Expires = a.Expires.UTC().Round(0)
	e.digest, err = digestOf(p.Request, given)
	return e, err
}

// digestOf returns the digest of what a caller requests. What toolhost adds at the time of the
// request is not part of it, such as the definition and the rule, so that a request can be repeated
// later.
func digestOf(r *tool.ApprovalRequest, given arguments.Parsed) (string, error) {
	requested := *r
	requested.Arguments, requested.Expires = given.Canonical(), r.Expires.UTC().Round(0)
	requested.DefinitionSHA256, requested.Groups, requested.From, requested.Context = "", nil, "", nil
	text, err := json.Marshal(requested)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// Earlier returns the approval that the same request has created before, which may have ended.
// given is the arguments of the request. ok is false if there is none. Errors: conflict if another
// request had the id.
func (s *Store) Earlier(r *tool.ApprovalRequest, given arguments.Parsed) (_ tool.StandingApproval, ok bool, err error) {
	digest, err := digestOf(r, given)
	if err != nil {
		return tool.StandingApproval{}, false, err
	}
	return s.earlier(r.Principal, r.RequestID, digest)
}

func (s *Store) earlier(principal, request, digest string) (_ tool.StandingApproval, ok bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if request == "" {
		return tool.StandingApproval{}, false, nil
	}
	had := s.requests[[2]string{principal, request}]
	if had == nil {
		return tool.StandingApproval{}, false, s.checkReadableLocked(principal, request)
	}
	if had.digest != digest {
		return tool.StandingApproval{}, false, tool.Errorf(tool.KindConflict, "the request_id %q has created another standing approval, %s; choose another id", request, had.approval.ID)
	}
	return had.approval, true, nil
}

// checkReadableLocked returns an error if a request has created an approval that cannot be read,
// and so cannot be compared with the request.
func (s *Store) checkReadableLocked(principal, request string) error {
	for id, of := range s.unreadable {
		if of == [2]string{principal, request} {
			return tool.Errorf(tool.KindConflict, "the request_id %q has created the standing approval %s, which this toolhost cannot read, such as one of a newer toolhost; "+
				"choose another id, or repeat the request at a toolhost that can read it", request, id)
		}
	}
	return nil
}

// checkRoom returns an error if a principal or its tenant has too many approvals in force.
func (s *Store) checkRoom(principal string, limits Limits) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	tenant := identity.TenantOf(principal)
	if own := len(s.inForce[principal]); own >= limits.PerPrincipal {
		return tool.Errorf(tool.KindRateLimited, "%s has %d standing approvals, which is the limit approvals.per_principal; revoke some with `toolhost approvals revoke`", principal, own)
	}
	if ofTenant := s.inTenant[tenant]; ofTenant >= limits.PerTenant {
		return tool.Errorf(tool.KindRateLimited, "the tenant %s has %d standing approvals, which is the limit approvals.per_tenant; revoke some with `toolhost approvals revoke`", tenant, ofTenant)
	}
	return nil
}
