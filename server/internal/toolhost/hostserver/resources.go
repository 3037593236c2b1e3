package hostserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/tool"
)

// Resources lists, reads and watches the resources of plugins.
type Resources interface {
	// ListResources returns the resources of plugins, ordered by plugin and URI.
	ListResources(ctx context.Context, q tool.ResourceQuery) (tool.Resources, error)
	// ListResourceTemplates returns the templates of plugins, ordered by plugin and template.
	ListResourceTemplates(ctx context.Context, q tool.ResourceQuery) (tool.ResourceTemplates, error)
	// ReadResource returns the content of a resource.
	ReadResource(ctx context.Context, r tool.ResourceRead) (tool.ResourceContents, error)
	// WatchResources returns notices of changes. The first one is empty. If ctx ends, the last
	// element is an error.
	WatchResources(ctx context.Context, q tool.ResourceWatch) iter.Seq2[tool.ResourceChange, error]
}

// Prompts lists prompts and fills in their arguments.
type Prompts interface {
	// ListPrompts returns the prompts of plugins, ordered by plugin and name.
	ListPrompts(ctx context.Context, q tool.ResourceQuery) (tool.Prompts, error)
	// GetPrompt returns a prompt with its arguments filled in.
	GetPrompt(ctx context.Context, r tool.PromptRequest) (tool.PromptText, error)
	// CompleteArgument returns values of an argument of a prompt or a template.
	CompleteArgument(ctx context.Context, r tool.CompletionRequest) (tool.Completion, error)
}

// requester returns who a request for resources or prompts is for.
func (s *toolService) requester(ctx context.Context, right authz.Right, session string, named *toolv1.Principal) (tool.Requester, error) {
	caller := callerOf(ctx)
	of, err := s.subjectOf(ctx, &caller, right, named)
	return tool.Requester{Principal: of.key, Groups: of.groups, Via: of.via, From: caller.who.From, Session: session}, err
}

// listRequest is what the requests of lists have in common.
type listRequest interface {
	GetPlugin() string
	GetSession() string
	GetPageSize() int32
	GetPageToken() string
	GetOnBehalfOf() *toolv1.Principal
}

func (s *toolService) resourceQuery(ctx context.Context, req listRequest) (tool.ResourceQuery, error) {
	who, err := s.requester(ctx, authz.ToolsList, req.GetSession(), req.GetOnBehalfOf())
	return tool.ResourceQuery{Requester: who, Plugin: req.GetPlugin()}, err
}

// place is the beginning of a page of a list; a page token encodes it. Like position, it has the
// names of the last entry and not its index.
type place struct {
	Plugin string `json:"p"`
	Name   string `json:"n"`
}

// pageAfter returns the page of a list that a request wants, and the token of the next page. place
// returns the place of an entry; the list is ordered by it.
func pageAfter[E any, M proto.Message](req listRequest, all []E, placeOf func(E) place, convert func(E) M) (page []M, next string, err error) {
	if req.GetPageSize() < 0 {
		return nil, "", tool.Errorf(tool.KindInvalidArgument, "page_size %d must not be negative", req.GetPageSize())
	}
	limit := min(int(req.GetPageSize()), maxPageSize)
	if limit == 0 {
		limit = defaultPageSize
	}
	var after place
	if token := req.GetPageToken(); token != "" {
		data, err := base64.RawURLEncoding.DecodeString(token)
		if err == nil {
			err = json.Unmarshal(data, &after)
		}
		if err != nil || after.Plugin == "" {
			return nil, "", tool.Errorf(tool.KindInvalidArgument, "the page token is not one of this API; use the next_page_token of the page before, unchanged")
		}
	}
	bytes, last := 0, place{}
	for _, e := range all {
		at := placeOf(e)
		if at.Plugin < after.Plugin || at.Plugin == after.Plugin && at.Name <= after.Name && after.Plugin != "" {
			continue
		}
		m := convert(e)
		bytes += proto.Size(m)
		if len(page) == limit || len(page) > 0 && bytes > maxPageBytes {
			data, err := json.Marshal(last)
			if err != nil {
				return nil, "", err
			}
			return page, base64.RawURLEncoding.EncodeToString(data), nil
		}
		page, last = append(page, m), at
	}
	return page, "", nil
}

