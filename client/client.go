package client

import (
	"context"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
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
