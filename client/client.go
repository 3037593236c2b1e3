package client

import (
	"context"
	"iter"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/link"
	"github.com/toolhost/toolhost/tool"
)

// ErrNoServer is wrapped by errors that say that no server answers at the address, or that the
// connection was lost.
var ErrNoServer = link.ErrNoServer

// pageSize is how many tools ListTools asks for at once: the most that a toolhost answers with.
const pageSize = 1000

// Client is a client of one toolhost. All methods may be called from any goroutine. It connects when it is first used,
// and anew when the connection was lost.
type Client struct {
	link  *link.Link
	admin Admin
	ctx   context.Context // of the session; ends with Close
	stop  context.CancelFunc
	tasks sync.WaitGroup // every goroutine of the client

	ledger atomic.Pointer[string] // see LedgerID; nil: never heard

	mutex   sync.Mutex
	session *session // the stream that all calls share; nil before the first
	closed  bool
}

// Dial returns a client of the toolhost at addr: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. Empty means the
// environment's TOOLHOST_ADDR, else the default socket of this user, as with OwnServer. It does not connect; the only error is
// that the address is ill-formed. Close must be called in the end.
func Dial(addr string, options ...DialOption) (*Client, error) {
	at, err := find(addr, "toolhost", options)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	to := link.New(at, "toolhost", hostpb.MaxMessageBytes)
	return &Client{link: to, admin: Admin{link: to}, ctx: ctx, stop: stop}, nil
}

// Admin returns the operator's view of the same toolhost. It uses the connection of the client and ends
// with it.
func (c *Client) Admin() *Admin { return &c.admin }

// Addr returns the address of the toolhost.
func (c *Client) Addr() string { return c.link.Addr() }

// Close ends the connection and waits for the client's goroutines. Calls that are under way end as if the connection
// was lost. It may be called more than once.
func (c *Client) Close() error {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	c.stop()
	c.tasks.Wait()
	return c.link.Close()
}

// ListTools returns the tools that match, ordered by name.
func (c *Client) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	req := hostpb.FromQuery(query)
	req.PageSize = pageSize
	infos := []tool.Info{}
	for {
		resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ListToolsResponse, error) {
			return toolhostv1.NewToolServiceClient(conn).ListTools(ctx, req)
		})
		if err != nil {
			return nil, err
		}
		c.ledger.Store(new(resp.GetLedgerId()))
		for _, t := range resp.GetTools() {
			infos = append(infos, hostpb.ToInfo(t))
		}
		if resp.GetNextPageToken() == "" {
			return infos, nil
		}
		req.PageToken = resp.GetNextPageToken()
	}
}

// LedgerID returns the id of the ledger of the toolhost that answered ListTools last, for tool.Call.Ledger. It does no
// I/O. Empty: ListTools was not called, or the toolhost does not say.
func (c *Client) LedgerID() string {
	if id := c.ledger.Load(); id != nil {
		return *id
	}
	return ""
}

// GetTool returns one tool as the viewer sees it, whose principal is who is at this end of the connection. Errors: not_found.
func (c *Client) GetTool(ctx context.Context, name string, viewer tool.Viewer) (tool.Info, error) {
	resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.GetToolResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).GetTool(ctx, hostpb.FromViewer(name, viewer))
	})
	if err != nil {
		return tool.Info{}, err
	}
	return hostpb.ToInfo(resp.GetTool()), nil
}

// DialOption changes how a server is connected to. The zero value changes nothing.
type DialOption struct{ own bool }

// OwnServer says that the address was not chosen by a person, but is where this user's own server should be. Then a server of
// another user is refused, and so is a socket in a folder that another user owns or can write: another user may have made the
// folder first. Servers of root are not refused. For TCP it changes nothing.
func OwnServer() DialOption { return DialOption{own: true} }

// find returns the address of a program's server.
func find(addr, program string, options []DialOption) (address.Address, error) {
	at, err := address.Find(addr, program, os.Getenv)
	if err != nil {
		return at, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	for _, option := range options {
		if option.own {
			at = at.Own()
		}
	}
	return at, nil
}

// SearchTools returns the tools that match the query and hold one of the words, the best match first: 10 unless the query
// says how many. Errors: invalid_argument, also if there are no words.
func (c *Client) SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error) {
	resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.SearchToolsResponse, error) {
		req := &toolhostv1.SearchToolsRequest{Query: strings.ToValidUTF8(words, "\uFFFD"), Selection: hostpb.FromSelection(query)}
		return toolhostv1.NewToolServiceClient(conn).SearchTools(ctx, req)
	})
	if err != nil {
		return nil, err
	}
	return hostpb.ToMatches(resp), nil
}

// RenderTools returns the tools that match the query and can be called, ordered by name, as a model's API or a prompt
// wants them. Rendered.Omitted lists the tools that the API would refuse, with the reason. Errors: invalid_argument, also for
// a format that the toolhost does not know.
func (c *Client) RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error) {
	resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.RenderToolsResponse, error) {
		req := &toolhostv1.RenderToolsRequest{Format: hostpb.FromFormat(format), Selection: hostpb.FromSelection(query)}
		return toolhostv1.NewToolServiceClient(conn).RenderTools(ctx, req)
	})
	if err != nil {
		return tool.Rendered{}, err
	}
	return hostpb.ToRendered(resp), nil
}

// WatchCall returns the events of a call that exists, made by this client or by another of the same user: those after a
// number that are kept, then new ones as they happen, up to the Ended event; none if that was seen. 0 begins at the first
// event. When ctx ends
// or the connection breaks its last item is an error; to go on, watch again after the Seq of the last event that came.
// Leaving the loop ends the watch and not the call. The principal of the key is ignored. Errors: invalid_argument,
// not_found.
func (c *Client) WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.WatchCallResponse], error) {
		return toolhostv1.NewToolServiceClient(conn).WatchCall(ctx, &toolhostv1.WatchCallRequest{
			CallId: key.ID, Session: key.Session, AfterSeq: after,
		})
	}
	messages := link.Receive(ctx, c.link, open, (*toolhostv1.WatchCallResponse).GetEvent)
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

// CancelCall asks to stop a call by its name, whoever made or follows it, and does not wait until it has ended. For one
// that has ended it does nothing. The principal of the key is ignored. Errors: invalid_argument, not_found.
func (c *Client) CancelCall(ctx context.Context, key tool.CallKey, reason string) error {
	_, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.CancelCallResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).CancelCall(ctx, &toolhostv1.CancelCallRequest{
			CallId: key.ID, Session: key.Session, Reason: reason,
		})
	})
	return err
}

// ReadArtifact returns a part of an artifact: of a result that was too large to be shown, by the handle that stands in its
// place. It has fewer bytes than asked for only where the artifact ends or a piece is as large as it may be, and none behind
// the end; so whoever wants all of it reads on, at the offset behind what he has, until he has Size bytes. A piece of a text
// may end inside a letter. The principal of the query is ignored. Errors: invalid_argument; not_found, also for an artifact
// of another session and for one that is no longer kept.
func (c *Client) ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
	if q.Limit < 0 {
		return tool.ArtifactPiece{}, tool.Errorf(tool.KindInvalidArgument, "the limit %d must not be negative", q.Limit)
	}
	resp, err := link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ReadArtifactResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).ReadArtifact(ctx, &toolhostv1.ReadArtifactRequest{
			Handle: q.Handle, Session: q.Session, Offset: q.Offset, Limit: uint32(min(q.Limit, tool.MaxArtifactPiece)),
		})
	})
	if err != nil {
		return tool.ArtifactPiece{}, err
	}
	return hostpb.ToArtifactPiece(resp), nil
}
