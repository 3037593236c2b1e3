package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

var (
	_ pluginconn.Resources = (*Conn)(nil)
	_ pluginconn.Prompts   = (*Conn)(nil)
	_ pluginconn.Noticing  = (*Conn)(nil)
)

// Bounds of what a server says about its resources and prompts. Entries that exceed maxURI are left
// out, and longer texts are cut.
const (
	maxURI   = 8 << 10
	maxLabel = 256     // bytes of a name or a title
	maxProse = 4 << 10 // bytes of a description
	maxParts = 1_000   // of a resource, and messages of a prompt
)

// The codes of errors about resources that do not exist, before and since version 2026-07-28.
const codeNoResource = -32_002

// answerTime is how long a server may take to answer anything after a request to it was canceled.
const answerTime = 5 * time.Second

// request makes a request to the server, and says what its failure means. A server that answers
// nothing after a canceled request is stuck.
func (c *Conn) request(ctx context.Context, send func(ctx context.Context) error) error {
	if err := c.awaitProbes(ctx); err != nil {
		return err
	}
	err := send(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
		defer cancel()
		if failed := c.probe(asking); failed != nil && c.isLost(failed) {
			return fmt.Errorf("%w: %w", pluginconn.ErrLost, failed)
		} else if failed != nil {
			return fmt.Errorf("%w: %w", pluginconn.ErrStuck, context.Cause(ctx))
		}
		return context.Cause(ctx)
	case c.isLost(err):
		return fmt.Errorf("%w: %w", pluginconn.ErrLost, err)
	}
	if known, ok := errors.AsType[*tool.Error](err); ok {
		return known
	}
	refusal, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ok && refusal.Code == jsonrpc.CodeMethodNotFound:
		return tool.Errorf(tool.KindUnsupported, "the MCP server does not know the request: %s", clip(refusal.Message, maxMessage))
	case ok && refusal.Code == codeNoResource:
		return tool.Errorf(tool.KindNotFound, "the MCP server has no such resource: %s", clip(refusal.Message, maxMessage))
	}
	return c.failure(err)
}

// ListResources implements pluginconn.Resources.
func (c *Conn) ListResources(ctx context.Context, _ pluginconn.Asker) ([]tool.Resource, error) {
	var all []tool.Resource
	bounds, l := listBounds{what: "resources"}, listing{what: "resources"}
	err := c.request(ctx, func(ctx context.Context) error {
		return l.pages(func(cursor string) (string, mcp.Meta, error) {
			page, err := through(ctx, cursor, func(ctx context.Context) (*mcp.ListResourcesResult, error) {
				return c.session.ListResources(ctx, &mcp.ListResourcesParams{})
			})
			if err != nil {
				return "", nil, err
			}
			for _, r := range page.Resources {
				if r == nil || !usable(r.URI) || l.again(r.URI) {
					continue
				}
				all = append(all, tool.Resource{
					URI: r.URI, Name: label(r.Name), Title: label(r.Title), Description: clip(r.Description, maxProse),
					MediaType: mediaType(r.MIMEType), Size: uint64(max(r.Size, 0)),
				})
				if err := bounds.add(r.URI, r.Name, r.Title, r.Description); err != nil {
					return "", nil, err
				}
			}
			return page.NextCursor, page.Meta, nil
		})
	})
	c.logAll(l.warnings)
	return all, err
}

// ListResourceTemplates implements pluginconn.Resources.
func (c *Conn) ListResourceTemplates(ctx context.Context, _ pluginconn.Asker) ([]tool.ResourceTemplate, error) {
	var all []tool.ResourceTemplate
	bounds, l := listBounds{what: "templates"}, listing{what: "templates"}
	err := c.request(ctx, func(ctx context.Context) error {
		return l.pages(func(cursor string) (string, mcp.Meta, error) {
			page, err := through(ctx, cursor, func(ctx context.Context) (*mcp.ListResourceTemplatesResult, error) {
				return c.session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{})
			})
			if err != nil {
				return "", nil, err
			}
			for _, t := range page.ResourceTemplates {
				if t == nil || !usable(t.URITemplate) || l.again(t.URITemplate) {
					continue
				}
				all = append(all, tool.ResourceTemplate{
					URITemplate: t.URITemplate, Name: label(t.Name), Title: label(t.Title), Description: clip(t.Description, maxProse), MediaType: mediaType(t.MIMEType),
				})
				if err := bounds.add(t.URITemplate, t.Name, t.Title, t.Description); err != nil {
					return "", nil, err
				}
			}
			return page.NextCursor, page.Meta, nil
		})
	})
	c.logAll(l.warnings)
	if known, ok := errors.AsType[*tool.Error](err); ok && known.Kind == tool.KindUnsupported {
		return nil, nil // a server may have resources and no templates
	}
	return all, err
}

// ReadResource implements pluginconn.Resources.
func (c *Conn) ReadResource(ctx context.Context, _ pluginconn.Asker, uri string) ([]tool.ResourceContent, error) {
	var read *mcp.ReadResourceResult
	err := c.request(ctx, func(ctx context.Context) (err error) {
		read, err = through(ctx, uri, func(ctx context.Context) (*mcp.ReadResourceResult, error) {
			return c.session.ReadResource(ctx, &mcp.ReadResourceParams{})
		})
		if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && refusal.Code == jsonrpc.CodeInvalidParams {
			// its only argument is the URI
			return tool.Errorf(tool.KindNotFound, "the MCP server has no such resource: %s", clip(refusal.Message, maxMessage))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	size, parts := 0, []tool.ResourceContent{}
	for _, r := range read.Contents {
		if r == nil {
			continue
		}
		part := partOf(r, uri)
		size += len(part.Content.Text) + len(part.Content.Data)
		parts = append(parts, part)
	}
	if len(parts) > maxParts {
		return nil, tool.Errorf(tool.KindInternal, "the resource has more than %d parts", maxParts)
	}
	if size > c.cfg.MaxResultBytes {
		return nil, tooLarge(c.cfg.MaxResultBytes)
	}
	return parts, nil
}

// partOf returns a part of a resource. A part without a usable URI has that of the whole.
func partOf(r *mcp.ResourceContents, uri string) tool.ResourceContent {
	part := tool.ResourceContent{URI: uri, MediaType: mediaType(r.MIMEType)}
	if usable(r.URI) {
		part.URI = r.URI
	}
	if r.Blob != nil {
		part.Content = tool.File(fileName(part.URI), cmp.Or(part.MediaType, "application/octet-stream"), r.Blob)
	} else {
		part.Content = tool.Text(strings.ToValidUTF8(r.Text, "\uFFFD"))
	}
	return part
}

// usable reports whether a text can be a URI or a template. A URI with a control character is no
// URI, and could deceive a person who sees it.
func usable(uri string) bool {
	return uri != "" && len(uri) <= maxURI && utf8.ValidString(uri) && !strings.ContainsFunc(uri, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) })
}

// label returns a name or a title of the server as one bounded line.
func label(text string) string { return oneLine(clip(text, maxLabel)) }

// listBounds bounds a list of the server.
type listBounds struct {
	what        string
	count, size int
}

func (b *listBounds) add(texts ...string) error {
	b.count++
	for _, text := range texts {
		b.size += len(text)
	}
	if b.count > maxTools || b.size > maxListBytes {
		return tool.Errorf(tool.KindInternal, "the MCP server lists more than %d %s, or more than %d MiB", maxTools, b.what, maxListBytes>>20)
	}
	return nil
}
