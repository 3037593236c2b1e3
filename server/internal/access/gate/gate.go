// Package gate decides for the gRPC servers of toolhost and agentd whether a caller may use an RPC.
// It authenticates the caller, compares its roles with the right of the RPC, and puts the principal
// into the context of the RPC.
//
// It does not decide what a caller may see or which tool it may call: the services do.
package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/tool"
)

// Config configures a gate. Rights is required.
type Config struct {
	// Rights are the rights of the RPCs. An RPC that is not in it is refused, except for health
	// checking, which needs none, and reflection, which needs authz.ReflectionRead.
	Rights rpcright.Table
	// Authenticator identifies callers. nil: the zero authn.Authenticator.
	Authenticator Authenticator
	// Policy returns the policy in force. nil: that of LocalPolicy.
	Policy func() *authz.Policy
	// Audit gets each refusal before the caller does, and each administrative RPC before the server
	// carries it out. If a permission cannot be written, the RPC is refused. nil: nothing is written.
	Audit Auditor
	// Refused is called for each refusal, before the caller gets it. nil: nothing is called.
	Refused func(ctx context.Context, r Refusal)
	// Logger gets a record for each refusal. nil: no log.
	Logger *slog.Logger
}

// Authenticator identifies callers, as *authn.Authenticator does.
type Authenticator interface {
	// Authenticate returns the caller. It may set Principal.From, which otherwise is the address of
	// the peer.
	Authenticate(ctx context.Context, e authn.Evidence) (authn.Verified, error)
}

// Auditor writes events to the audit log, as *audit.Log does.
type Auditor interface {
	Note(ctx context.Context, e audit.Event) error
}

// LimitError is the error of an Authenticator that refuses a caller because of a limit, such as one
// for failed attempts. The caller gets it. The gate does not report it, so that a client cannot
// fill the log after it has reached a limit.
type LimitError struct{ Err *tool.Error }

// Error implements error.
func (e *LimitError) Error() string { return e.Err.Error() }

// Unchecked returns what a caller gets whose credential could not be checked.
func Unchecked(e *authn.UncheckedError) *tool.Error {
	return tool.Errorf(tool.KindUnavailable, "the credential cannot be checked now, because %s; try again later", e.Missing)
}

// Refusal is an RPC that was refused.
type Refusal struct {
	Method    string
	Principal identity.Principal // without a name: authentication failed
	Address   string             // of the peer; empty: a unix socket
	Rights    []authz.Right      // the rights of which the RPC needs one; empty: authentication failed
	// Target is what the caller wanted to reach: the principal for which it wanted to act, or the id
	// of a call, artifact, run or decision. Empty: nothing in particular.
	Target string
	Via    string // the key of the delegate that made the request for Principal; empty: none
	Reason string // for operators
}

// Gate admits RPCs. All methods are safe for concurrent use.
type Gate struct{ config Config }

