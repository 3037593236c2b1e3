package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// descriptionWidth is the number of characters of a description in a table.
const descriptionWidth = 72

// NewToolsCommand returns the command `tools`.
func NewToolsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var chosen selection
	var values cli.Values
	cmd := &cobra.Command{
		Use:     "tools [NAME]",
		Example: "  toolhost tools --tag files --dangerous=false\n  toolhost tools read_file",
		Short:   "List tools, or show one with its schema",
		Long: "Tools lists all tools by name, or those that the flags choose, or shows one. With -o json it prints an array of objects, for one tool an object:\n" +
			"name, plugin and what the tool declares. A tool that is called like one of the commands below is shown by\n" +
			"`toolhost tools -- NAME`.",
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: conn.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := chosen.query()
			if err != nil {
				return err
			}
			query.Context = values
			if len(args) == 1 && chosen.filters() {
				return cli.Usage("the filters choose among all tools; leave them out to show %q", args[0])
			}
			return conn.WithAny(func(c *client.Client) error {
				if len(args) == 1 {
					as := tool.Viewer{Session: query.Session, Context: query.Context}
					return showTool(cmd.Context(), c, p.Stdout, args[0], as, format.JSON())
				}
				return listTools(cmd.Context(), c, p, query, format.JSON())
			})
		},
	}
	chosen.addFlags(cmd, "all")
	values.AddFlag(cmd.Flags(), "dynamic tools as calls with this value of the context see them, such as 'tenant=\"acme\"'; may be repeated")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	cmd.AddCommand(newToolsSearchCommand(p), newToolsRenderCommand(p))
	return cmd
}

