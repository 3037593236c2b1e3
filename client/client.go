package client

import (
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// ErrNoServer is wrapped by errors that say that no server answers at the address, or that the
// connection was lost.
var ErrNoServer = link.ErrNoServer

// pageSize is the number of tools that ListTools requests at once. It is the maximum that a
// toolhost returns in one page.
const pageSize = 1000

// Client is a client of one toolhost, or of several that share a ledger. It connects with the first
// RPC, and again after a lost connection. All methods are safe for concurrent use.
type Client struct {
	fleet *link.Fleet
	admin Admin
	ctx   context.Context // the context of the session; ends with Close
	stop  context.CancelFunc
	tasks sync.WaitGroup // all goroutines of the client

	ledger  atomic.Pointer[string]       // see LedgerID; nil: unknown
	folders atomic.Pointer[tool.Folders] // see Folders; nil: unknown

	mutex    sync.Mutex
	sessions map[*link.Link]*session // the streams that all calls to a toolhost share
	closed   bool
}

// Dial returns a client of the toolhost at addr: unix:///PATH or HOST:PORT. An empty addr means the
// environment variable TOOLHOST_ADDR, or the default socket of the user, with the check of
// OwnServer. The client uses TLS unless HOST is an IP address of loopback, and there as well if TLS
// is configured. The environment completes the credentials; see WithTLS and WithToken. Dial does
// not connect. Errors: invalid_argument if the address is malformed, if the credentials do not fit
// it, or if a file of TLS cannot be used. The caller must call Close.
//
// addr may also be several addresses, separated by commas, or dns:///HOST:PORT for the addresses
// that DNS has for HOST, whose certificates have the name HOST. The toolhosts have to share a
// ledger. The client sends the calls of a session to one of them, which all clients with the same
// addresses choose alike, and to another one if that one does not take the call or is lost. All
// toolhosts get the same credentials. A configuration of clients in DNS has no effect.
func Dial(addr string, options ...DialOption) (*Client, error) {
	fleet, err := newFleet(addr, "toolhost", hostpb.MaxMessageBytes, options)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Client{fleet: fleet, admin: Admin{link: fleet.One("")}, ctx: ctx, stop: stop, sessions: map[*link.Link]*session{}}, nil
}

// Admin returns the operator's methods for the same toolhost, or for any one of several. It uses
// the connection of the client and ends with the client.
func (c *Client) Admin() *Admin { return &c.admin }

// Addr returns the address of the toolhost, or those of several as Dial takes them.
func (c *Client) Addr() string { return c.fleet.Name() }

// Close closes the connection and waits for the client's goroutines. Running calls end as after a
// lost connection. It may be called more than once.
func (c *Client) Close() error {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	c.stop()
	c.tasks.Wait()
	return c.fleet.Close()
}

// Version returns the version of the toolhost.
func (c *Client) Version(ctx context.Context) (tool.VersionInfo, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(""), func(conn grpc.ClientConnInterface) (*toolhostv1.GetVersionResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).GetVersion(ctx, &toolhostv1.GetVersionRequest{})
	})
	return toolpb.ToVersion(resp.GetVersion()), err
}

// WaitForTools waits until the toolhost knows the tools of all plugins that it found at its start,
// or until ctx ends. A toolhost answers before that, so its first list may lack tools of new
// plugins. It returns nil at once if they are known, or if the toolhost is of an earlier version,
// which does not say.
func (c *Client) WaitForTools(ctx context.Context) error {
	watch := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[healthv1.HealthCheckResponse], error) {
		return healthv1.NewHealthClient(conn).Watch(ctx, &healthv1.HealthCheckRequest{Service: hostpb.CatalogHealth})
	}
	status := (*healthv1.HealthCheckResponse).GetStatus
	for now, err := range link.Receive(ctx, c.fleet.To(""), watch, status) {
		if err != nil || now != healthv1.HealthCheckResponse_NOT_SERVING {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return tool.AsError(err)
	}
	return nil
}

// WhoAmI returns how the toolhost identified this client, and what the client may do. Every client
// that the toolhost has identified may ask.
func (c *Client) WhoAmI(ctx context.Context) (tool.CallerInfo, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(""), func(conn grpc.ClientConnInterface) (*toolhostv1.WhoAmIResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).WhoAmI(ctx, &toolhostv1.WhoAmIRequest{})
	})
	return toolpb.ToCaller(resp.GetCaller()), err
}

