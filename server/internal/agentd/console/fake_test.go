package console

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/timestamppb"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/tool"
)

// people identifies users by their numbers, and tokens of an issuer by their text.
type people struct {
	mu      sync.Mutex
	tokens  map[string]authn.Verified
	revoked map[int]bool
	fails   error // not nil: nobody can be identified now
}

func (p *people) Authenticate(_ context.Context, e authn.Evidence) (authn.Verified, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return authn.Verified{}, p.fails
	}
	if e.HasUID && !p.revoked[e.UID] {
		return authn.Verified{Principal: identity.Principal{Tenant: identity.DefaultTenant, Name: authn.UserName(e.UID)}}, nil
	}
	if v, ok := p.tokens[e.Bearer]; ok {
		return v, nil
	}
	return authn.Verified{}, errors.New("nobody")
}

// decisions is a server of decisions, which records the verdicts.
type decisions struct {
	decisionv1.UnimplementedDecisionServiceServer
	sessions *Sessions

	missing []string // what is unavailable

	toolhostv1.UnimplementedApprovalServiceServer
	mine    []*decisionv1.Decision // what the caller has decided
	given   []*toolhostv1.StandingApproval
	revoked []string

	extended []*decisionv1.ExtendDecisionRequest

	mu    sync.Mutex
	waits []*decisionv1.Decision
	made  []*decisionv1.DecideRequest
	by    []string
	from  []string // the positions that watchers had
}

// caller returns the caller of an RPC as the gate of a server finds it.
func (d *decisions) caller(ctx context.Context) (string, error) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(values) != 1 {
		return "", toolpb.StatusError(tool.Errorf(tool.KindDenied, "no credential"))
	}
	v, err := d.sessions.Authenticate(ctx, authn.Evidence{Bearer: strings.TrimPrefix(values[0], "Bearer ")})
	if err != nil {
		return "", toolpb.StatusError(tool.Errorf(tool.KindDenied, "not authenticated"))
	}
	return v.Principal.Key(), nil
}

