package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds the resources of the suite.
func addResources(s *mcp.Server) {
	for _, c := range []*mcp.ResourceContents{
		{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."},
		{URI: "test://static-binary", MIMEType: "image/png", Blob: picture},
		{URI: "test://watched-resource", MIMEType: "text/plain", Text: "A resource that clients watch."},
	} {
		name := strings.TrimPrefix(c.URI, "test://")
		s.AddResource(&mcp.Resource{URI: c.URI, Name: name, Description: "A resource of the suite.", MIMEType: c.MIMEType},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
			})
	}
	template := &mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "Data by id.", MIMEType: "application/json"}
	s.AddResourceTemplate(template, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
		}}}, nil
	})
}
