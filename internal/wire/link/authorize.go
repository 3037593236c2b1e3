package link

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// Authorized is a connection whose RPCs carry a token. It belongs to one RPC and its repetition,
// and it is not safe for concurrent use.
//
// A server that refuses a token has not executed the RPC. Its answer is UNAUTHENTICATED without
// details, because details come from the code that executes RPCs. Renewed recognizes this answer
// and changes the token, so that the caller can repeat the RPC. It does so once. A second refusal
// is final, because the new token is as bad as the old one.
type Authorized struct {
	Conn    *Conn
	token   credential.Token
	secure  bool
	renewed bool
}

// Authorize returns the connection with the current token of the link. It may wait for a token
// until ctx ends. Errors are *tool.Error.
func (l *Link) Authorize(ctx context.Context, c *Conn) (*Authorized, error) {
	token, err := l.Token(ctx)
	if err != nil {
		return nil, err
	}
	return &Authorized{Conn: c, token: token, secure: l.secure}, nil
}

// Token returns the current token, and the zero Token if the link sends none. It may wait for a
// token until ctx ends. Errors are *tool.Error.
func (l *Link) Token(ctx context.Context) (credential.Token, error) {
	if l.tokens == nil {
		return credential.Token{}, nil
	}
	token, err := l.tokens.Get(ctx)
	switch {
	case err == nil:
		return token, nil
	case ctx.Err() != nil:
		return credential.Token{}, tool.AsError(ctx.Err())
	default:
		return credential.Token{}, tool.Errorf(tool.KindUnavailable, "there is no token for the %s at %s: %w", l.server, l.addr, err)
	}
}

// HasTokens reports whether RPCs carry a token.
func (l *Link) HasTokens() bool { return l.tokens != nil }

// Renew reports whether there is a token other than the refused one, after it has asked the source
// for one if necessary.
func (l *Link) Renew(ctx context.Context, refused credential.Token) bool {
	if l.tokens == nil {
		return false
	}
	_, ok := l.tokens.Renew(ctx, refused)
	return ok
}

// Renewed reports whether err says that the server refused the token, and a now has another one. It
// returns false if a was renewed before.
func (l *Link) Renewed(ctx context.Context, a *Authorized, err error) bool {
	if a == nil || l.tokens == nil || a.renewed || !refusesToken(err) {
		return false
	}
	a.renewed = true
	fresh, ok := l.tokens.Renew(ctx, a.token)
	if ok {
		a.token = fresh
	}
	return ok
}

func refusesToken(err error) bool {
	st, ok := status.FromError(err)
	return ok && st.Code() == codes.Unauthenticated && len(st.Details()) == 0
}

// Token returns the token that the RPCs carry.
func (a *Authorized) Token() credential.Token { return a.token }

// Invoke implements grpc.ClientConnInterface.
func (a *Authorized) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return a.Conn.Invoke(ctx, method, args, reply, a.options(opts)...)
}

// NewStream implements grpc.ClientConnInterface.
func (a *Authorized) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return a.Conn.NewStream(ctx, desc, method, a.options(opts)...)
}

func (a *Authorized) options(given []grpc.CallOption) []grpc.CallOption {
	if a.token.Value == "" {
		return given
	}
	return append(slices.Clone(given), grpc.PerRPCCredentials(bearer{a.token, a.secure}))
}

// bearer sends a token. gRPC refuses to send it on a connection that is less secure than required.
type bearer struct {
	token  credential.Token
	secure bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token.Value}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return b.secure }

// refusalOf returns the failure of an RPC that the server refused for its credentials.
func (l *Link) refusalOf(err error) *tool.Error {
	failure := *toolpb.FromStatusError(err)
	if refusesToken(err) {
		failure.Message = "the " + l.server + " at " + l.addr.String() + " does not accept the credentials of this client: " + failure.Message
	}
	return &failure
}
