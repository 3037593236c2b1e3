package hostserver_test

import (
	"context"
	"strings"
	"testing"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// huge is a host whose tools do not fit into one message.
type huge struct{ *hosttest.Toolhost }

func (huge) SearchTools(context.Context, string, tool.Query) ([]tool.Match, error) {
	many := make([]tool.Match, hostpb.MaxMessageBytes/1000)
	for i := range many {
		many[i].Spec = tool.Spec{Name: "t", Description: strings.Repeat("x", 1000)}
	}
	return many, nil
}

func (huge) RenderTools(context.Context, tool.Format, tool.Query) (tool.Rendered, error) {
	return tool.Rendered{Content: make([]byte, hostpb.MaxMessageBytes)}, nil
}

func TestTooManyToolsForAnAnswer(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: huge{newHost(t)}})
	c := dial(t, a)
	_, searched := c.SearchTools(bounded(t), "x", tool.Query{})
	_, rendered := c.RenderTools(bounded(t), tool.FormatMCP, tool.Query{})
	for _, err := range []error{searched, rendered} {
		if tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "select fewer") {
			t.Errorf("got %v", err)
		}
	}
}

// Callers in other languages may leave the selection unset.
func TestUnsetSelectionIsAll(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	service := toolhostv1.NewToolServiceClient(raw(t, a))
	found, err := service.SearchTools(bounded(t), &toolhostv1.SearchToolsRequest{Query: "echo"})
	if err != nil || len(found.GetMatches()) != 1 {
		t.Errorf("got %v, %v", found, err)
	}
	rendered, err := service.RenderTools(bounded(t), &toolhostv1.RenderToolsRequest{Format: toolhostv1.ToolFormat_TOOL_FORMAT_OPENAI})
	if err != nil || len(rendered.GetTools()) != len(hosttest.Tools()) {
		t.Errorf("got %v, %v", rendered.GetTools(), err)
	}
	if _, err := service.RenderTools(bounded(t), &toolhostv1.RenderToolsRequest{}); err == nil {
		t.Error("a format must be set")
	}
}
