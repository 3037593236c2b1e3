package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// Resources are the resources and prompts that one principal may use. A *client.Client has this
// interface. All methods must be safe for concurrent use.
type Resources interface {
	ListResources(ctx context.Context, q tool.ResourceQuery) (tool.Resources, error)
	ListResourceTemplates(ctx context.Context, q tool.ResourceQuery) (tool.ResourceTemplates, error)
	ReadResource(ctx context.Context, r tool.ResourceRead) (tool.ResourceContents, error)
	WatchResources(ctx context.Context, q tool.ResourceWatch) iter.Seq2[tool.ResourceChange, error]
}

// Prompts are the prompts that one principal may use. A *client.Client has this interface. All
// methods must be safe for concurrent use.
type Prompts interface {
	ListPrompts(ctx context.Context, q tool.ResourceQuery) (tool.Prompts, error)
	GetPrompt(ctx context.Context, r tool.PromptRequest) (tool.PromptText, error)
	CompleteArgument(ctx context.Context, r tool.CompletionRequest) (tool.Completion, error)
}

// Resources of plugins whose own URI does not name them alone are below resourcePrefix: the name of
// the plugin and the escaped URI follow.
const resourcePrefix = "toolhost://resource/"

var resourceTemplate = &mcp.ResourceTemplate{
	Name: "resource", Title: "Resources of one plugin", URITemplate: resourcePrefix + "{plugin}/{uri}",
	Description: "A resource by the plugin that offers it and its escaped URI, for a URI that several plugins offer.",
}

// qualifiedURI names a resource together with its plugin.
func qualifiedURI(plugin, uri string) string {
	return resourcePrefix + url.PathEscape(plugin) + "/" + url.QueryEscape(uri)
}

// resourceRef returns the plugin and the URI that a client means. The plugin is empty if the client
// uses the URI of the plugin itself. The host then decides which plugin that is.
func resourceRef(uri string) (ref tool.ResourceRef, ok bool) {
	rest, qualified := strings.CutPrefix(uri, resourcePrefix)
	if !qualified {
		return tool.ResourceRef{URI: uri}, !strings.HasPrefix(strings.ToLower(uri), "toolhost:")
	}
	plugin, escaped, _ := strings.Cut(rest, "/")
	var failed [2]error
	ref.Plugin, failed[0] = url.PathUnescape(plugin)
	ref.URI, failed[1] = url.QueryUnescape(escaped)
	return ref, errors.Join(failed[:]...) == nil && ref.Plugin != "" && ref.URI != ""
}

// own reports whether clients may know a resource of a plugin by its own URI: no other plugin
// offers it, and it is none of the URIs that toolhost makes.
func own(uri string, offered map[string]int) bool {
	return offered[uri] == 1 && !strings.HasPrefix(strings.ToLower(uri), "toolhost:")
}

// refreshResources makes the server offer the resources and templates that the principal may use
// now.
func (s *Server) refreshResources(ctx context.Context) error {
	s.offering.refreshing.Lock()
	defer s.offering.refreshing.Unlock()
	s.offering.asked["resource:"] = true
	query := tool.ResourceQuery{Requester: tool.Requester{Session: s.config.Session}}
	listed, err := s.config.Tools.ListResources(ctx, query)
	if err != nil {
		return err
	}
	templates, err := s.config.Tools.ListResourceTemplates(ctx, query)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, r := range listed.Resources {
		counts[r.URI]++
	}
	now := map[string]string{}
	for _, r := range listed.Resources {
		resource := &mcp.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MediaType, Size: int64(r.Size)}
		if !own(r.URI, counts) {
			resource.URI = qualifiedURI(r.Plugin, r.URI)
		}
		s.offering.offered.put(s, now, "resource:"+resource.URI, resource, func() { s.mcp.AddResource(resource, s.reader.readResource) })
	}
	clear(counts)
	for _, t := range templates.Templates {
		counts[t.URITemplate]++
	}
	for _, t := range templates.Templates {
		if !own(t.URITemplate, counts) {
			continue // clients read its resources as toolhost://resource/PLUGIN/URI
		}
		template := &mcp.ResourceTemplate{URITemplate: t.URITemplate, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: t.MediaType}
		s.offering.offered.put(s, now, "template:"+t.URITemplate, template, func() { s.mcp.AddResourceTemplate(template, s.reader.readResource) })
	}
	s.offering.offered.keep(now, "resource:", func(gone []string) { s.mcp.RemoveResources(gone...) })
	s.offering.offered.keep(now, "template:", func(gone []string) { s.mcp.RemoveResourceTemplates(gone...) })
	return nil
}

// offering is what clients can list, and what of it they have listed. The mutex is held while the
// tools, resources or prompts of the SDK are replaced, so that two replacements do not mix.
type offering struct {
	refreshing sync.Mutex
	revision   string // of the list that tools is from; empty: the host has none
	tools      map[string]tool.Info
	offered    offers
	asked      map[string]bool // the kinds in offered that clients have listed
}