// ListResources implements toolhost.v1.ToolService.
func (s *toolService) ListResources(ctx context.Context, req *toolhostv1.ListResourcesRequest) (*toolhostv1.ListResourcesResponse, error) {
	q, err := s.resourceQuery(ctx, req)
	if err != nil {
		return nil, err
	}
	all, err := s.host.ListResources(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListResourcesResponse{Unlisted: hostpb.FromUnlisted(all.Unlisted)}
	resp.Resources, resp.NextPageToken, err = pageAfter(req, all.Resources, func(r tool.Resource) place { return place{r.Plugin, r.URI} }, hostpb.FromResource)
	return resp, err
}

// ListResourceTemplates implements toolhost.v1.ToolService.
func (s *toolService) ListResourceTemplates(ctx context.Context, req *toolhostv1.ListResourceTemplatesRequest) (*toolhostv1.ListResourceTemplatesResponse, error) {
	q, err := s.resourceQuery(ctx, req)
	if err != nil {
		return nil, err
	}
	all, err := s.host.ListResourceTemplates(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListResourceTemplatesResponse{Unlisted: hostpb.FromUnlisted(all.Unlisted)}
	resp.ResourceTemplates, resp.NextPageToken, err = pageAfter(req, all.Templates,
		func(t tool.ResourceTemplate) place { return place{t.Plugin, t.URITemplate} }, hostpb.FromResourceTemplate)
	return resp, err
}

// ReadResource implements toolhost.v1.ToolService.
func (s *toolService) ReadResource(ctx context.Context, req *toolhostv1.ReadResourceRequest) (*toolhostv1.ReadResourceResponse, error) {
	who, err := s.requester(ctx, authz.ToolsCall, req.GetSession(), req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	read, err := s.host.ReadResource(ctx, tool.ResourceRead{
		Requester: who, Plugin: req.GetPlugin(), URI: req.GetUri(), MaxShown: int(min(req.GetMaxShownBytes(), tool.MaxArtifactPiece)),
	})
	if err != nil {
		return nil, err
	}
	resp := hostpb.FromResourceContents(read)
	return resp, fitsAnswer(resp)
}

// ListPrompts implements toolhost.v1.ToolService.
func (s *toolService) ListPrompts(ctx context.Context, req *toolhostv1.ListPromptsRequest) (*toolhostv1.ListPromptsResponse, error) {
	q, err := s.resourceQuery(ctx, req)
	if err != nil {
		return nil, err
	}
	all, err := s.host.ListPrompts(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListPromptsResponse{Unlisted: hostpb.FromUnlisted(all.Unlisted)}
	resp.Prompts, resp.NextPageToken, err = pageAfter(req, all.Prompts, func(p tool.Prompt) place { return place{p.Plugin, p.Name} }, hostpb.FromPrompt)
	return resp, err
}

// GetPrompt implements toolhost.v1.ToolService.
func (s *toolService) GetPrompt(ctx context.Context, req *toolhostv1.GetPromptRequest) (*toolhostv1.GetPromptResponse, error) {
	who, err := s.requester(ctx, authz.ToolsCall, req.GetSession(), req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	text, err := s.host.GetPrompt(ctx, tool.PromptRequest{Requester: who, Plugin: req.GetPlugin(), Name: req.GetName(), Arguments: req.GetArguments()})
	if err != nil {
		return nil, err
	}
	resp := hostpb.FromPromptText(text)
	return resp, fitsAnswer(resp)
}

// fitsAnswer returns an error if what a plugin returned does not fit into a message: it has too
// many parts, because the host replaces large ones.
func fitsAnswer(resp proto.Message) error {
	if size := proto.Size(resp); size > hostpb.MaxMessageBytes {
		return tool.Errorf(tool.KindInternal, "the plugin returned %d bytes in many parts, and an answer has %d at most", size, hostpb.MaxMessageBytes)
	}
	return nil
}

// CompleteArgument implements toolhost.v1.ToolService.
func (s *toolService) CompleteArgument(ctx context.Context, req *toolhostv1.CompleteArgumentRequest) (*toolhostv1.CompleteArgumentResponse, error) {
	who, err := s.requester(ctx, authz.ToolsCall, req.GetSession(), req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	r := hostpb.ToCompletionRequest(req)
	r.Requester = who
	completion, err := s.host.CompleteArgument(ctx, r)
	if err != nil {
		return nil, err
	}
	return hostpb.FromCompletion(completion), nil
}

// WatchResources implements toolhost.v1.ToolService.
func (s *toolService) WatchResources(req *toolhostv1.WatchResourcesRequest, stream grpc.ServerStreamingServer[toolhostv1.WatchResourcesResponse]) error {
	ctx, stop := untilDrain(stream.Context(), s.drain)
	defer stop()
	who, err := s.requester(ctx, authz.ToolsCall, req.GetSession(), req.GetOnBehalfOf())
	if err != nil {
		return err
	}
	q := tool.ResourceWatch{ResourceQuery: tool.ResourceQuery{Requester: who, Plugin: req.GetPlugin()}, Resources: hostpb.ToResourceRefs(req.GetResources())}
	for change, err := range s.host.WatchResources(ctx, q) {
		if err != nil {
			return ended(ctx, err)
		}
		if err := stream.Send(hostpb.FromResourceChange(change)); err != nil {
			return err
		}
	}
	return nil
}
