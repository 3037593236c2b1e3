package operate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// toolFormats are the values of --format.
var toolFormats = []string{
	string(tool.FormatOpenAI), string(tool.FormatOpenAIResponses), string(tool.FormatAnthropic), string(tool.FormatGemini), string(tool.FormatMCP), string(tool.FormatMarkdown),
}

// toolFormat is the value of the flag --format. The zero value is no format.
type toolFormat tool.Format

// String implements pflag.Value.
func (f *toolFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *toolFormat) Type() string { return "FORMAT" }

// Set implements pflag.Value.
func (f *toolFormat) Set(s string) error {
	if !slices.Contains(toolFormats, s) {
		return errors.New("use " + strings.Join(toolFormats, ", "))
	}
	*f = toolFormat(s)
	return nil
}

func newToolsRenderCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format toolFormat
	var chosen selection
	cmd := &cobra.Command{
		Use:   "render --format FORMAT",
		Short: "Print tools as a model's API, or a prompt, wants them",
		Long: "Render prints the tools that can be called now in a form for models: `tools` of a request of OpenAI's Chat Completions\n" +
			"(openai) or Responses API (openai-responses), of Anthropic's Messages API (anthropic) or of the Gemini API (gemini), the\n" +
			"result of tools/list of the Model Context Protocol (mcp), or Markdown for a prompt (markdown). A tool that an API\n" +
			"would refuse is omitted, and standard error gives the reason.",
		Example: "  toolhost tools render --format anthropic --tag files",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query, err := chosen.query()
			if err != nil {
				return err
			}
			if format == "" {
				return cli.Usage("--format is missing; use %s", strings.Join(toolFormats, ", "))
			}
			return conn.WithAny(func(c *client.Client) error {
				rendered, err := c.RenderTools(cmd.Context(), tool.Format(format), query)
				if err != nil {
					return err
				}
				out := p.Data()
				if tool.Format(format) != tool.FormatMarkdown {
					out = cli.NewJSONWriter(p.Stdout)
				}
				for _, o := range rendered.Omitted {
					if _, err := fmt.Fprintln(p.Stderr, cli.OneLine("omitted "+o.Name+": "+o.Reason)); err != nil {
						return err
					}
				}
				_, err = fmt.Fprintf(out, "%s\n", bytes.TrimSuffix(rendered.Content, []byte("\n")))
				return err
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	chosen.addFlags(cmd, "all")
	cmd.Flags().Var(&format, "format", "the form: "+strings.Join(toolFormats, ", "))
	if err := cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(toolFormats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist, or has a completion already
	}
	return cmd
}