// ListTools returns the tools that match the query, ordered by name.
func (c *Client) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	infos, _, err := c.listTools(ctx, query, nil)
	return infos, err
}

// ListChangedTools is ListTools for a caller that keeps the list. known is the revision that came
// with it, or empty. While the list of the same query still has that revision, ListChangedTools
// returns it again without tools, at a cost that does not depend on their number. Otherwise, it
// returns all tools that match, and their revision. A revision is empty if the toolhost has none:
// it is of an earlier version. Lists for two sessions or contexts are equal if their revisions are.
func (c *Client) ListChangedTools(ctx context.Context, query tool.Query, known string) (infos []tool.Info, revision string, err error) {
	return c.listTools(ctx, query, &known)
}

func (c *Client) listTools(ctx context.Context, query tool.Query, known *string) (infos []tool.Info, revision string, err error) {
	req := hostpb.FromQuery(query)
	req.PageSize, req.OnBehalfOf, req.KnownRevision = pageSize, onBehalfOf(ctx), known
	infos = []tool.Info{}
	for {
		resp, err := link.Invoke(ctx, c.fleet.To(query.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.ListToolsResponse, error) {
			return toolhostv1.NewToolServiceClient(conn).ListTools(ctx, req)
		})
		if err != nil {
			return nil, "", err
		}
		c.ledger.Store(new(resp.GetLedgerId()))
		c.folders.Store(&tool.Folders{Workspace: resp.GetWorkspace(), Writable: resp.GetWritableFolders(), Hidden: resp.GetHiddenFolders()})
		if req.GetPageToken() == "" {
			revision = resp.GetRevision()
		}
		for _, t := range resp.GetTools() {
			infos = append(infos, hostpb.ToInfo(t))
		}
		if resp.GetNextPageToken() == "" {
			return infos, revision, nil
		}
		req.PageToken = resp.GetNextPageToken()
	}
}

// LedgerID returns the id of the toolhost's ledger, as the last ListTools received it, for
// tool.Call.Ledger. It makes no RPC. It returns an empty string before the first ListTools, or if
// the toolhost has no ledger id.
func (c *Client) LedgerID() string {
	if id := c.ledger.Load(); id != nil {
		return *id
	}
	return ""
}

// Folders returns the folders in which the toolhost's plugins work, as the last ListTools received
// them. It makes no RPC. It returns the zero value before the first ListTools. The paths are those
// of the toolhost's machine. The caller must not change the slice.
func (c *Client) Folders() tool.Folders {
	if folders := c.folders.Load(); folders != nil {
		return *folders
	}
	return tool.Folders{}
}

// GetTool returns one tool as the viewer sees it. toolhost ignores the principal of the viewer and
// uses that of the connection. Errors: not_found.
func (c *Client) GetTool(ctx context.Context, name string, viewer tool.Viewer) (tool.Info, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(viewer.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.GetToolResponse, error) {
		req := hostpb.FromViewer(name, viewer)
		req.OnBehalfOf = onBehalfOf(ctx)
		return toolhostv1.NewToolServiceClient(conn).GetTool(ctx, req)
	})
	if err != nil {
		return tool.Info{}, err
	}
	return hostpb.ToInfo(resp.GetTool()), nil
}

// SearchTools returns the tools that match the query and contain at least one of the words, best
// match first. Without Query.MaxTools it returns at most 10. Errors: invalid_argument, also if
// there are no words.
func (c *Client) SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(query.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.SearchToolsResponse, error) {
		req := &toolhostv1.SearchToolsRequest{Query: strings.ToValidUTF8(words, "\uFFFD"), Selection: hostpb.FromSelection(query), OnBehalfOf: onBehalfOf(ctx)}
		return toolhostv1.NewToolServiceClient(conn).SearchTools(ctx, req)
	})
	if err != nil {
		return nil, err
	}
	return hostpb.ToMatches(resp), nil
}

