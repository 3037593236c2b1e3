package hostserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"sync"

	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

// toolService implements toolhost.v1.ToolService. The guard converts errors to statuses.
type toolService struct {
	toolhostv1.UnimplementedToolServiceServer
	host    Tools
	calls   Calls
	peers   Peers // nil: none
	guard   guard
	maxOpen int             // the maximum number of calls per Connect stream
	drain   <-chan struct{} // closed when the server shuts down
	tasks   *sync.WaitGroup // goroutines that read streams; they end after their handler has returned
	pool    *flow.Workers   // goroutines of calls; each ends before its handler returns
}

// GetVersion implements toolhost.v1.ToolService.
func (s *toolService) GetVersion(context.Context, *toolhostv1.GetVersionRequest) (*toolhostv1.GetVersionResponse, error) {
	return &toolhostv1.GetVersionResponse{Version: toolpb.FromVersion(version.Info())}, nil
}

// WhoAmI implements toolhost.v1.ToolService.
func (s *toolService) WhoAmI(ctx context.Context, _ *toolhostv1.WhoAmIRequest) (*toolhostv1.WhoAmIResponse, error) {
	return &toolhostv1.WhoAmIResponse{Caller: toolpb.FromCaller(gate.WhoAmI(ctx, Rights()))}, nil
}

// ListTools implements toolhost.v1.ToolService.
func (s *toolService) ListTools(ctx context.Context, req *toolhostv1.ListToolsRequest) (*toolhostv1.ListToolsResponse, error) {
	p, err := pageOf(req)
	if err != nil {
		return nil, err
	}
	query := hostpb.ToSelection(req.GetSelection())
	if err := s.setViewer(ctx, &query, req.GetOnBehalfOf()); err != nil {
		return nil, err
	}
	var revision string
	if req.KnownRevision != nil && req.GetPageToken() == "" {
		if revision, err = s.host.Revision(ctx, query); err != nil { // before the list, which may be newer then
			return nil, err
		}
	}
	resp := &toolhostv1.ListToolsResponse{}
	if revision == "" || revision != req.GetKnownRevision() {
		if resp, err = s.pageFor(ctx, query, p); err != nil {
			return nil, err
		}
	}
	resp.Revision, resp.LedgerId = revision, s.host.LedgerID()
	folders := s.host.Folders()
	resp.Workspace, resp.WritableFolders, resp.HiddenFolders = folders.Workspace, folders.Writable, folders.Hidden
	return resp, nil
}

// pageFor returns a page of the tools that match.
func (s *toolService) pageFor(ctx context.Context, query tool.Query, p page) (*toolhostv1.ListToolsResponse, error) {
	query.MaxTools = p.wanted() // max_tools of the request counts over all pages
	if query.MaxTools == 0 {
		return &toolhostv1.ListToolsResponse{}, nil
	}
	infos, err := s.host.ListPage(ctx, query, p.at.After)
	if err != nil {
		return nil, err
	}
	return p.fill(infos), nil
}

// setViewer sets the principal that a query is for.
func (s *toolService) setViewer(ctx context.Context, q *tool.Query, named *toolv1.Principal) error {
	caller := callerOf(ctx)
	of, err := s.subjectOf(ctx, &caller, authz.ToolsList, named)
	q.Principal, q.Groups = of.key, of.groups
	return err
}

