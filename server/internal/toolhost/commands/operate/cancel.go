package operate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewCancelCommand returns the command `cancel`.
func NewCancelCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var key tool.CallKey
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel CALL-ID",
		Short: "Stop a call by its id",
		Long: "Cancel asks one of your calls to stop, also if another client made it, and does not wait for its end: `toolhost watch` shows\n" +
			"how it ended. A tool that does not stop within a few seconds loses its process. A call that has ended stays as it is.",
		Example: "  toolhost cancel run-1.turn-2.0 --reason 'wrong folder'",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key.ID = args[0]
			return conn.ChangeAny(func(c *client.Client) error {
				ended := endOf(cmd.Context(), c, key)
				if err := c.CancelCall(cmd.Context(), key, reason); err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, cancelView{CallID: key.ID, Ended: ended})
				}
				words := "was told to stop"
				if ended != "" {
					words = "had ended already (" + string(ended) + ")"
				}
				_, err := fmt.Fprintf(p.Out(), "%s %s\n", key.ID, words)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&key.Session, "session", "", "the `SESSION` that the call belongs to")
	f.StringVar(&reason, "reason", "", "the reason, which clients that follow the call see, as `TEXT`")
	conn.AddFlag(f)
	format.AddFlag(f)
	return cmd
}

// cancelView is the answer to a cancel request, as -o json prints it.
type cancelView struct {
	CallID string `json:"call_id"`
	// how the call had ended before the request; empty if it was running
	Ended tool.CallState `json:"ended,omitempty"`
}

// endOf returns how a call has ended. It returns "" for a call that runs or that toolhost does not
// know.
func endOf(ctx context.Context, c *client.Client, key tool.CallKey) tool.CallState {
	page, err := c.Admin().Calls(ctx, tool.CallQuery{CallID: key.ID, Session: key.Session})
	if err != nil {
		return "" // the cancel request reports the reason
	}
	for _, r := range page.Calls {
		if r.Session == key.Session && r.State != tool.CallRunning {
			return r.State
		}
	}
	return ""
}