func (d *decisions) ListDecisions(ctx context.Context, req *decisionv1.ListDecisionsRequest) (*decisionv1.ListDecisionsResponse, error) {
	if _, err := d.caller(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	resp := &decisionv1.ListDecisionsResponse{Decisions: d.waits, Unavailable: d.missing}
	if req.GetPageToken() == "" {
		resp.Position = "p0"
	}
	if at := len(req.GetPageToken()); at+int(req.GetPageSize()) < len(d.waits) { // a token has one byte for each decision before its page
		resp.Decisions, resp.NextPageToken = d.waits[at:at+int(req.GetPageSize())], strings.Repeat("&", at+int(req.GetPageSize()))
	} else {
		resp.Decisions = d.waits[at:]
	}
	return resp, nil
}

func (d *decisions) ListMadeDecisions(ctx context.Context, req *decisionv1.ListMadeDecisionsRequest) (*decisionv1.ListMadeDecisionsResponse, error) {
	if _, err := d.caller(ctx); err != nil {
		return nil, err
	}
	if req.GetPageToken() == "" && len(d.mine) > 1 {
		return &decisionv1.ListMadeDecisionsResponse{Decisions: d.mine[:1], NextPageToken: "2&<"}, nil
	}
	return &decisionv1.ListMadeDecisionsResponse{Decisions: d.mine[min(1, max(0, len(d.mine)-1)):]}, nil
}

func (d *decisions) ListApprovals(ctx context.Context, req *toolhostv1.ListApprovalsRequest) (*toolhostv1.ListApprovalsResponse, error) {
	if _, err := d.caller(ctx); err != nil {
		return nil, err
	}
	if d.given == nil || !req.GetApproved() {
		return nil, toolpb.StatusError(tool.Errorf(tool.KindUnavailable, "toolhost <b>is</b>\u202e gone"))
	}
	return &toolhostv1.ListApprovalsResponse{Approvals: d.given}, nil
}

func (d *decisions) RevokeApproval(ctx context.Context, req *toolhostv1.RevokeApprovalRequest) (*toolhostv1.RevokeApprovalResponse, error) {
	by, err := d.caller(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.revoked = append(d.revoked, by+" "+req.GetId())
	return &toolhostv1.RevokeApprovalResponse{}, nil
}

func (d *decisions) ExtendDecision(ctx context.Context, req *decisionv1.ExtendDecisionRequest) (*decisionv1.ExtendDecisionResponse, error) {
	if _, err := d.caller(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	one, err := d.find(req.GetName())
	if err != nil {
		return nil, err
	}
	d.extended = append(d.extended, req)
	one.ExpireTime = req.GetExpireTime()
	return &decisionv1.ExtendDecisionResponse{Decision: one}, nil
}

// acts returns how often something was decided, extended or revoked.
func (d *decisions) acts() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.made) + len(d.revoked) + len(d.extended)
}

func (d *decisions) find(name string) (*decisionv1.Decision, error) {
	for _, one := range d.waits {
		if one.GetName() == name {
			return one, nil
		}
	}
	return nil, toolpb.StatusError(tool.Errorf(tool.KindNotFound, "there is no decision %q", name))
}

func (d *decisions) GetDecision(ctx context.Context, req *decisionv1.GetDecisionRequest) (*decisionv1.GetDecisionResponse, error) {
	if _, err := d.caller(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	one, err := d.find(req.GetName())
	return &decisionv1.GetDecisionResponse{Decision: one}, err
}

func (d *decisions) Decide(ctx context.Context, req *decisionv1.DecideRequest) (*decisionv1.DecideResponse, error) {
	by, err := d.caller(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	one, err := d.find(req.GetName())
	if err != nil {
		return nil, err
	}
	if req.GetEtag() != one.GetEtag() || one.GetState() != decisionv1.DecisionState_DECISION_STATE_WAITING {
		return nil, toolpb.StatusError(tool.Errorf(tool.KindConflict, "something else is asked by now; nothing was decided"))
	}
	d.made, d.by = append(d.made, req), append(d.by, by)
	one.State, one.Verdict, one.DecidedBy, one.DecideTime, one.Text, one.Etag = decisionv1.DecisionState_DECISION_STATE_MADE, req.GetVerdict(), by, timestamppb.Now(), req.GetText(), ""
	return &decisionv1.DecideResponse{Decision: one}, nil
}

// WatchDecisions sends what waits, one change, and no more.
func (d *decisions) WatchDecisions(req *decisionv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]) error {
	if _, err := d.caller(stream.Context()); err != nil {
		return err
	}
	d.mu.Lock()
	d.from = append(d.from, req.GetPosition())
	waits := d.waits
	d.mu.Unlock()
	if req.GetPosition() == "of another" {
		return toolpb.StatusError(tool.Errorf(tool.KindInvalidArgument, "the position is of another watch"))
	}
	for i, m := range []*decisionv1.WatchDecisionsResponse{{Restart: true, Source: "run-1", Decisions: waits}, {Complete: true, Position: "p1"}, {Source: "run-1\n<b>", Position: "p2"}} {
		if i == 0 && req.GetPosition() == "p0" { // it knows
			continue
		}
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}

// verdicts returns what was decided.
func (d *decisions) verdicts() []*decisionv1.DecideRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.made
}

// approval is a call that waits.
func approval() *decisionv1.Decision {
	return &decisionv1.Decision{
		Name: "run-1/d1", Kind: decisionv1.DecisionKind_DECISION_KIND_APPROVAL, State: decisionv1.DecisionState_DECISION_STATE_WAITING, RunId: "run-1", DecisionId: "d1",
		Tenant: "default", Principal: "uid:7", CallId: "c1", Tool: "pay", Arguments: `{"note":"x","amount":100,"to":"mallory"}`, Reason: "rule money wants it", Rule: "money", Etag: "e1",
		RequestTime: timestamppb.Now(), ExpireTime: timestamppb.New(time.Now().Add(time.Hour)),
	}
}

const origin = "http://agentd-test.localhost:8600"

// site is the pages of a server of decisions, and one browser.
type site struct {
	t        *testing.T
	people   *people
	sessions *Sessions
	server   *decisions
	pages    *Server
	cookies  map[string]string
}

func newSite(t *testing.T, waits ...*decisionv1.Decision) *site {
	t.Helper()
	known := &people{tokens: map[string]authn.Verified{}, revoked: map[int]bool{}}
	s := &site{t: t, people: known, sessions: NewSessions(known), cookies: map[string]string{}}
	s.server = &decisions{sessions: s.sessions, waits: waits}
	memory := bufconn.Listen(1 << 20)
	served := grpc.NewServer()
	decisionv1.RegisterDecisionServiceServer(served, s.server)
	toolhostv1.RegisterApprovalServiceServer(served, s.server)
	ended := make(chan error, 1)
	go func() { ended <- served.Serve(memory) }() // ends with Stop
	a, err := client.DialAgent("unix:///this", client.WithDialer(func(ctx context.Context) (net.Conn, error) { return memory.DialContext(ctx) }), client.IgnoreEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), func() error { served.Stop(); return <-ended }()); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	at, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	s.pages = New(Config{
		Agent: a, Sessions: s.sessions, URL: at,
		As: func(ctx context.Context, bearer string) context.Context {
			return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+bearer)
		},
		Story: func(_ context.Context, runID string, to *strings.Builder) error {
			to.WriteString("the story of " + runID)
			return nil
		},
	})
	return s
}

// change changes a request before it is sent.
type change func(r *http.Request)

func without(header string) change { return func(r *http.Request) { r.Header.Del(header) } }
func with(header, value string) change {
	return func(r *http.Request) { r.Header.Set(header, value) }
}

// send sends a request as a browser of the pages does, and returns the answer.
func (s *site) send(method, path string, sent url.Values, changes ...change) *http.Response {
	s.t.Helper()
	r := httptest.NewRequest(method, origin+path, strings.NewReader(sent.Encode()))
	r.RemoteAddr = "192.0.2.7:4711"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
	}
	for name, value := range s.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, c := range changes {
		c(r)
	}
	w := httptest.NewRecorder()
	s.pages.server.Handler.ServeHTTP(w, r)
	resp := w.Result()
	for _, c := range resp.Cookies() {
		s.cookies[c.Name] = c.Value
	}
	return resp
}

// logIn begins a session of a user.
func (s *site) logIn(uid int) {
	s.t.Helper()
	code, _, err := s.sessions.NewCode(authn.Evidence{UID: uid, HasUID: true})
	if err != nil {
		s.t.Fatal(err)
	}
	if resp := s.send(http.MethodPost, "/login", url.Values{"code": {code}, "to": {"/"}}); resp.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("the login answers %s: %s", resp.Status, body(s.t, resp))
	}
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// verdict is the form of a decision.
func verdict(word string) url.Values {
	return url.Values{"etag": {"e1"}, "request_id": {"console-1"}, "verdict": {word}, "text": {"because\r\nI say so"}, "until": {"2100-01-01T00:00:00Z"}}
}