// GetTool implements toolhost.v1.ToolService.
func (s *toolService) GetTool(ctx context.Context, req *toolhostv1.GetToolRequest) (*toolhostv1.GetToolResponse, error) {
	viewer := hostpb.ToViewer(req)
	caller := callerOf(ctx)
	of, err := s.subjectOf(ctx, &caller, authz.ToolsList, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	viewer.Principal, viewer.Groups = of.key, of.groups
	info, err := s.host.GetTool(ctx, req.GetName(), viewer)
	if err != nil {
		return nil, err
	}
	return &toolhostv1.GetToolResponse{Tool: hostpb.FromInfo(info)}, nil
}

// Call implements toolhost.v1.ToolService.
func (s *toolService) Call(ctx context.Context, req *toolhostv1.CallRequest) (*toolhostv1.CallResponse, error) {
	caller := callerOf(ctx)
	call, err := s.callOf(ctx, &caller, req.GetTool(), req.GetArguments(), req.GetOptions())
	if err != nil {
		return nil, err
	}
	call.OutcomeOnly = true
	execution, err := s.host.Open(withAccount(ctx), call, true)
	if err != nil {
		failure := tool.AsError(err)
		return nil, ofCall(cmp.Or(failure.CallID, call.ID), failure)
	}
	defer execution.Close()
	event, err := execution.Next(ctx)
	if err != nil {
		return nil, err
	}
	return responseOf(event.Ended)
}

// ReviewCall implements toolhost.v1.ToolService.
func (s *toolService) ReviewCall(ctx context.Context, req *toolhostv1.ReviewCallRequest) (*toolhostv1.ReviewCallResponse, error) {
	caller := callerOf(ctx)
	call, err := s.callOf(ctx, &caller, req.GetTool(), req.GetArguments(), req.GetOptions())
	if err != nil {
		return nil, err
	}
	result, err := s.host.Review(withAccount(ctx), call)
	if err != nil {
		return nil, ofCall(call.ID, err)
	}
	resp := &toolhostv1.ReviewCallResponse{}
	if result != nil {
		resp.Result = toolpb.FromResult(*result)
	}
	return resp, fitsAnswer(resp)
}

func responseOf(o *tool.Outcome) (*toolhostv1.CallResponse, error) {
	if o.Err != nil {
		return nil, o.Err
	}
	resp := &toolhostv1.CallResponse{
		CallId:   o.CallID,
		Plugin:   o.Plugin,
		Instance: o.Instance,
		Result:   toolpb.FromResult(o.Result),
		Replayed: o.Replayed,
	}
	if size := proto.Size(resp); size > hostpb.MaxMessageBytes {
		err := tool.Errorf(tool.KindInvalidArgument, "the call was executed, but its result of %d bytes does not fit the answer of Call (%d); get it by the same call id through Execute or Connect", size, hostpb.MaxMessageBytes)
		err.CallID, err.Plugin, err.Instance = o.CallID, o.Plugin, o.Instance
		return nil, err
	}
	return resp, nil
}

// Finder searches and renders tools. Errors: invalid_argument.
type Finder interface {
	// SearchTools returns the tools that match the query and contain at least one of the words,
	// best match first.
	SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error)
	// RenderTools returns the available tools that match the query in a format, ordered by name. It
	// fails for an unknown format.
	RenderTools(ctx context.Context, format tool.Format, query tool.Query) (tool.Rendered, error)
}

// SearchTools implements toolhost.v1.ToolService.
func (s *toolService) SearchTools(ctx context.Context, req *toolhostv1.SearchToolsRequest) (*toolhostv1.SearchToolsResponse, error) {
	query := hostpb.ToSelection(req.GetSelection())
	if err := s.setViewer(ctx, &query, req.GetOnBehalfOf()); err != nil {
		return nil, err
	}
	matches, err := s.host.SearchTools(ctx, req.GetQuery(), query)
	if err != nil {
		return nil, err
	}
	resp := hostpb.FromMatches(matches)
	return resp, fits(resp)
}

// RenderTools implements toolhost.v1.ToolService.
func (s *toolService) RenderTools(ctx context.Context, req *toolhostv1.RenderToolsRequest) (*toolhostv1.RenderToolsResponse, error) {
	query := hostpb.ToSelection(req.GetSelection())
	if err := s.setViewer(ctx, &query, req.GetOnBehalfOf()); err != nil {
		return nil, err
	}
	rendered, err := s.host.RenderTools(ctx, hostpb.ToFormat(req.GetFormat()), query)
	if err != nil {
		return nil, err
	}
	resp := hostpb.FromRendered(rendered)
	return resp, fits(resp)
}