// toolView is a tool as -o json prints it.
type toolView struct {
	Name              string `json:"name"`
	Plugin            string `json:"plugin"`
	PluginVersion     string `json:"plugin_version,omitempty"`
	UnavailableReason string `json:"unavailable_reason,omitempty"`
	// Filters are the filters of its own plugin that its calls pass.
	Filters []string `json:"filters,omitempty"`
	tool.Spec
	// These three fields hide the fields of Spec with the same JSON names.
	InputSchema json.RawMessage `json:"input_schema"`
	Timeout     *struct{}       `json:"timeout,omitempty"` // always nil; hides Spec.Timeout
	Retry       *retryView      `json:"retry,omitempty"`
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`
}

// retryView is the retry policy of a tool, as -o json prints it.
type retryView struct {
	MaxAttempts      uint32 `json:"max_attempts,omitempty"`
	InitialBackoffMS int64  `json:"initial_backoff_ms,omitempty"`
	MaxBackoffMS     int64  `json:"max_backoff_ms,omitempty"`
}

func viewTool(i tool.Info) toolView {
	v := toolView{
		Name: i.Spec.Name, Plugin: i.Plugin, PluginVersion: i.PluginVersion, UnavailableReason: i.UnavailableReason,
		Filters: i.Filters, Spec: i.Spec, InputSchema: i.Spec.InputSchema, TimeoutMS: i.Spec.Timeout.Milliseconds(),
	}
	if len(v.InputSchema) == 0 {
		v.InputSchema = json.RawMessage(`{"type":"object","additionalProperties":false}`)
	}
	if r := i.Spec.Retry; r != (tool.RetryPolicy{}) {
		v.Retry = &retryView{
			MaxAttempts: r.MaxAttempts, InitialBackoffMS: r.InitialBackoff.Milliseconds(), MaxBackoffMS: r.MaxBackoff.Milliseconds(),
		}
	}
	return v
}

func listTools(ctx context.Context, c *client.Client, p cli.Process, query tool.Query, asJSON bool) error {
	infos, err := c.ListTools(ctx, query)
	if err != nil {
		return err
	}
	if asJSON {
		views := []toolView{}
		for _, i := range infos {
			views = append(views, viewTool(i))
		}
		return cli.WriteJSON(p.Stdout, views)
	}
	if len(infos) == 0 {
		fmt.Fprintln(p.Err(), "no tool matches; `toolhost plugins` shows which plugins there are, and why some cannot be used")
		return nil
	}
	header, rows := []string{"NAME", "PLUGIN", "DESCRIPTION"}, [][]string{}
	// A description can begin with any text, so only a column shows that a tool is unavailable.
	states := slices.ContainsFunc(infos, func(i tool.Info) bool { return i.UnavailableReason != "" })
	if states {
		header = slices.Insert(header, 2, "STATE")
	}
	for _, i := range infos {
		row := []string{i.Spec.Name, i.Plugin, oneLineOf(i)}
		if states {
			state := "available"
			if i.UnavailableReason != "" {
				state = "unavailable"
			}
			row = slices.Insert(row, 2, state)
		}
		rows = append(rows, row)
	}
	return cli.WriteTable(p.Stdout, p.Screen(), header, rows)
}

// oneLineOf returns the description of a tool for a table: one line, or why the tool is
// unavailable.
func oneLineOf(i tool.Info) string {
	if i.UnavailableReason != "" {
		return i.UnavailableReason
	}
	text := i.Spec.Description
	if title := i.Spec.DisplayName; title != "" && title != i.Spec.Name {
		text = cli.OneLine(title) + ": " + text
	}
	return cli.Clip(text, descriptionWidth)
}

func showTool(ctx context.Context, c *client.Client, w io.Writer, name string, as tool.Viewer, asJSON bool) error {
	info, err := c.GetTool(ctx, name, as)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(w, viewTool(info))
	}
	_, err = io.WriteString(cli.NewPrinter(w), describe(info))
	return err
}

// describe returns a tool with all that it declares, for people.
func describe(info tool.Info) string {
	s := info.Spec
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", label, cli.OneLine(value))
		}
	}
	line("name", s.Name)
	line("title", s.DisplayName)
	line("plugin", strings.TrimSpace(info.Plugin+" "+info.PluginVersion))
	line("unavailable", info.UnavailableReason)
	line("category", s.Category)
	line("tags", strings.Join(s.Tags, ", "))
	line("traits", strings.Join(traits(s), ", "))
	line("reads", strings.Join(s.ContextKeys, ", "))
	line("writes", strings.Join(s.EffectKeys, ", "))
	line("filters", strings.Join(info.Filters, ", "))
	if s.CostPerUse > 0 {
		line("cost per use", strconv.FormatFloat(s.CostPerUse, 'g', 6, 64))
	}
	if s.Timeout > 0 {
		line("timeout", s.Timeout.Round(time.Millisecond).String())
	}
	if s.Retry.MaxAttempts > 1 {
		line("retries", strconv.Itoa(int(s.Retry.MaxAttempts-1)))
	}
	fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(s.Description))
	schema(&b, "arguments", viewTool(info).InputSchema)
	schema(&b, "structured result", s.OutputSchema)
	for _, example := range s.InputExamples {
		fmt.Fprintf(&b, "\nexample: %s\n%s\n", example.Description, example.Arguments)
	}
	return b.String()
}

// traits returns the declared properties that matter to a caller.
func traits(s tool.Spec) []string {
	var all []string
	for _, trait := range []struct {
		name  string
		holds bool
	}{
		{"dangerous: needs --approve", s.Dangerous},
		{"read only", s.ReadOnly},
		{"idempotent", s.Idempotent},
		{"serial", s.Serial},
		{"parallel", s.Parallel && !s.Serial},
		{"settles lost calls", s.Settles && !s.Seals},
		{"settles and seals lost calls", s.Settles && s.Seals},
		{"partial arguments", s.PartialArguments},
	} {
		if trait.holds {
			all = append(all, trait.name)
		}
	}
	return all
}

func schema(b *strings.Builder, label string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	var indented bytes.Buffer
	if json.Indent(&indented, value, "", "  ") != nil {
		indented.Reset()
		indented.Write(value)
	}
	fmt.Fprintf(b, "\n%s:\n%s\n", label, indented.Bytes())
}
