package mcpclient

import (
	"context"
	"errors"
	"net/url"
	"path"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use roots and logging, which 2026-07-28 deprecates.

// logLevel is the lowest level of the server's log that toolhost wants.
const logLevel = "info"

// rootsIn returns folders that the plugin may use as roots.
func rootsIn(folders []string) []tool.Root {
	var roots []tool.Root
	for _, folder := range folders {
		roots = append(roots, tool.Root{URI: (&url.URL{Scheme: "file", Path: folder}).String(), Name: path.Base(folder)})
	}
	return roots
}

// offerTo says what the server may ask for, and answers it.
func (c *Conn) offerTo(options *mcp.ClientOptions) {
	if permitted(c.cfg.Asks, tool.QuestionPerson) {
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
		options.ElicitationHandler = c.calls.elicit
	}
	if permitted(c.cfg.Asks, tool.QuestionModel) {
		options.Capabilities.Sampling = &mcp.SamplingCapabilities{}
		options.CreateMessageWithToolsHandler = c.calls.sample
	}
	if len(c.cfg.Roots) > 0 || permitted(c.cfg.Asks, tool.QuestionRoots) {
		options.Capabilities.RootsV2 = &mcp.RootCapabilities{}
	}
}

// refuseInput is a middleware that refuses what a server asks before it lets toolhost read a
// resource.
func refuseInput(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		read, ok := res.(*mcp.ReadResourceResult)
		if err == nil && ok && read != nil && read.NeedsInput() {
			return nil, errors.New("the MCP server asks for input before it lets toolhost read a resource, which toolhost does not support")
		}
		return res, err
	}
}

// wantLog tells a server of version 2025-11-25 which records of its log toolhost wants. Later
// versions get the level with each call.
func (c *Conn) wantLog(ctx context.Context) {
	server := c.session.InitializeResult().Capabilities
	if server == nil || server.Logging == nil || c.sessionless() {
		return
	}
	if err := c.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: logLevel}); err != nil && ctx.Err() == nil {
		c.logf("the server does not let toolhost choose the level of its log: %s", oneLine(err.Error()))
	}
}