// RenderTools returns the available tools that match the query, ordered by name, in the format of a
// model provider's API or as text for a prompt. Rendered.Omitted lists the tools that it left out,
// with the reasons. Errors: invalid_argument, also for an unknown format.
func (c *Client) RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(query.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.RenderToolsResponse, error) {
		req := &toolhostv1.RenderToolsRequest{Format: hostpb.FromFormat(format), Selection: hostpb.FromSelection(query), OnBehalfOf: onBehalfOf(ctx)}
		return toolhostv1.NewToolServiceClient(conn).RenderTools(ctx, req)
	})
	if err != nil {
		return tool.Rendered{}, err
	}
	return hostpb.ToRendered(resp), nil
}

// WatchCall returns the events of an existing call, which any client of the same user may have
// made: first the stored events after the sequence number after (0: all), then new ones, up to the
// Ended event. If that event has been seen, there are none. If ctx ends or the connection is lost,
// the last element is an error; to continue, call WatchCall again with the Seq of the last event.
// Leaving the loop ends the watch, not the call. toolhost ignores the principal of the key. Errors:
// invalid_argument, not_found.
func (c *Client) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.WatchCallResponse], error) {
		return toolhostv1.NewToolServiceClient(conn).WatchCall(ctx, &toolhostv1.WatchCallRequest{
			CallId: key.ID, Session: key.Session, AfterSeq: after, OnBehalfOf: onBehalfOf(ctx),
		})
	}
	messages := link.Receive(ctx, c.fleet.To(key.Session), open, (*toolhostv1.WatchCallResponse).GetEvent)
	return func(yield func(tool.Event, error) bool) {
		var joiner hostpb.Joiner
		for m, err := range messages {
			if err != nil {
				yield(tool.Event{}, err)
				return
			}
			event, ok := joiner.Add(m)
			if !ok {
				continue
			}
			if !yield(event, nil) {
				return
			}
		}
	}
}

// CancelCall requests the cancellation of a call by its id and does not wait for its end. It does
// not change a call that has ended. toolhost ignores the principal of the key. Errors:
// invalid_argument, not_found.
func (c *Client) CancelCall(ctx context.Context, key tool.CallKey, reason string) error {
	_, err := link.Invoke(ctx, c.fleet.To(key.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.CancelCallResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).CancelCall(ctx, &toolhostv1.CancelCallRequest{
			CallId: key.ID, Session: key.Session, Reason: reason, OnBehalfOf: onBehalfOf(ctx),
		})
	})
	return err
}

// AnswerQuestion answers a question that the tool of a call has asked; see tool.Event.Question.
// Only the first answer counts. The caller of the call sets tool.Call.Answers, or no question
// arrives. A call without an id of the caller has the id of the question. toolhost ignores the
// principal of the key. Errors: not_found if the question is not open any more; invalid_argument if
// the answer does not fit the question, which stays open.
func (c *Client) AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error {
	_, err := link.Invoke(ctx, c.fleet.To(key.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.AnswerQuestionResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).AnswerQuestion(ctx, &toolhostv1.AnswerQuestionRequest{
			CallId: key.ID, Session: key.Session, Question: question, Answer: toolpb.FromAnswer(answer), OnBehalfOf: onBehalfOf(ctx),
		})
	})
	return err
}

// ReadArtifact returns a part of an artifact: content that was too large to include in a result,
// which contains the handle instead. The part is shorter than requested only at the end of the
// artifact or if the request exceeds tool.MaxArtifactPiece; it is empty after the end. To read the
// whole artifact, repeat the call with the next offset until Size bytes are read. A part of a text
// may end inside a character. toolhost ignores the principal of the query. Errors:
// invalid_argument; not_found, also for an artifact of another session and for one that has
// expired.
func (c *Client) ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
	if q.Limit < 0 {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindInvalidArgument, "the limit %d must not be negative", q.Limit)
	}
	resp, err := link.Invoke(ctx, c.fleet.To(q.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.ReadArtifactResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).ReadArtifact(ctx, &toolhostv1.ReadArtifactRequest{
			Handle: q.Handle, Session: q.Session, Offset: q.Offset, Limit: uint32(min(q.Limit, tool.MaxArtifactPiece)), OnBehalfOf: onBehalfOf(ctx),
		})
	})
	if err != nil {
		return tool.ArtifactPiece{}, err
	}
	return hostpb.ToArtifactPiece(resp), nil
}
