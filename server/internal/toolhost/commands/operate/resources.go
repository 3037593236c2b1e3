package operate

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// offerFlags are the flags of the commands about resources and prompts.
type offerFlags struct {
	plugin  string
	session string
}

func (f *offerFlags) add(cmd *cobra.Command, plugin string) {
	cmd.Flags().StringVar(&f.plugin, "plugin", "", plugin)
	cmd.Flags().StringVar(&f.session, "session", "", "the `SESSION` that the request belongs to")
}

// query returns the query of a list.
func (f *offerFlags) query() (tool.ResourceQuery, error) {
	if err := tool.CheckID(f.session); f.session != "" && err != nil {
		return tool.ResourceQuery{}, cli.Usage("--session: %w", err)
	}
	return tool.ResourceQuery{Requester: tool.Requester{Session: f.session}, Plugin: f.plugin}, nil
}

// NewResourcesCommand returns the command `resources`.
func NewResourcesCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var flags offerFlags
	cmd := &cobra.Command{
		Use:     "resources",
		Short:   "List the resources that plugins offer, or read one",
		Long:    "Resources lists the data that MCP servers offer by URI, and the templates of such URIs. It starts the servers that offer any.\nThe servers chose all texts.",
		Example: "  toolhost resources --plugin files\n  toolhost resources read file:///srv/notes.txt",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query, err := flags.query()
			if err != nil {
				return err
			}
			return conn.With(func(c *client.Client) error { return listResources(cmd.Context(), c, p, query, format.JSON()) })
		},
	}
	flags.add(cmd, "only those of this `PLUGIN`")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	cmd.AddCommand(newReadResourceCommand(p))
	return cmd
}

func listResources(ctx context.Context, c *client.Client, p cli.Process, query tool.ResourceQuery, asJSON bool) error {
	resources, err := c.ListResources(ctx, query)
	if err != nil {
		return err
	}
	templates, err := c.ListResourceTemplates(ctx, query)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, struct {
			tool.Resources
			Templates []tool.ResourceTemplate `json:"templates"`
		}{resources, templates.Templates})
	}
	tellUnlisted(p.Err(), resources.Unlisted)
	var rows [][]string
	for _, r := range resources.Resources {
		rows = append(rows, []string{r.URI, r.Plugin, summaryOf(r.Title, r.Name, r.Description)})
	}
	for _, t := range templates.Templates {
		rows = append(rows, []string{t.URITemplate, t.Plugin, summaryOf(t.Title, t.Name, t.Description)})
	}
	if len(rows) == 0 {
		fmt.Fprintln(p.Err(), "no plugin offers resources")
		return nil
	}
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"URI", "PLUGIN", "DESCRIPTION"}, rows)
}

// summaryOf returns what a table shows of an entry.
func summaryOf(title, name, description string) string {
	switch {
	case title == "" && description == "":
		title = name
	case title == "":
		title = description
	case description != "":
		title += ": " + description
	}
	return cli.Clip(title, descriptionWidth)
}

// tellUnlisted says which plugins a list lacks.
func tellUnlisted(w io.Writer, unlisted []tool.Unlisted) {
	for _, u := range unlisted {
		fmt.Fprintf(w, "%s: the plugin %s is not in the list: %s\n", cli.Toolhost, cli.Visible(u.Plugin), cli.OneLine(u.Reason))
	}
}

func newReadResourceCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var flags offerFlags
	var file string
	cmd := &cobra.Command{
		Use:   "read URI",
		Short: "Print the content of a resource",
		Long: "Read prints the whole content of a resource. In a terminal, characters that could steer it are shown as escapes. If several\n" +
			"plugins offer the URI, --plugin has to name one. With -o json, large content is an artifact, which `toolhost artifact` prints.",
		Example: "  toolhost resources read file:///srv/notes.txt\n  toolhost resources read --plugin shop --file logo.png shop:///logo",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := flags.query()
			if err != nil {
				return err
			}
			return conn.With(func(c *client.Client) error {
				read, err := c.ReadResource(cmd.Context(), tool.ResourceRead{Requester: query.Requester, Plugin: query.Plugin, URI: args[0]})
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, read)
				}
				return printParts(cmd.Context(), c, query.Session, p.Stdout, file, read.Parts)
			})
		},
	}
	flags.add(cmd, "the `PLUGIN` that offers the URI")
	cmd.Flags().StringVar(&file, "file", "", "write to this `FILE` instead, replacing what it has")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// printParts writes the content of a resource to a file or to standard output.
func printParts(ctx context.Context, c *client.Client, session string, stdout io.Writer, file string, parts []tool.ResourceContent) (err error) {
	out := stdout
	if file != "" {
		created, err := os.Create(file)
		if err != nil {
			return err
		}
		defer func() { _ = created.Close() }()
		out = created
	} else if cli.IsTerminal(stdout) {
		out = cli.NewPrinter(stdout)
	}
	for i := range parts {
		content := &parts[i].Content
		text := content.Kind == tool.ContentText || content.Artifact != nil && (content.Artifact.Head != "" || content.Artifact.MediaType == "text/plain")
		if !text && file == "" && cli.IsTerminal(stdout) {
			return cli.Usage("the resource is %s, which is not for a terminal; write it to a file with --file", cli.OneLine(parts[i].MediaType))
		}
		switch {
		case content.Artifact != nil:
			err = readArtifact(ctx, c, session)(out, content.Artifact)
		case content.Kind == tool.ContentText:
			_, err = io.WriteString(out, content.Text)
		default:
			_, err = out.Write(content.Data)
		}
		if err != nil {
			return err
		}
	}
	if file == "" && cli.IsTerminal(stdout) {
		_, err = io.WriteString(out, "\n")
	}
	return err
}
