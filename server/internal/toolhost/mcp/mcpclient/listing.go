package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// listing is a list of the server, of which pages are read. What stops it does not cost the pages
// that were read before, and becomes a warning.
type listing struct {
	what     string // what it lists
	warnings []string
	read     map[string]bool // what was read, by a key
}

// again reports whether an element was read before: servers that do not know their own cursors send
// a page twice.
func (l *listing) again(key string) bool {
	if l.read == nil {
		l.read = map[string]bool{}
	}
	before := l.read[key]
	l.read[key] = true
	return before
}

func (l *listing) warnf(format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...))
	if len(l.warnings) < maxMended && !slices.Contains(l.warnings, text) {
		l.warnings = append(l.warnings, text)
	}
}

// pages requests pages until the last one. Servers number their pages in several wrong ways, and
// some do not know their own cursors.
func (l *listing) pages(page func(cursor string) (next string, meta mcp.Meta, err error)) error {
	cursor, seen := "", map[string]bool{"": true}
	for range maxPages {
		next, meta, err := page(cursor)
		refused, ok := errors.AsType[*jsonrpc.Error](err)
		switch {
		case ok && cursor != "" && refused.Code == jsonrpc.CodeInvalidParams:
			l.warnf("its list of %s ends early, because it refuses its own cursor %.100q: %s", l.what, cursor, clip(refused.Message, maxLabel))
			return nil
		case err != nil:
			return err
		}
		for _, note := range mendedIn(meta) {
			l.warnf("%s", note)
		}
		switch {
		case next == "":
			return nil
		case seen[next]:
			l.warnf("its list of %s ends early, because its cursor %.100q stands for a page that was read before", l.what, next)
			return nil
		}
		cursor, seen[next] = next, true
	}
	l.warnf("its list of %s ends early, after %d pages", l.what, maxPages)
	return nil
}

// listTools returns all tools of the server, the server's names of them, and what is left out.
func (c *Conn) listTools(ctx context.Context) (specs []tool.Spec, names, warnings []string, err error) {
	l, size := listing{what: "tools"}, 0
	err = l.pages(func(cursor string) (string, mcp.Meta, error) {
		page, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", nil, err
		}
		for _, t := range page.Tools {
			if t.Name == "" {
				l.warnf("a tool without a name is left out; its title is %q and its description %.100q", label(t.Title), t.Description)
				continue
			}
			spec := c.specOf(t)
			if l.again(string(definition(&spec))) {
				continue
			}
			size += len(spec.InputSchema) + len(spec.OutputSchema) + len(spec.Description)
			specs, names = append(specs, spec), append(names, t.Name)
		}
		if len(specs) > maxTools || size > maxListBytes {
			return "", nil, fmt.Errorf("it declares more than %d tools, or more than %d MiB of definitions", maxTools, maxListBytes>>20)
		}
		return page.NextCursor, page.Meta, nil
	})
	return specs, names, l.warnings, err
}