// offers are the resources, templates and prompts that the SDK has, as JSON by kind and name. The
// mutex of offering guards them. The SDK notifies the clients of everything that is
// added, so the server adds only what has changed.
type offers map[string]string

// put adds an entry to the SDK if it has changed, and to now. The SDK panics if it refuses what a
// plugin chose; such an entry is left out.
func (o offers) put(s *Server, now map[string]string, name string, entry any, add func()) {
	text, err := json.Marshal(entry)
	if err != nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			s.config.Logger.Warn("an entry is not offered to MCP clients", "entry", name, "error", fmt.Sprint(v))
			delete(now, name)
		}
	}()
	if before, ok := o[name]; !ok || before != string(text) {
		add()
	}
	now[name], o[name] = string(text), string(text)
}

// keep removes the entries of a kind that are not in now.
func (o offers) keep(now map[string]string, kind string, remove func(gone []string)) {
	var gone []string
	for name := range o {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			if _, listed := now[name]; !listed {
				gone = append(gone, rest)
				delete(o, name)
			}
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		remove(gone)
	}
}

// maxWhole bounds what resources/read returns at once. A larger part is a page of an artifact.
const maxWhole = 8 << 20

// anyResource is a template that all URIs follow. The host decides which resources there are, and
// clients do not see the template.
const anyResource = "{+uri}"

// readResource handles resources/read. The SDK has no part in deciding what a URI means.
func (r reader) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if strings.HasPrefix(req.Params.URI, artifactPrefix) {
		return r.readArtifact(ctx, req)
	}
	return r.readPluginResource(ctx, req)
}

// readPluginResource returns a resource of a plugin.
func (r reader) readPluginResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	ref, ok := resourceRef(req.Params.URI)
	if !ok {
		return nil, noResource(req.Params.URI)
	}
	read, err := r.config.Tools.ReadResource(ctx, tool.ResourceRead{
		Requester: r.requesterOf(req.Extra), Plugin: ref.Plugin, URI: ref.URI, MaxShown: tool.MaxArtifactPiece,
	})
	if tool.KindOf(err) == tool.KindNotFound {
		return nil, noResource(req.Params.URI)
	}
	if err != nil {
		return nil, requestError(err)
	}
	result, left := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}, maxWhole
	for i := range read.Parts {
		part, err := r.wholePart(ctx, &read.Parts[i], &left)
		if err != nil {
			return nil, requestError(err)
		}
		if ref.Plugin != "" && part.URI == ref.URI {
			part.URI = req.Params.URI // the name by which the client knows it
		}
		result.Contents = append(result.Contents, part)
	}
	return result, nil
}

// wholePart returns a part of a resource with its whole content, while no more than left bytes are
// returned, and otherwise with its first page.
func (r reader) wholePart(ctx context.Context, part *tool.ResourceContent, left *int) (*mcp.ResourceContents, error) {
	c := &part.Content
	switch c.Kind {
	case tool.ContentText:
		*left -= len(c.Text)
		return &mcp.ResourceContents{URI: part.URI, MIMEType: part.MediaType, Text: c.Text}, nil
	case tool.ContentArtifact:
	default:
		*left -= len(c.Data)
		return &mcp.ResourceContents{URI: part.URI, MIMEType: part.MediaType, Blob: noNil(c.Data)}, nil
	}
	a := c.Artifact
	if a.Size > uint64(max(*left, 0)) {
		page, err := r.artifactPage(ctx, part.URI, a.Handle, r.config.Session, 0)
		if err == nil {
			*left -= pageBytes
			page.MIMEType = part.MediaType
		}
		return page, err
	}
	data := make([]byte, 0, a.Size)
	for uint64(len(data)) < a.Size {
		piece, err := r.config.Tools.ReadArtifact(ctx, tool.ArtifactQuery{Session: r.config.Session, Handle: a.Handle, Offset: uint64(len(data)), Limit: tool.MaxArtifactPiece})
		if err != nil {
			return nil, err
		}
		if len(piece.Data) == 0 {
			return nil, tool.Errorf(tool.KindUnavailable, "the content of the resource is not complete")
		}
		data = append(data, piece.Data...)
	}
	*left -= len(data)
	if a.Head != "" || strings.HasPrefix(a.MediaType, "text/plain") && isText(part.MediaType) {
		return &mcp.ResourceContents{URI: part.URI, MIMEType: part.MediaType, Text: string(data)}, nil
	}
	return &mcp.ResourceContents{URI: part.URI, MIMEType: part.MediaType, Blob: noNil(data)}, nil
}

// noNil returns bytes that the SDK encodes as a blob, even if there are none.
func noNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// requesterOf returns who a request is for. The Tools add the principal.
func (r reader) requesterOf(extra *mcp.RequestExtra) tool.Requester {
	who := tool.Requester{Session: r.config.Session}
	if extra != nil && extra.Header != nil {
		who.From = extra.Header.Get(FromHeader)
	}
	return who
}