// New returns a gate.
func New(c Config) *Gate {
	if c.Authenticator == nil {
		c.Authenticator = &authn.Authenticator{}
	}
	if c.Policy == nil {
		c.Policy = Always(LocalPolicy())
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Gate{c}
}

// LocalPolicy returns the policy of a server without a section auth: the server's own user and root
// have all rights, and further bindings apply.
func LocalPolicy(further ...authz.Binding) *authz.Policy {
	users := []string{"name:" + authn.UserName(os.Getuid()), "name:" + authn.UserName(0)}
	return authz.New(append([]authz.Binding{
		{Role: "admin", To: users, Tenants: []string{authz.AllTenants}},
		{Role: "delegate", To: users, Tenants: []string{authz.AllTenants}}, // agentd of the same user
	}, further...))
}

// Access is a policy that a reload replaces. The zero value permits nothing. All methods are safe
// for concurrent use.
type Access struct{ policy atomic.Pointer[authz.Policy] }

// Policy returns the policy in force, for Config.Policy.
func (a *Access) Policy() *authz.Policy { return a.policy.Load() }

// Set puts a policy in force. Streams that are open keep the policy that admitted them.
func (a *Access) Set(p *authz.Policy) { a.policy.Store(p) }

// Always returns a function for Config.Policy that returns one policy.
func Always(p *authz.Policy) func() *authz.Policy { return func() *authz.Policy { return p } }

// PolicyFor returns the policy of a server: the bindings of its configuration, or the default if it
// has none: this user and root may do everything on a unix socket. admits is the role of the
// anonymous callers of plain TCP ports; empty: they have none.
func PolicyFor(configured []authz.Binding, admits string) *authz.Policy {
	if admits != "" {
		configured = append(slices.Clip(configured), Anonymous(admits))
		if len(configured) == 1 {
			return LocalPolicy(configured...)
		}
	}
	if len(configured) == 0 {
		return LocalPolicy()
	}
	return authz.New(configured)
}

// Anonymous is the binding of a plain TCP port that admits its callers with a role.
func Anonymous(role string) authz.Binding {
	return authz.Binding{Role: role, To: []string{"name:" + authn.Anonymous}}
}

// Evident is the interface of the AuthInfo of a connection that has evidence about the caller.
type Evident interface {
	Evidence() authn.Evidence
}

// Unknown is the handler for RPCs that no service has, for grpc.UnknownServiceHandler. A server
// without it answers such an RPC before its interceptors run. A stranger could then find out which
// RPCs exist, as often as it likes.
func Unknown(any, grpc.ServerStream) error {
	return status.Error(codes.Unimplemented, unknownRPC)
}

const unknownRPC = "the server has no such RPC"

// Admit returns the context of an RPC with its principal and its authz.Caller, or a status error if
// the caller may not use the RPC. A caller that is not identified learns nothing from the error but
// whether its credential could be checked, and whether it is at the wrong server. Another one
// learns its key and which right it needs. request is the request of a unary RPC, for the audit
// log; nil: a stream. A context of AdmitUnread is admitted already.
func (g *Gate) Admit(ctx context.Context, method string, request any) (context.Context, error) {
	p, _ := ctx.Value(permissionKey{}).(*permission)
	if p == nil || p.gate != g || p.method != method {
		var err error
		if ctx, err = g.AdmitUnread(ctx, method); err != nil {
			return nil, err
		}
		p, _ = ctx.Value(permissionKey{}).(*permission)
	}
	if p == nil || !p.audited {
		return ctx, nil
	}
	if err := g.config.Audit.Note(ctx, eventOf(p.principal, method, request, p.decision)); err != nil {
		g.config.Logger.ErrorContext(ctx, "an RPC was refused, because the audit log cannot be written", "method", method, "error", err)
		return nil, toolpb.StatusError(tool.Errorf(tool.KindUnavailable, "the audit log cannot be written, so nothing was changed"))
	}
	return ctx, nil
}

// permission is what AdmitUnread leaves to Admit.
type permission struct {
	gate      *Gate
	method    string
	principal identity.Principal
	decision  authz.Decision
	audited   bool // Admit has to write it to the audit log
}

type permissionKey struct{}

// AdmitUnread is Admit for an RPC whose request the server has not read yet, so that a caller that
// may not use the RPC cannot make it decode one. Admit has to follow, with the context that
// AdmitUnread returns: it writes the audit log.
func (g *Gate) AdmitUnread(ctx context.Context, method string) (context.Context, error) {
	if strings.HasPrefix(method, "/grpc.health.v1.Health/") {
		return ctx, nil
	}
	evidence, problem := evidenceOf(ctx)
	refused := status.Error(codes.Unauthenticated, "the caller is not authenticated")
	var caller authn.Verified
	if problem == "" {
		var err error
		if caller, err = g.config.Authenticator.Authenticate(ctx, evidence); err != nil {
			if limit, ok := errors.AsType[*LimitError](err); ok {
				return nil, toolpb.StatusError(limit.Err)
			}
			if unchecked, ok := errors.AsType[*authn.UncheckedError](err); ok {
				refused = toolpb.StatusError(Unchecked(unchecked))
			}
			if errors.Is(err, authn.ErrMisdirected) {
				// Without a detail: the server that the caller wants has not answered.
				refused = status.Error(codes.FailedPrecondition, authn.ErrMisdirected.Error())
			}
			problem = err.Error()
		}
	}
	if problem != "" {
		g.Report(ctx, Refusal{Method: method, Address: evidence.Address, Reason: problem})
		return nil, refused
	}
	policy := g.config.Policy()
	rights := g.config.Rights[method]
	if strings.HasPrefix(method, "/grpc.reflection.") {
		rights = []authz.Right{authz.ReflectionRead}
	}
	var decision authz.Decision
	for _, right := range rights {
		if decision = policy.Decide(caller.Principal, authz.Request{Right: right}); decision.Allowed {
			break
		}
		if tenants, all := policy.Tenants(caller.Principal, right); right.Distributed() && (all || len(tenants) > 0) {
			decision = authz.Decision{Allowed: true}
			break
		}
	}
	if len(rights) == 0 {
		g.Report(ctx, Refusal{Method: method, Principal: caller.Principal, Address: evidence.Address, Reason: unknownRPC})
		return nil, status.Error(codes.Unimplemented, unknownRPC) // a newer client may ask for it
	}
	if !decision.Allowed {
		g.Report(ctx, Refusal{Method: method, Principal: caller.Principal, Address: evidence.Address, Rights: rights, Reason: decision.Reason})
		return nil, toolpb.StatusError(tool.Errorf(tool.KindDenied, "%s", without(caller.Principal, rights)))
	}
	caller.Principal.From = cmp.Or(caller.Principal.From, evidence.Address, unixSocket)
	ctx = context.WithValue(ctx, permissionKey{}, &permission{g, method, caller.Principal, decision, administrative(rights) && g.config.Audit != nil})
	if !caller.Lasting() {
		ctx = context.WithValue(ctx, admissionKey{}, &admission{g, caller, method, evidence.Address})
	}
	return authz.NewContext(identity.NewContext(ctx, caller.Principal), authz.NewCaller(caller.Principal, g.config.Policy)), nil
}

// Decide decides a request of the principal of an RPC that was admitted, by the policy in force.
// Outside of such an RPC, it permits nothing.
func Decide(ctx context.Context, r authz.Request) authz.Decision {
	p, _ := identity.FromContext(ctx)
	return PolicyOf(ctx).Decide(p, r)
}

// PolicyOf returns the policy in force for an RPC that was admitted. A stream may live longer than
// the policy that admitted it. nil, which permits nothing: ctx is not that of an RPC that was
// admitted.
func PolicyOf(ctx context.Context) *authz.Policy { return authz.FromContext(ctx).Policy() }

// without returns the message for a caller that has none of some rights. It names the principal,
// because the caller may not know which one its credential stands for, and a binding needs its key.
func without(p identity.Principal, rights []authz.Right) string {
	names := make([]string, len(rights))
	tenants := ""
	for i, right := range rights {
		if names[i] = string(right); right.Global() {
			tenants = " with tenants: [all]"
		}
	}
	return fmt.Sprintf("%s does not have the right %s; the operator gives it under auth.bindings%s", p.Key(), strings.Join(names, " or "), tenants)
}

// Policy returns the policy in force. It may be newer than PolicyOf of an RPC that runs for long.
func (g *Gate) Policy() *authz.Policy { return g.config.Policy() }

// Report logs a refusal and writes it to the audit log. A service that refuses a request by itself
// calls it before it answers.
func (g *Gate) Report(ctx context.Context, r Refusal) {
	g.config.Logger.WarnContext(ctx, "an RPC was refused", "method", r.Method, "principal", r.Principal.Key(), "peer", r.Address, "rights", r.Rights, "reason", r.Reason)
	if g.config.Refused != nil {
		g.config.Refused(ctx, r)
	}
	if g.config.Audit == nil {
		return
	}
	e := audit.Event{
		Kind: audit.OfAuthorization, Principal: r.Principal.Key(), Via: r.Via, Credential: r.Principal.Credential, From: cmp.Or(r.Address, unixSocket), Act: r.Method,
		Target: r.Target, Outcome: audit.Denied, Reason: r.Reason,
	}
	if r.Principal.Name == "" {
		e.Kind = audit.OfAuthentication
	}
	// A caller that gives up at once must not keep its attempt out of a busy log.
	if err := g.config.Audit.Note(context.WithoutCancel(ctx), e); err != nil { // the RPC is refused anyway
		g.config.Logger.ErrorContext(ctx, "a refusal cannot be written to the audit log", "method", r.Method, "error", err)
	}
}

// Attempt reports that a service refuses what an RPC that was admitted wants to reach, such as a
// run of others. It sets the method and the address of the refusal, and its principal to the caller
// if it has none.
func (g *Gate) Attempt(ctx context.Context, r Refusal) {
	caller, _ := identity.FromContext(ctx)
	if r.Principal.Name == "" {
		r.Principal = caller
	}
	r.Method, _ = grpc.Method(ctx)
	if caller.From != unixSocket {
		r.Address = caller.From
	}
	g.Report(ctx, r)
}

// HandshakeFailed writes to the audit log that a client could not connect, because one of the two
// certificates was refused or the client does not speak TLS as the server demands.
func (g *Gate) HandshakeFailed(address, reason string) {
	if g.config.Audit == nil {
		return
	}
	e := audit.Event{Kind: audit.OfAuthentication, From: address, Act: "TLS handshake", Outcome: audit.Denied, Reason: reason}
	if err := g.config.Audit.Note(context.Background(), e); err != nil { // there is no connection anyway
		g.config.Logger.Error("a refusal cannot be written to the audit log", "peer", address, "error", err)
	}
}

// unixSocket is where a caller without an address is.
const unixSocket = "unix"

// EvidenceOf returns what is known about the caller of an RPC that was admitted.
func EvidenceOf(ctx context.Context) authn.Evidence {
	e, _ := evidenceOf(ctx)
	return e
}

// evidenceOf returns what is known about the caller of an RPC, and why it cannot be used, or "".
func evidenceOf(ctx context.Context) (e authn.Evidence, problem string) {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(Evident); ok {
			e = info.Evidence()
		}
	}
	bearer, err := authn.Bearer(metadata.ValueFromIncomingContext(ctx, "authorization"))
	if err != nil {
		return e, err.Error()
	}
	e.Bearer = bearer
	return e, ""
}

// Stream returns a stream with another context, for the handler of a stream that was admitted.
func Stream(ctx context.Context, stream grpc.ServerStream) grpc.ServerStream {
	return admitted{stream, ctx}
}

type admitted struct {
	grpc.ServerStream
	ctx context.Context
}

func (s admitted) Context() context.Context { return s.ctx }