// fits returns an error if an answer does not fit into a message.
func fits(resp proto.Message) error {
	if size := proto.Size(resp); size > hostpb.MaxMessageBytes {
		return tool.Errorf(tool.KindInvalidArgument, "the tools have %d bytes, and an answer at most %d; select fewer", size, hostpb.MaxMessageBytes)
	}
	return nil
}

const (
	defaultPageSize = 100
	maxPageSize     = 1000
	// maxPageBytes keeps a page of large schemas within one message.
	maxPageBytes = hostpb.MaxMessageBytes / 2
)

// position is the beginning of a page; a page token encodes it. It contains a name instead of an
// index. So tools that appear or disappear between two pages neither hide nor repeat others.
type position struct {
	After  string `json:"a"` // the last name of the previous page; empty: the beginning
	Listed int    `json:"n"` // the number of tools in the previous pages
}

func parsePosition(token string) (position, error) {
	var p position
	if token == "" {
		return p, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || p.After == "" || p.Listed < 1 {
		return p, tool.Errorf(tool.KindInvalidArgument, "the page token is not one of this API; use the next_page_token of the page before, unchanged")
	}
	return p, nil
}

func (p position) token() string {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err) // a string and a number can be encoded
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// page is a requested page: at most limit tools from a position.
type page struct {
	at    position
	limit int
	most  int // the maximum number of tools in all pages; 0: no limit
}

func pageOf(req *toolhostv1.ListToolsRequest) (page, error) {
	if req.GetPageSize() < 0 || req.GetSelection().GetMaxTools() < 0 {
		return page{}, tool.Errorf(tool.KindInvalidArgument, "page_size %d and max_tools %d must not be negative", req.GetPageSize(), req.GetSelection().GetMaxTools())
	}
	at, err := parsePosition(req.GetPageToken())
	if err != nil {
		return page{}, err
	}
	p := page{at: at, limit: min(int(req.GetPageSize()), maxPageSize), most: int(req.GetSelection().GetMaxTools())}
	if p.limit == 0 {
		p.limit = defaultPageSize
	}
	return p, nil
}

// wanted returns how many tools the page needs: one more than it may contain, to know whether
// another page follows.
func (p page) wanted() int {
	if p.most == 0 {
		return p.limit + 1
	}
	return min(p.limit+1, max(p.most-p.at.Listed, 0))
}

// fill returns the page that begins with the tools given.
func (p page) fill(infos []tool.Info) *toolhostv1.ListToolsResponse {
	resp, bytes := &toolhostv1.ListToolsResponse{}, 0
	for _, info := range infos {
		if len(resp.Tools) == p.limit {
			resp.NextPageToken = p.at.token()
			return resp
		}
		m := hostpb.FromInfo(info)
		bytes += proto.Size(m)
		if len(resp.Tools) > 0 && bytes > maxPageBytes {
			resp.NextPageToken = p.at.token()
			return resp
		}
		resp.Tools = append(resp.Tools, m)
		p.at = position{After: info.Spec.Name, Listed: p.at.Listed + 1}
	}
	return resp
}

// Artifacts reads content that is too large for results.
type Artifacts interface {
	// ReadArtifact returns a part of an artifact. Errors: invalid_argument, not_found.
	ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error)
}

// ReadArtifact implements toolhost.v1.ToolService.
func (s *toolService) ReadArtifact(ctx context.Context, req *toolhostv1.ReadArtifactRequest) (*toolhostv1.ReadArtifactResponse, error) {
	caller := callerOf(ctx)
	of, err := s.subjectOf(ctx, &caller, authz.CallsOwn, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	piece, err := s.host.ReadArtifact(ctx, tool.ArtifactQuery{
		Principal: of.key, Session: req.GetSession(), Handle: req.GetHandle(), Offset: req.GetOffset(),
		Limit: int(min(req.GetLimit(), tool.MaxArtifactPiece)),
	})
	if err != nil {
		resp, err := s.artifactAtPeer(ctx, req, err)
		return resp, s.missing(ctx, &caller, of, req.GetHandle(), err)
	}
	return hostpb.FromArtifactPiece(piece), nil
}
